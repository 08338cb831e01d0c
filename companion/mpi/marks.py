"""What a job leaves outside its folder if it is killed, its shared memory, and how that goes.

A mark is a folder in the place where segments of shared memory lie.  Its lock is held as long as the launcher lives and
dropped by the system however it ends, so that ranks know when they are alone (``kernels.mpi.world``) and the next
launcher finds what a killed one left.

Open MPI is told to make its segments in the mark.  MPICH makes its own beside it, and names it after mpiexec: its
process, the second in which it began, and the host.  ``kvs_PID_0_R_HOST``, with R the first random number of the C
library for that second, gives the name by the hash FNV-1a of 32 bits.  So it is in MPICH 5.0; names that another
version does not use meet no file.
"""

import ctypes
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import tempfile
import time
from pathlib import Path

from kernels.runtime.interrupts import Deferred

SHARED = Path("/dev/shm")
_SIGNED = re.compile(r"^([0-9]{1,10}) ([0-9]{1,10}) (\S{1,255})$", re.MULTILINE)
#: Seconds after its start in which mpiexec draws the number.
_SECONDS = 3


def _hash(text: str) -> int:
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value


def segments(process: int, second: int, host: str) -> list[str]:
    """Names of the segments that ranks of MPICH make whose mpiexec is ``process`` and began at ``second``."""
    if sys.platform != "linux":
        return []
    library, found = ctypes.CDLL(None), []
    for seed in range(second, second + _SECONDS):
        library.srand(ctypes.c_uint(seed))
        space = _hash(f"kvs_{process}_0_{library.rand()}_{host}")
        found += [f"mpich_shm_{space:x}_0", f"mpich_vci_{space:x}_0"]
    return found


def _ours(path: Path, kind) -> bool:
    """Whether ``path`` is of that kind, and this user's."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return kind(found.st_mode) and found.st_uid == os.getuid()


def _remove(folder: Path) -> None:
    """The segments that a mark names, and the mark."""
    try:
        text = (folder / "lock").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for process, second, host in _SIGNED.findall(text):
        for name in segments(int(process), int(second), host):
            if _ours(SHARED / name, stat.S_ISREG):
                (SHARED / name).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _locked(lock: Path, flags: int = 0) -> int | None:
    """Descriptor of ``lock`` if nobody holds it and it is still the file of that name."""
    import fcntl  # where there is none, no job is started

    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
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


def clear(place: Path) -> list[Path]:
    """Remove the marks of launchers that were killed, and what they name; returns the marks."""
    gone = []
    for folder in sorted(place.glob(f"rerun-mpi-{os.getuid()}-*")):
        if not _ours(folder, stat.S_ISDIR):
            continue
        with Deferred():
            handle = _locked(folder / "lock")
            if handle is not None:
                _remove(folder)
                os.close(handle)
                gone.append(folder)
    return gone


class Mark:
    """The mark of one job, made after those of killed launchers are removed."""

    def __init__(self):
        usable = SHARED.is_dir() and os.access(SHARED, os.W_OK | os.X_OK)
        place = SHARED if usable else Path(tempfile.gettempdir())
        clear(place)
        self.host, self.handle = socket.gethostname(), None
        while self.handle is None:
            self.folder = place / f"rerun-mpi-{os.getuid()}-{os.getpid()}-{secrets.token_hex(4)}"
            self.folder.mkdir(mode=0o700)
            self.handle = _locked(self.folder / "lock", os.O_CREAT)

    @property
    def variables(self) -> dict[str, str]:
        """What tells ranks whose life they share, and Open MPI to keep its segments in the mark."""
        from kernels.mpi.world import LAUNCHER

        inside = {f"OMPI_MCA_btl_{name}_backing_directory": str(self.folder) for name in ("vader", "sm")}
        return {LAUNCHER: str(self.folder / "lock"), **inside}

    def sign(self) -> None:
        """In the process that becomes mpiexec: write down what the names of its segments come from."""
        os.write(self.handle, f"{os.getpid()} {int(time.time())} {self.host}\n".encode())

    def remove(self) -> None:
        """Remove the job's shared memory, and the mark."""
        _remove(self.folder)
        os.close(self.handle)
