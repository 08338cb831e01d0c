"""Kernels and commands on a system without POSIX's own calls, as Windows is.

Nothing here runs on it, so what can be taken away is: calls of ``os``, the modules ``resource``, ``fcntl`` and ``pwd``,
and a library without a name.  Paths and processes stay those of this system, so this says less than a run there would.
"""

import pytest
from interpreter import said
from kernels_found import COMPLAINTS

WITHOUT = """
import ctypes, os, sys
import numba, scipy.fft, scipy.linalg, psutil, xarray, pandas, subprocess, multiprocessing.shared_memory
import cpuinfo, concurrent.futures, tempfile, shutil, astropy.io.fits

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "tests")]
there = shutil.disk_usage(os.getcwd())
shutil.disk_usage = lambda path: there  # on Windows it asks no statvfs
for name in ("fchmod", "pread", "pwrite", "preadv", "pwritev", "posix_fallocate", "posix_fadvise", "O_DIRECT",
             "sched_setaffinity", "sched_getaffinity", "getuid", "geteuid", "sysconf", "mkfifo", "O_NONBLOCK",
             "O_NOCTTY", "O_CLOEXEC", "O_NOFOLLOW", "getloadavg", "statvfs", "fdatasync", "memfd_create",
             "copy_file_range", "killpg", "getpgid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None

class Named(ctypes.CDLL):
    def __init__(self, name, *arguments, **options):
        if name is None:
            raise TypeError("bad argument type for built-in operation")
        super().__init__(name, *arguments, **options)

ctypes.CDLL = Named
"""
RUN = WITHOUT + COMPLAINTS
TABLES = (
    WITHOUT
    + """
from companion import claims, tables
from companion.cli import app
from companion.records import runs

assert tables.load("xmp1982", "fig4_1").sizes and claims.check("nht1") and runs.committed("nht1-base")
app(["list"], standalone_mode=False)
app(["doctor"], standalone_mode=False)

from kernels.files import positioned

with tempfile.TemporaryFile() as file:
    handle = file.fileno()
    os.write(handle, b"0123456789")
    assert positioned.write(handle, b"ab", 4) == 2 and os.lseek(handle, 0, os.SEEK_CUR) == 10
    assert positioned.read(handle, 4, 3) == b"3ab6"
    data = bytearray(8)
    assert positioned.fill(handle, data, 6) == 4 and data == b"6789" + bytes(4)
    assert positioned.fill(handle, data, 10) == 0
    print("places are read and written")
"""
)
#: Of every family one; those of files read and write at places.
KERNELS = (
    *("kernels.memory.stride", "kernels.processor.smt", "kernels.processor.peak", "kernels.bt"),
    *("kernels.spectral", "kernels.imaging.ddt", "kernels.files.application"),
)


@pytest.mark.weekly
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_run_without_posix(name):
    assert said(RUN, name).splitlines()[-1] == f"{name} []"


def test_tables_claims_records_commands_and_places_of_a_file_work_without_posix():
    found = said(TABLES)
    assert "p5plus-latency" in found and "MISSING" not in found and found.endswith("places are read and written\n")
