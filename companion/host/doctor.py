"""What this machine offers and what it lacks, each with a remedy, and whether a run fits into it.  Imports no kernel.

A kernel says in ``footprint`` what one problem takes; here that becomes what a whole run takes, and what an
interpreter takes itself, compared with what this process may use before anything is started.
"""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from companion.common import plural
from companion.host import machine

_LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
_COMPILERS = ("cc", "gcc", "clang")
#: What the quick presets and the test run need, of memory and of disk, with room to spare.
_ROOM = 2 * 2**30
#: Most ranks (times their threads) for each usable CPU, unless more are asked for in so many words.
_A_CPU = 4
#: Bytes that only one rank uses once its kernels are loaded: 140 to 210 MiB were measured (Linux, Python 3.11).
_RANK_BYTES = 256 * 2**20
#: Most ranks that anybody may ask for: what the scale model is drawn to (``kernels.mpi.world``).
MOST_RANKS = 100_000


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
        _, folder = temporary()
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


def temporary() -> tuple[str, str]:
    """What names the folder for temporary files (a variable of the environment, or ``"default"``), and the folder.

    ``OSError`` where the folder that was named takes no files: Python would choose another, unasked, and measure a file
    system that nobody named.
    """
    source = next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), "default")
    asked, chosen = os.environ.get(source), tempfile.gettempdir()
    if asked is not None and os.path.realpath(asked) != os.path.realpath(chosen):
        raise OSError(f"{source} = {asked!r} takes no files; name a folder that can be written and has room")
    return source, chosen


def require_cases(what: str, cases: Iterable[Any]) -> None:
    """Refuse what one process cannot do: the largest of the cases, since they can be measured one by one.

    ``MemoryError`` or ``OSError`` where memory or disk do not suffice; the message names the case.
    """
    for case in cases:
        need, named = case.kernel.footprint(case.problem), f"{what}, {case.label},"
        machine.require_memory(need.memory_of(case.threads), named)
        if need.disk:
            machine.require_disk(_folder(case), need.disk, named)


def require_ranks(ranks: int, threads: int = 1, cases: Iterable[Any] = (), oversubscribe: bool = False) -> None:
    """Refuse ranks, of so many threads each, that this machine cannot hold.

    What they measure, ``cases``, is in memory, and its files on the disk, at once.  ``oversubscribe``: more than four a
    CPU are wanted. ``ValueError``: more than four a CPU. ``MemoryError`` or ``OSError`` where memory or disk do not
    suffice.
    """
    memory, disks = _total(cases)
    most, what = max(1, _A_CPU * machine.usable_cpus() // threads), f"a job of {plural(ranks, 'rank')}"
    if ranks > most and not oversubscribe:
        raise ValueError(
            f"ranks = {ranks} exceeds {most}, {_A_CPU} threads on each of the {machine.usable_cpus()} usable CPUs; "
            "ask for fewer, or say --oversubscribe (oversubscribe=True) if times do not matter"
        )
    machine.require_memory(ranks * _RANK_BYTES + memory, what, remedy="ask for fewer ranks or a smaller problem")
    for folder, disk in disks.items():
        machine.require_disk(folder, disk, what)


def require_share(cases: Iterable[Any], ranks: int, here: int) -> None:
    """``MemoryError`` if ``here`` of a job's ``ranks``, which run on this host, cannot hold their part of the cases.

    The cases of a job are all in memory at once.
    """
    machine.require_memory(_total(cases)[0] * here // ranks, f"the part of {plural(here, 'rank')} on one host")


def _total(cases: Iterable[Any]) -> tuple[int, dict[str, int]]:
    """Bytes of memory, and of disk by folder, of all cases together; those of one problem share a state."""
    memory: dict[Any, int] = {}
    files: dict[Any, tuple[str, int]] = {}
    for case in cases:
        key, need = (id(case.kernel), repr(case.problem)), case.kernel.footprint(case.problem)
        memory[key] = max(memory.get(key, 0), need.memory_of(case.threads))
        files[key] = _folder(case), need.disk
    disks = {folder: sum(disk for place, disk in files.values() if place == folder) for folder, _ in files.values()}
    return sum(memory.values()), {folder: disk for folder, disk in disks.items() if disk}


def _folder(case: Any) -> str:
    """Where the files of a case lie."""
    return str(getattr(case.problem, "folder", None) or tempfile.gettempdir())
