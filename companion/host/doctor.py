"""What this machine offers and what it lacks, each with a remedy.  Imports no kernel."""

import errno
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

from companion.host import chromium, limits, machine
from kernels.files.pending import WorkFolder

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


def python_version() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", sys.version_info >= (3, 11), found, "install Python 3.11 or newer", True)


def _locked(lock: Path) -> dict[str, set[str]]:
    """Package -> versions named in the lock (a marker may give several)."""
    pinned: dict[str, set[str]] = {}
    text = lock.read_text(encoding="utf-8")
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        pinned.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    return pinned


def packages(lock: Path | None = None) -> Finding:
    """Installed versions against the lock; only packages that the project itself names are required."""
    lock = _ROOT / "requirements.lock" if lock is None else lock
    if not lock.is_file():
        return Finding("packages", True, "no requirements.lock beside the code: versions are not compared")
    pinned, wanted, wrong = _locked(lock), set(), []
    try:
        requirements = importlib.metadata.requires("supercomputers-rerun") or []
    except importlib.metadata.PackageNotFoundError:
        return Finding("packages", False, "the project is not installed here", "run make test", True)
    for text in requirements:
        if "extra ==" not in text:
            name = re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]
            wanted.add(re.sub(r"[-_.]+", "-", name).lower())
    for name in sorted(wanted):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{name} is missing")
            continue
        if name in pinned and version not in pinned[name]:
            wrong.append(f"{name} {version} instead of {' or '.join(sorted(pinned[name]))}")
    detail = "; ".join(wrong) or f"{len(wanted)} packages as in the lock"
    return Finding("packages", not wrong, detail, "run make clean, then make test", True)


def system() -> Finding:
    """Windows lacks calls that files, ranks and placed threads are measured by; tables and records need none."""
    ok = sys.platform != "win32"
    detail = platform.system() if ok else "Windows: nothing is measured; the rest should work, but nobody tried"
    return Finding("system", ok, detail, "" if ok else "measure in WSL, the Windows Subsystem for Linux")


def refuse_windows() -> None:
    """``ValueError`` where nothing is measured."""
    if not system().ok:
        raise ValueError("Windows itself is not measured; run this in WSL, the Windows Subsystem for Linux")


def cpus() -> Finding:
    quota, most = machine.cpu_quota(), machine.usable_cpus()
    limit = "no quota" if quota is None else f"quota of {quota:g} CPUs"
    return Finding("CPUs", True, f"{most} usable of {os.cpu_count()}, {limit}")


def memory() -> Finding:
    free = machine.available_memory()
    if free is None:
        return Finding("memory", True, "the system does not say how much is available")
    return Finding(
        "memory",
        free >= _MEMORY_BYTES,
        f"{free / 2**30:.1f} GiB available",
        f"free at least {_MEMORY_BYTES / 2**30:.0f} GiB",
        True,
    )


def scratch() -> Finding:
    """The folder for temporary files: writable, with room, and on which kind of filesystem."""
    try:
        _, folder = limits.temporary()
        free = shutil.disk_usage(folder).free
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        detail = f"cannot be written ({error.strerror})" if error.strerror else str(error).partition(";")[0]
        return Finding("temporary folder", False, detail, "set TMPDIR to a writable folder", True)
    kind = machine.filesystem(folder) or "unknown filesystem"
    note = ", which is memory and no disk" if kind in ("tmpfs", "ramfs") else ""
    return Finding(
        "temporary folder",
        free >= _SCRATCH_BYTES,
        f"{free / 2**30:.1f} GiB free on {kind}{note}",
        f"set TMPDIR to a folder with {_SCRATCH_BYTES / 2**30:.0f} GiB free",
        True,
    )


def compiler() -> Finding:
    found = next((name for name in (os.environ.get("CC"), *_COMPILERS) if name and shutil.which(name)), None)
    detail = f"{Path(found).name} found" if found else f"none of {', '.join(_COMPILERS)} is on the path"
    return Finding(
        "a C compiler", found is not None, detail, "" if found else "install gcc or clang, or name one in CC"
    )


