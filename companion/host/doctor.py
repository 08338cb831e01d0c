"""What this machine offers and what it lacks, each with a remedy.  Imports no kernel."""

import errno
import functools
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
from typing import Any

import psutil

from companion.host import chromium, limits, machine
from kernels.files.work_folder import WorkFolder

_ROOT = Path(__file__).resolve().parents[2]
_COMPILERS = ("cc", "gcc", "clang")
#: What the quick presets and the test run need, with room to spare.
_MEMORY_BYTES, _SCRATCH_BYTES = 2 * 2**30, 2 * 2**30


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


_Answer = tuple[Any, ...]  # whether all is well, what was seen, and the remedy where there is one
#: Every check, in the order of the report.
CHECKS: list[Callable[..., Finding]] = []


def _check(name: str, required: bool = False) -> Callable[[Callable[..., _Answer]], Callable[..., Finding]]:
    """Marks a check of this name; what it answers becomes a finding."""

    def mark(function: Callable[..., _Answer]) -> Callable[..., Finding]:
        @functools.wraps(function)
        def find(*given: Any) -> Finding:
            ok, detail, *remedy = function(*given)
            return Finding(name, ok, detail, "".join(remedy), required)

        CHECKS.append(find)
        return find

    return mark


@_check("Python", required=True)
def _python_version() -> _Answer:
    found = ".".join(map(str, sys.version_info[:3]))
    return sys.version_info >= (3, 11), found, "install Python 3.11 or newer"


@_check("system")
def system() -> _Answer:
    """Windows lacks calls that files, ranks and placed threads are measured by; tables and records need none."""
    if sys.platform != "win32":
        return True, platform.system()
    detail = "Windows: nothing is measured; the rest should work, but nobody tried"
    return False, detail, "measure in WSL, the Windows Subsystem for Linux"


def refuse_windows() -> None:
    """``ValueError`` where nothing is measured."""
    if not system().ok:
        raise ValueError("Windows itself is not measured; run this in WSL, the Windows Subsystem for Linux")


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _locked(lock: Path) -> dict[str, set[str]]:
    """Package -> versions named in the lock (a marker may give several)."""
    pinned: dict[str, set[str]] = {}
    text = lock.read_text(encoding="utf-8")
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        pinned.setdefault(_canonical(name), set()).add(version)
    return pinned


@_check("packages", required=True)
def packages(lock: Path = _ROOT / "requirements.lock") -> _Answer:
    """Installed versions against the lock; only packages that the project itself names are required."""
    if not lock.is_file():
        return True, "no requirements.lock beside the code: versions are not compared"
    pinned, wrong = _locked(lock), []
    try:
        requirements = importlib.metadata.requires("supercomputers-rerun") or []
    except importlib.metadata.PackageNotFoundError:
        return False, "the project is not installed here", "run make test"
    named = (re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in requirements if "extra ==" not in text)
    wanted = set(map(_canonical, named))
    for name in sorted(wanted):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{name} is missing")
            continue
        if name in pinned and version not in pinned[name]:
            wrong.append(f"{name} {version} instead of {' or '.join(sorted(pinned[name]))}")
    detail = "; ".join(wrong) or f"{len(wanted)} packages as in the lock"
    return not wrong, detail, "run make clean, then make test"


@_check("CPUs")
def _cpus() -> _Answer:
    quota, most = machine.cpu_quota(), machine.usable_cpus()
    limit = "no quota" if quota is None else f"quota of {quota:g} CPUs"
    return True, f"{most} usable of {os.cpu_count()}, {limit}"


@_check("memory", required=True)
def memory() -> _Answer:
    free = machine.available_memory()
    if free is None:
        return True, "the system does not say how much is available"
    remedy = f"free at least {_MEMORY_BYTES / 2**30:.0f} GiB"
    return free >= _MEMORY_BYTES, f"{free / 2**30:.1f} GiB available", remedy


@_check("temporary folder", required=True)
def scratch() -> _Answer:
    """The folder for temporary files: writable, with room, and on which kind of filesystem."""
    try:
        _, folder = limits.temporary()
        free = shutil.disk_usage(folder).free
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        detail = f"cannot be written ({error.strerror})" if error.strerror else str(error).partition(";")[0]
        return False, detail, "set TMPDIR to a writable folder"
    kind = machine.filesystem(folder) or "unknown filesystem"
    note = ", which is memory and no disk" if kind in ("tmpfs", "ramfs") else ""
    remedy = f"set TMPDIR to a folder with {_SCRATCH_BYTES / 2**30:.0f} GiB free"
    return free >= _SCRATCH_BYTES, f"{free / 2**30:.1f} GiB free on {kind}{note}", remedy


@_check("CPU binding")
def affinity() -> _Answer:
    ok = hasattr(os, "sched_setaffinity")
    return ok, "threads can be bound" if ok else "this system cannot bind threads"


