"""A system without Linux's own calls, as macOS is, and a processor of another make.

Nothing here runs on either, so what can be taken away is: the calls that only Linux has, ``/proc``, ``/sys``, direct
input and output, the binding of threads.  What needs them must be absent with its reason; the rest runs.  That
compiled code means something to AArch64 is asked of LLVM, which translates it without running it
(``test_portable.py``).
"""

import json

import pytest
from interpreter import said
from kernels_found import COMPLAINTS

#: Takes away what macOS does not have, once the libraries are loaded that were built for this system.
WITHOUT = """
import builtins, errno, io, json, mmap, os, platform, sys, tempfile
import numba, scipy.fft, scipy.linalg, psutil, xarray, pandas, netCDF4, multiprocessing.shared_memory, subprocess
import cpuinfo, concurrent.futures, threadpoolctl

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "tests")]
for name in ("O_DIRECT", "sched_setaffinity", "sched_getaffinity", "posix_fallocate", "posix_fadvise", "preadv",
             "pwritev", "copy_file_range", "sendfile", "POSIX_FADV_DONTNEED", "fdatasync", "memfd_create", "getrandom"):
    if hasattr(os, name):
        delattr(os, name)
for name in [name for name in dir(mmap) if name.startswith("MADV_")]:
    delattr(mmap, name)
sys.platform = "darwin"
platform.system = lambda: "Darwin"
platform.release = lambda: "23.0.0"

def absent(path):
    try:
        return os.fspath(path).startswith(("/proc", "/sys"))
    except TypeError:
        return False

def guarded(call):
    def wrapper(path, *arguments, **options):
        if absent(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        return call(path, *arguments, **options)
    return wrapper

for module, name in ((builtins, "open"), (io, "open"), (os, "open"), (os, "stat"), (os, "lstat"), (os, "listdir"),
                     (os, "scandir"), (os, "readlink"), (os, "access")):
    setattr(module, name, guarded(getattr(module, name)))
"""
ACCEPT = (
    WITHOUT
    + """
from companion import experiments
from companion.host import doctor, machine

found = {"doctor": [[one.name, bool(one.ok), one.detail] for one in doctor.examine()]}
found["machine"] = machine.describe()
found["register"] = {}
for id in experiments.REGISTER:
    try:
        experiments.accept(id, preset=experiments.REGISTER[id].presets[0])
        found["register"][id] = ""
    except Exception as refusal:
        found["register"][id] = f"{type(refusal).__name__}: {refusal}"
found["said"] = {}
for action in sys.argv[1:]:
    try:
        exec(action)
    except (OSError, ValueError) as refusal:
        found["said"][action] = str(refusal)
print(json.dumps(found, default=str))
"""
)
RUN = WITHOUT + COMPLAINTS
#: What may be asked for all the same, and words of the refusal.
REFUSED = {
    "from kernels.runtime.threads import bind; bind(0)": "binding threads to CPUs is not offered by this system",
    "from kernels import jobs; jobs.setup(jobs.Problem(binding='one each'))": "binds no process to a CPU",
    "from kernels.files.filesystem import require_direct; require_direct('.')": "no O_DIRECT",
    "from kernels.jobs.workers import Worker; Worker().close(); raise ValueError('closed')": "closed",
}
#: Kernels that ask the system for something: files, places of threads, pages, messages between processes.
ASKING = (
    *("kernels.files.application", "kernels.files.groups", "kernels.files.storm", "kernels.files.stripes"),
    *("kernels.files.nodes", "kernels.files.messages", "kernels.files.conversion", "kernels.memory.stride"),
    *("kernels.memory.latency", "kernels.memory.stream", "kernels.gridpoint"),
    "kernels.analysis",
)


def test_what_a_system_lacks_is_absent_with_its_reason_and_refused_in_a_sentence():
    found = json.loads(said(ACCEPT, *REFUSED))
    assert found["machine"]["system"]["os"] == "Darwin"
    refused = {id: sentence for id, sentence in found["register"].items() if sentence}
    assert all(sentence.startswith("Unavailable: ") and "\n" not in sentence for sentence in refused.values()), refused
    assert any("this system has no O_DIRECT" in detail for _, ok, detail in found["doctor"] if not ok)
    assert any("CPU binding: this system cannot bind threads" in sentence for sentence in refused.values())
    assert len(refused) < len(found["register"]) / 2
    unanswered = [one for one in found["doctor"] if not one[2] or "\n" in one[2] or "Error" in one[2]]
    assert unanswered == []
    assert found["said"].keys() == REFUSED.keys()
    assert [found["said"][action] for action, words in REFUSED.items() if words not in found["said"][action]] == []


@pytest.mark.weekly
@pytest.mark.parametrize("name", ASKING)
def test_kernels_run_without_what_only_linux_has(name):
    assert said(RUN, name).splitlines()[-1] == f"{name} []"
