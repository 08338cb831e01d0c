"""Files and folders that appear under their name complete, or not at all.

A pending file is written under a temporary name in the same folder and renamed when it is whole.
Beside it stands a lock file, locked with ``flock`` as long as its writer lives; the system drops the
lock even when the writer is killed.  The next writer of the same name can therefore tell the
temporaries of a dead run, which it removes, from those of a living one, which it leaves alone.
"""

import errno
import os
import secrets
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system: no locks, so no temporary is ever taken for stale
    fcntl = None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
    removed = []
    if fcntl is None:
        return removed
    for lock in sorted(path.parent.glob(f".{_quoted(path.name)}.*.lock")):
        handle = _acquire(lock)
        if handle is None:
            continue
        try:
            for part in sorted(lock.parent.glob(_quoted(lock.stem) + "*.part")):
                _remove(part)
                removed.append(part)
            lock.unlink(missing_ok=True)
        finally:
            os.close(handle)
    return removed


def _quoted(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


class Pending:
    """A file (or folder) that will be called ``path``.

    ``part`` is the temporary path to write to; ``commit()`` renames it to ``path`` (replacing a file
    of that name), ``discard()`` removes it.  As a context manager it discards unless committed.
    ``stale`` lists what earlier killed writers had left and this one removed.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.stale = remove_stale(self.path)
        token = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.lock = self.path.with_name(f".{self.path.name}.{token}.lock")
        self.part = self.lock.with_suffix(".part")
        self._handle = self._locked()

    def _locked(self) -> int:
        while True:
            handle = os.open(self.lock, os.O_RDWR | os.O_CREAT, 0o666)
            if fcntl is None:
                return handle
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Between creating and locking, another writer may have taken the file for stale.
                if os.stat(self.lock).st_ino == os.fstat(handle).st_ino:
                    return handle
            except FileNotFoundError:
                pass
            except OSError:  # a filesystem without locks
                return handle
            os.close(handle)

    def commit(self, durable: bool = False) -> None:
        """Give the temporary its name; with ``durable`` the folder entry is synced as well."""
        if self.part.is_dir() and self.path.is_dir():
            # A folder cannot replace a folder in one step: the old one moves aside first.
            old = self.part.with_suffix(".old.part")
            os.rename(self.path, old)
            os.rename(self.part, self.path)
            _remove(old)
        else:
            os.replace(self.part, self.path)
        if durable:
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        self._release()

    def discard(self) -> None:
        """Remove the temporary and its lock; harmless after ``commit``."""
        if self._handle is not None:
            _remove(self.part)
            self._release()

    def _release(self) -> None:
        self.lock.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = None

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
        self._finalizer = weakref.finalize(self, self._pending.discard)

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


@contextmanager
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