@_check("SMT")
def smt() -> _Answer:
    """Two threads of one core, both open to this process."""
    siblings = machine.smt_siblings()
    if siblings is None:
        return False, "the system does not say which CPUs share a core"
    ours = set(machine.affinity_cpus())
    shared = [group for group in siblings if len(ours & set(group)) > 1]
    if shared:
        return True, f"{len(shared)} core(s) with two or more usable threads"
    if any(len(group) > 1 for group in siblings):
        remedy = "run with both threads of a core in the affinity mask"
        return False, "the siblings lie outside this process's affinity", remedy
    return False, "every core shows one thread", "switch SMT on in the firmware, if the CPU has it"


@_check("huge pages")
def _page_policy() -> _Answer:
    policy = machine.describe()["memory"]["transparent_huge_pages"]
    remedy = "the huge-page variants need transparent_hugepage=madvise or always"
    return policy not in (None, "never"), f"transparent: {policy or 'unknown'}", remedy


@_check("O_DIRECT")
def o_direct(folder=None) -> _Answer:
    """Whether files in ``folder`` (default: the temporary folder) can bypass the page cache."""
    remedy = "set TMPDIR to a folder on a disk's filesystem (ext4, xfs)"
    if not hasattr(os, "O_DIRECT"):
        return False, "this system has no O_DIRECT"
    try:
        folder = tempfile.gettempdir() if folder is None else folder
        probe = WorkFolder(folder, "direct-probe")
    except OSError as error:
        return False, f"no file can be made to try it on ({os.strerror(error.errno or 0)})", remedy
    try:
        os.close(os.open(probe.path / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError as error:
        reason = "refused" if error.errno == errno.EINVAL else error.strerror
        return False, f"{reason} on {machine.filesystem(folder)}", remedy
    finally:
        probe.close()
    return True, f"works on {machine.filesystem(folder)}"


def _program(found: str | None, missing: str, remedy: str) -> _Answer:
    return (True, f"{Path(found).name} found") if found else (False, missing, remedy)


@_check("a C compiler")
def compiler() -> _Answer:
    found = next((name for name in (os.environ.get("CC"), *_COMPILERS) if name and shutil.which(name)), None)
    missing = f"none of {', '.join(_COMPILERS)} is on the path"
    return _program(found, missing, "install gcc or clang, or name one in CC")


@_check("MPI")
def mpi() -> _Answer:
    """mpi4py and a launcher: beside this interpreter (a wheel) or on the path (the system's).

    ``RERUN_WITHOUT_MPI`` in the environment hides both, so that a page can be seen as a machine without MPI makes it.
    """
    if os.environ.get("RERUN_WITHOUT_MPI"):
        return False, "RERUN_WITHOUT_MPI hides it", "take RERUN_WITHOUT_MPI out of the environment"
    launcher = shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
    missing = [] if importlib.util.find_spec("mpi4py") else ["mpi4py is not installed"]
    missing += [] if launcher else ["no mpiexec was found"]
    if missing:
        return False, " and ".join(missing), "install mpi4py and an MPI such as mpich"
    return True, "mpi4py and mpiexec found"


@_check("browser")
def browser() -> _Answer:
    remedy = "install Chromium (Debian package chromium) to test the book's pages"
    return _program(chromium.executable(), "no Chromium was found", remedy)


@_check("load")
def load() -> _Answer:
    """Load average of the last minute: a busy machine spoils timings, it does not forbid them."""
    try:
        busy = psutil.getloadavg()[0]
    except OSError:
        return True, "the system does not say"
    remedy = "wait until other work has ended before timing"
    return busy <= machine.usable_cpus(), f"{busy:.2f} over the last minute", remedy


#: What an experiment may need, by the word it uses in ``needs``.
NEEDS: dict[str, Callable[[], Finding]] = {
    "affinity": affinity,
    "compiler": compiler,
    "mpi": mpi,
    "o_direct": o_direct,
    "smt": smt,
}


def examine() -> list[Finding]:
    """Every check, in order; one that the system does not let look is missing, and the rest go on."""
    return [_examined(check) for check in CHECKS]


def _examined(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # whatever a strange system makes of a question, the others are still asked
        reason = " ".join(str(error).split()) or type(error).__name__
        return Finding(check.__name__.replace("_", " "), False, f"cannot be found out ({reason})")


def report(findings: list[Finding]) -> str:
    """One line per finding; what is missing is followed by its remedy."""
    lines = []
    for finding in findings:
        state = "ok" if finding.ok else ("MISSING" if finding.required else "absent")
        lines.append(f"{state:8s}{finding.name}: {finding.detail}")
        if not finding.ok and finding.remedy:
            lines.append(f"{'':8s}  → {finding.remedy}")
    return "\n".join(lines)