def mpi() -> Finding:
    """mpi4py and a launcher: beside this interpreter (a wheel) or on the path (the system's).

    ``RERUN_WITHOUT_MPI`` in the environment hides both, so that a page can be seen as a machine without MPI makes it.
    """
    if os.environ.get("RERUN_WITHOUT_MPI"):
        return Finding("MPI", False, "RERUN_WITHOUT_MPI hides it", "take RERUN_WITHOUT_MPI out of the environment")
    launcher = shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")
    missing = []
    if importlib.util.find_spec("mpi4py") is None:
        missing.append("mpi4py is not installed")
    if launcher is None:
        missing.append("no mpiexec was found")
    return Finding(
        "MPI",
        not missing,
        " and ".join(missing) or "mpi4py and mpiexec found",
        "install mpi4py and an MPI such as mpich" if missing else "",
    )


def smt() -> Finding:
    """Two threads of one core, both open to this process."""
    siblings = machine.smt_siblings()
    if siblings is None:
        return Finding("SMT", False, "the system does not say which CPUs share a core")
    ours = set(machine.affinity_cpus())
    shared = [group for group in siblings if len(ours & set(group)) > 1]
    if shared:
        return Finding("SMT", True, f"{len(shared)} core(s) with two or more usable threads")
    if any(len(group) > 1 for group in siblings):
        return Finding(
            "SMT",
            False,
            "the siblings lie outside this process's affinity",
            "run with both threads of a core in the affinity mask",
        )
    return Finding("SMT", False, "every core shows one thread", "switch SMT on in the firmware, if the CPU has it")


def o_direct(folder=None) -> Finding:
    """Whether files in ``folder`` (default: the temporary folder) can bypass the page cache."""
    remedy = "set TMPDIR to a folder on a disk's filesystem (ext4, xfs)"
    if not hasattr(os, "O_DIRECT"):
        return Finding("O_DIRECT", False, "this system has no O_DIRECT")
    try:
        folder = tempfile.gettempdir() if folder is None else folder
        probe = WorkFolder(folder, "direct-probe")
    except OSError as error:
        return Finding("O_DIRECT", False, f"no file can be made to try it on ({os.strerror(error.errno or 0)})", remedy)
    try:
        os.close(os.open(probe.path / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError as error:
        reason = "refused" if error.errno == errno.EINVAL else error.strerror
        return Finding("O_DIRECT", False, f"{reason} on {machine.filesystem(folder)}", remedy)
    finally:
        probe.close()
    return Finding("O_DIRECT", True, f"works on {machine.filesystem(folder)}")


def affinity() -> Finding:
    ok = hasattr(os, "sched_setaffinity")
    return Finding("CPU binding", ok, "threads can be bound" if ok else "this system cannot bind threads")


def browser() -> Finding:
    found = chromium.executable()
    return Finding(
        "browser",
        found is not None,
        f"{Path(found).name} found" if found else "no Chromium was found",
        "" if found else "install Chromium (Debian package chromium) to test the book's pages",
    )


def _page_policy() -> Finding:
    described = machine.describe()["memory"]
    policy = described["transparent_huge_pages"]
    return Finding(
        "huge pages",
        policy not in (None, "never"),
        f"transparent: {policy or 'unknown'}",
        "the huge-page variants need transparent_hugepage=madvise or always",
    )


def load() -> Finding:
    """Load average of the last minute: a busy machine spoils timings, it does not forbid them."""
    try:
        busy = psutil.getloadavg()[0]
    except OSError:
        return Finding("load", True, "the system does not say")
    return Finding(
        "load",
        busy <= machine.usable_cpus(),
        f"{busy:.2f} over the last minute",
        "wait until other work has ended before timing",
    )


#: What an experiment may need, by the word it uses in ``needs``.
NEEDS: dict[str, Callable[[], Finding]] = {
    "affinity": affinity,
    "compiler": compiler,
    "mpi": mpi,
    "o_direct": o_direct,
    "smt": smt,
}
CHECKS = (
    python_version,
    system,
    packages,
    cpus,
    memory,
    scratch,
    affinity,
    smt,
    _page_policy,
    o_direct,
    compiler,
    mpi,
    browser,
    load,
)


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
