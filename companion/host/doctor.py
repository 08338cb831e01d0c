"""What this machine offers and what it lacks, each with a remedy.  Imports no kernel."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from companion.host import limits, machine

_LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
_COMPILERS = ("cc", "gcc", "clang")
#: What the quick presets and the test run need, of memory and of disk, with room to spare.
_ROOM = 2 * 2**30


class Unavailable(RuntimeError):
    """The machine lacks what the experiment needs; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at.  ``remedy`` is empty where nothing can be done or nothing is missing."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    required: bool = False


def refuse_windows() -> None:
    """``ValueError`` where nothing is measured: Windows lacks calls by which files, ranks and threads are."""
    if sys.platform == "win32":
        raise ValueError("Windows itself is not measured; run this in WSL, the Windows Subsystem for Linux")


def packages(lock: Path = _LOCK) -> Finding:
    """Python, and installed versions against the lock, of the packages that the project itself names."""
    pinned = re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.M) if lock.is_file() else []
    requirements = importlib.metadata.requires("supercomputers-rerun") or []
    named = [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in requirements if "extra ==" not in text]
    locked = {name: [version for other, version in pinned if other == name] for name in named}
    wrong = [
        f"{name} {machine.version(name) or 'is missing'} (lock: {' or '.join(versions)})"
        for name, versions in locked.items()
        if versions and machine.version(name) not in versions
    ]
    detail = "; ".join(wrong) or f"{len(named)} packages as in the lock, for Python {platform.python_version()}"
    return Finding("packages", not wrong, detail, "run make clean, then make test", required=True)


def cpus() -> Finding:
    """What the affinity mask and the control group leave."""
    quota = machine.cpu_quota()
    limit = "no quota" if quota is None else f"quota of {quota:g} CPUs"
    return Finding("CPUs", True, f"{machine.usable_cpus()} usable of {os.cpu_count()}, {limit}")


def memory() -> Finding:
    """Memory that can be allocated."""
    free, remedy = machine.available_memory(), f"free at least {_ROOM / 2**30:.0f} GiB"
    return Finding("memory", free >= _ROOM, f"{free / 2**30:.1f} GiB available", remedy, required=True)


def scratch() -> Finding:
    """The folder for temporary files: writable, with room, and on which kind of filesystem."""
    name, remedy = "temporary folder", f"set TMPDIR to a folder with {_ROOM / 2**30:.0f} GiB free"
    try:
        _, folder = limits.temporary()
    except OSError as error:
        return Finding(name, False, str(error), remedy, required=True)
    free, kind = shutil.disk_usage(folder).free, machine.filesystem(folder) or "unknown filesystem"
    note = ", which is memory and no disk" if kind in ("tmpfs", "ramfs") else ""
    return Finding(name, free >= _ROOM, f"{free / 2**30:.1f} GiB free on {kind}{note}", remedy, required=True)


def affinity() -> Finding:
    """Whether threads can be bound to CPUs."""
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except (AttributeError, OSError):  # another system; a sandbox that refuses the call
        return Finding("CPU binding", False, "this system cannot bind threads")
    return Finding("CPU binding", True, "threads can be bound")


def smt() -> Finding:
    """Two threads of one core, both open to this process."""
    ours = set(machine.affinity_cpus())
    shared = [group for group in machine.smt_siblings() or () if len(ours & set(group)) > 1]
    found = f"{len(shared)} core(s) with two or more usable threads" if shared else "no core shows two usable threads"
    remedy = "switch SMT on in the firmware, or leave both threads of a core in the affinity mask"
    return Finding("SMT", bool(shared), found, remedy)


def o_direct(folder=None) -> Finding:
    """Whether files in ``folder`` (default: the temporary folder) can bypass the page cache."""
    try:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            os.close(os.open(f"{place}/probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except (OSError, AttributeError) as error:  # AttributeError: systems that do not have it
        remedy = "set TMPDIR to a folder on a disk's filesystem (ext4, xfs)"
        return Finding("O_DIRECT", False, getattr(error, "strerror", None) or "this system does not have it", remedy)
    return Finding("O_DIRECT", True, f"works on {machine.filesystem(folder or tempfile.gettempdir())}")


def compiler() -> Finding:
    """A C compiler, for programs of peers."""
    found = next((name for name in (os.environ.get("CC"), *_COMPILERS) if name and shutil.which(name)), None)
    detail = f"{found} found" if found else f"none of {', '.join(_COMPILERS)} is on the path"
    return Finding("a C compiler", found is not None, detail, "install gcc or clang, or name one in CC")


def mpi() -> Finding:
    """mpi4py and a launcher: beside this interpreter (a wheel) or on the path (the system's).

    ``RERUN_WITHOUT_MPI`` in the environment hides both, so that a page can be seen as a machine without MPI makes it.
    """
    launcher = shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
    missing = [] if importlib.util.find_spec("mpi4py") else ["mpi4py is not installed"]
    missing += [] if launcher else ["no mpiexec was found"]
    missing = ["RERUN_WITHOUT_MPI hides it"] if os.environ.get("RERUN_WITHOUT_MPI") else missing
    detail = " and ".join(missing) or "mpi4py and mpiexec found"
    return Finding("MPI", not missing, detail, "install mpi4py and an MPI such as mpich")


def load() -> Finding:
    """Load average of the last minute: a busy machine spoils timings, it does not forbid them."""
    busy, remedy = psutil.getloadavg()[0], "wait until other work has ended before timing"
    return Finding("load", busy <= machine.usable_cpus(), f"{busy:.2f} over the last minute", remedy)


#: Every check, in the order of the report.
CHECKS: tuple[Callable[[], Finding], ...] = (
    *(packages, cpus, memory, scratch, affinity, smt, o_direct, compiler, mpi, load),
)
#: What an experiment may need, by the word it uses in ``needs``.
NEEDS: dict[str, Callable[[], Finding]] = {"affinity": affinity, "mpi": mpi}


def examine() -> list[Finding]:
    """Every check, in order."""
    return [check() for check in CHECKS]


def report(findings: list[Finding]) -> str:
    """One line per finding; what is missing is followed by its remedy."""
    lines = []
    for finding in findings:
        state = "ok" if finding.ok else ("MISSING" if finding.required else "absent")
        lines.append(f"{state:8s}{finding.name}: {finding.detail}")
        if not finding.ok and finding.remedy:
            lines.append(f"{'':8s}  → {finding.remedy}")
    return "\n".join(lines)
