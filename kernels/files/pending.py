"""Files and folders that appear under their name complete, or not at all.

A pending file is written under a temporary name in the same folder and renamed when it is whole.  The temporary
carries a name that only this module makes: a mark, a digest of the host, the number and the start time of the
process that owns it, and a random part.  The next writer of the same name removes it if all of that matches, it
belongs to the same user, and its owner is dead; nothing else is ever taken for a temporary.

Ctrl-C and SIGTERM wait while a temporary is renamed or removed (:class:`Deferred`).  Every temporary
stands in a list from before it is made until after it is removed; whatever stands there goes with the object
that made it, and when the process ends.
"""

import atexit
import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import re
import secrets
import shutil
import socket
import time
import weakref
from pathlib import Path
from typing import NamedTuple

from kernels.runtime.interrupts import Deferred

_PART = ".part"
_OLD = ".old.part"
#: The name of a temporary; ranks that write together put files of their own beside it.
_TEMPORARY = re.compile(
    r"\.(?P<name>.+)\.rerun-(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]+)-(?P<started>[0-9]+)-[0-9a-f]{8}"
    r"(\.rank-[0-9]+|\.old)?\.part",
    re.DOTALL,
)
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
    try:
        rename = getattr(ctypes.CDLL(None), "renameat2", None)
    except TypeError:  # on Windows a library has a name
        return False
    return rename is not None and rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


class _Owner(NamedTuple):
    """A process, told from every other one of all hosts."""

    host: str
    pid: int
    started: int  # clock ticks after the host's start; 0 where the system does not tell

    def dead(self) -> bool:
        """Whether it has ended; of a process of another host nobody here knows."""
        if self.host != _host():
            return False
        now = _started(self.pid)
        if self.started and now is not None:
            return now != self.started
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            pass
        return False


@functools.cache
def _host() -> str:
    """Digest of the host and of the numbering of its processes, of which containers have their own."""
    known = [socket.gethostname()]
    with contextlib.suppress(OSError):
        known.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:8]


def _started(pid: int) -> int | None:
    """When a process started; 0 if it has ended and is only waited for, None if there is none or the system does not
    tell, as where ``/proc`` hides the processes of others."""
    try:
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return 0 if words[0] in (b"Z", b"X") else int(words[19])
    except (OSError, ValueError, IndexError):
        return None


@functools.lru_cache(1)
def _self(pid: int) -> _Owner:
    return _Owner(_host(), pid, _started(pid) or 0)


def _temporary(path: Path) -> Path:
    """A name for a temporary of this process, beside ``path``."""
    host, pid, started = _self(os.getpid())
    return path.with_name(f".{path.name}.rerun-{host}-{pid}-{started}-{secrets.token_hex(4)}{_PART}")


def final(part) -> Path:
    """The name that a temporary will take: the one to say to whoever asked for it."""
    match = _TEMPORARY.fullmatch(Path(part).name)
    return Path(part).with_name(match["name"]) if match else Path(part)


def remove_stale(path) -> list[Path]:
    """Remove what killed writers of ``path`` left behind; returns the temporaries removed."""
    path = Path(path)
    return _remove_stale(path.parent, path.name)


def clear(folder) -> list[Path]:
    """Remove what killed writers left behind in ``folder``, whatever they were writing; returns the temporaries."""
    return _remove_stale(Path(folder), None)


def _remove_stale(folder: Path, name: str | None) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [folder / entry.name for entry in entries if _is_stale(entry, name)]
    except OSError:
        return []
    for part in found:
        with Deferred():
            _restore(part)
            _remove(part)
    return found


def _is_stale(entry: os.DirEntry, name: str | None) -> bool:
    """Whether an entry of a folder is a temporary (of ``name``, if there is one) that its dead owner left."""
    match = _TEMPORARY.fullmatch(entry.name)
    if match is None or name not in (None, match["name"]):
        return False
    if not _Owner(match["host"], int(match["pid"]), int(match["started"])).dead():
        return False
    with contextlib.suppress(OSError):
        return not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return False


def _restore(part: Path) -> None:
    """Give a folder its name back that a killed writer had moved aside without putting the new one there."""
    match = _TEMPORARY.fullmatch(part.name)
    path = part.with_name(match["name"])
    if part.name.endswith(_OLD) and not path.exists():
        with contextlib.suppress(OSError):
            os.rename(part, path)


#: Temporaries that this process has named and not yet removed.
_CLAIMS: set[Path] = set()


def _release(part: Path) -> None:
    """Remove what is left of a temporary; harmless a second time."""
    if part in _CLAIMS:
        _removed(part)
        _CLAIMS.discard(part)


def _let_go(part: Path) -> None:
    with Deferred(ignored=True), contextlib.suppress(OSError):
        _release(part)


def _let_all_go() -> None:
    for part in list(_CLAIMS):
        _let_go(part)


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
        self.part = _temporary(self.path)
        with Deferred():
            _CLAIMS.add(self.part)
            self._last = weakref.finalize(self, _let_go, self.part)
            self._last.atexit = False

    def commit(self, durable: bool = False) -> None:
        """Give the temporary its name; with ``durable`` the folder entry is synced as well."""
        with Deferred():
            if self.part.is_dir() and self.path.is_dir():
                self._replace_folder()
            else:
                os.replace(self.part, self.path)
            if durable and os.name != "nt":  # Windows opens no folder
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
            self._released()

    def _released(self) -> None:
        """Nothing of the temporary is left, nor anything to do when this object goes: Python would drop an interrupt
        that came then."""
        _release(self.part)
        self._last.detach()

    def _replace_folder(self) -> None:
        """The folder of that name for this one; where they cannot change places in one step, it moves aside first."""
        if not _exchange(self.part, self.path):
            old = self.part.with_suffix(_OLD)
            os.rename(self.path, old)
            os.rename(self.part, self.path)
            _remove(old)

    def discard(self) -> None:
        """Remove the temporary; harmless after ``commit``."""
        with Deferred():
            self._released()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.discard()


#: Errors of a device that has no room, or of a file that may not grow.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def named(what: str, path: Path):
    """Turn an ``OSError`` of the system into one sentence about ``what`` at ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is None and str(path.name) in str(error):
            raise  # it has been said already
        remedy = "free some space there or choose another folder" if error.errno in FULL else "choose another folder"
        sentence = f"{what} {path.name} in {path.parent} failed: {os.strerror(error.errno)}; {remedy}"
        raise OSError(error.errno, sentence) from None


def write_bytes(path, data, fsync: bool = False) -> None:
    """All of ``data``, through the system's own calls: a library that closes its file quietly may lose a block."""
    with open(path, "wb", buffering=0) as file:
        data = memoryview(data)
        while data:
            data = data[file.write(data) :]
        if fsync:
            os.fsync(file.fileno())


@contextlib.contextmanager
def atomic(path):
    """A temporary name beside ``path``, which takes that name when the block ends and goes when it fails.

    Two system calls in all: it looks for nothing that others left, and stands in no list.  The next writer of that
    name that is a :class:`Pending`, or :func:`clear`, removes what a killed process left of it.
    """
    path = Path(path)
    part = _temporary(path)
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path)) if error.strerror else error from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise
