"""Files and folders that appear under their name complete, or not at all.

A pending file is written under a temporary name in the same folder and renamed when it is whole.
Beside it stands a lock file, locked with ``flock`` as long as its writer lives; the system drops the
lock even when the writer is killed.  The next writer of the same name can therefore tell the
temporaries of a dead run, which it removes, from those of a living one, which it leaves alone.

Ctrl-C and SIGTERM wait while a temporary is made, renamed or removed (:class:`Deferred`).  Every temporary
stands in a list from before it is made until after it is removed; whatever stands there goes with the object
that made it, and when the process ends.
"""

import atexit
import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import tempfile
import time
import weakref
from pathlib import Path

from kernels.runtime.interrupts import Deferred

try:
    import fcntl
except ImportError:  # not a POSIX system: no locks, so no temporary is ever taken for stale
    fcntl = None

_OLD = ".old.part"
_HERE = -100  # AT_FDCWD: names are looked up from the current folder
_PAUSES = (0, 0.01, 0.1, 0.5)  # s, before each attempt at removing
_EXCHANGE = 2  # RENAME_EXCHANGE: both names stay, what they name changes places


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _removed(path: Path) -> bool:
    """Remove ``path``, also where another thread is just putting a last file into it; whether it is gone."""
    for pause in _PAUSES:
        time.sleep(pause)
        _remove(path)
        if not os.path.lexists(path):
            return True
    return False


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step; False where the system or the filesystem cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


def _acquire(lock: Path) -> int | None:
    """Descriptor of ``lock`` if its lock was free and the file is still the one of that name."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(lock).st_ino == os.fstat(handle).st_ino:
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def remove_stale(path) -> list[Path]:
    """Remove what killed writers of ``path`` left behind; returns the temporaries removed."""
    path = Path(path)
    return _remove_stale(path.parent, _quoted(path.name))


def clear(folder) -> list[Path]:
    """Remove what killed writers left behind in ``folder``, whatever they were writing; returns the temporaries."""
    return _remove_stale(Path(folder), "*")


def _remove_stale(folder: Path, name: str) -> list[Path]:
    removed = []
    if fcntl is None:
        return removed
    for lock in sorted(folder.glob(f".{name}.*.lock")):
        with Deferred():
            handle = _acquire(lock)
            if handle is None:
                continue
            try:
                for part in sorted(lock.parent.glob(_quoted(lock.stem) + "*.part")):
                    _restore(part)
                    _remove(part)
                    removed.append(part)
                lock.unlink(missing_ok=True)
            finally:
                os.close(handle)
    return removed


def _restore(part: Path) -> None:
    """Give a folder its name back that a killed writer had moved aside without putting the new one there."""
    path = part.with_name(part.name.removesuffix(_OLD).rpartition(".")[0].removeprefix("."))
    if part.name.endswith(_OLD) and not path.exists():
        with contextlib.suppress(OSError):
            os.rename(part, path)


def _quoted(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


class _Claim:
    """The temporary and the lock of one writer, and the lock's descriptor while it is held."""

    def __init__(self, part: Path, lock: Path):
        self.part, self.lock = part, lock
        self.handle: int | None = None

    def hold(self) -> None:
        """Make the lock file and lock it."""
        while True:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o666)
            if fcntl is None:
                break
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Between creating and locking, another writer may have taken the file for stale.
                if os.stat(self.lock).st_ino == os.fstat(handle).st_ino:
                    break
            except FileNotFoundError:
                pass
            except OSError:  # a filesystem without locks
                break
            os.close(handle)
        self.handle = handle

    def release(self) -> None:
        """Remove what is left of the temporary, then the lock; harmless a second time.

        The lock file stays, without a lock, where the temporary does: the next writer of that name tries again.
        """
        if self in _CLAIMS:
            if _removed(self.part):
                self.lock.unlink(missing_ok=True)
            if self.handle is not None:
                os.close(self.handle)
                self.handle = None
            _CLAIMS.discard(self)


#: What this process has made and not yet removed.
_CLAIMS: set[_Claim] = set()


def _let_go(claim: _Claim) -> None:
    with Deferred(ignored=True), contextlib.suppress(OSError):
        claim.release()


def _let_all_go() -> None:
    for claim in list(_CLAIMS):
        _let_go(claim)


atexit.register(_let_all_go)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CLAIMS.clear)  # they are the parent's


class Pending:
    """A file (or folder) that will be called ``path``.

    ``part`` is the temporary path to write to; ``commit()`` renames it to ``path`` (replacing a file
    of that name), ``discard()`` removes it.  As a context manager it discards unless committed; without one,
    the temporary goes with the object.  ``stale`` lists what earlier killed writers had left and this one removed.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.stale = remove_stale(self.path)
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.lock = self.path.with_name(f".{self.path.name}.{token}.lock")
        self.part = self.lock.with_suffix(".part")
        with Deferred():
            self._claim = _Claim(self.part, self.lock)
            _CLAIMS.add(self._claim)
            weakref.finalize(self, _let_go, self._claim).atexit = False
            try:
                self._claim.hold()
            except OSError:
                self._claim.release()
                raise

    def commit(self, durable: bool = False) -> None:
        """Give the temporary its name; with ``durable`` the folder entry is synced as well."""
        with Deferred():
            if self.part.is_dir() and self.path.is_dir():
                self._replace_folder()
            else:
                os.replace(self.part, self.path)
            if durable:
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
            self._claim.release()

    def _replace_folder(self) -> None:
        """The folder of that name for this one; where they cannot change places in one step, it moves aside first."""
        if not _exchange(self.part, self.path):
            old = self.part.with_suffix(_OLD)
            os.rename(self.path, old)
            os.rename(self.part, self.path)
            _remove(old)

    def discard(self) -> None:
        """Remove the temporary and its lock; harmless after ``commit``."""
        with Deferred():
            self._claim.release()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.discard()


class WorkFolder:
    """A folder for the files of one measurement, removed with this object.

    Made inside ``base`` (default: the system's folder for temporary files) as a pending file that is
    never committed, so that the next measurement also clears what a killed one left.
    """

    def __init__(self, base, name: str):
        base = Path(tempfile.gettempdir() if base is None else base)
        if not base.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"the folder {base} does not exist; make it or choose another")
        try:
            self._pending = Pending(base / name)
            self.path = self._pending.part
            self.path.mkdir()
        except OSError as error:
            raise type(error)(
                error.errno,
                f"the folder {base} cannot take files "
                f"({os.strerror(error.errno)}); choose a folder that can be written",
            ) from None

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._pending.discard()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def write_bytes(path, data, fsync: bool = False) -> None:
    """All of ``data``, through the system's own calls: a library that closes its file quietly may lose a block."""
    with open(path, "wb", buffering=0) as file:
        data = memoryview(data)
        while data:
            data = data[file.write(data) :]
        if fsync:
            os.fsync(file.fileno())


@contextlib.contextmanager
def whole(path):
    """A temporary name beside ``path``, which takes that name when the block ends and goes when it fails.

    Without a lock, two system calls in all: for files that no other process writes, in a folder that is pending
    itself or that the next run clears.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
