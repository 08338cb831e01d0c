"""What this host is, what it lacks, each with a remedy, and whether a run fits into it.

Unknown is ``None``, never a guess; no host name, user name or path is recorded.  A kernel says in ``footprint`` what
one problem takes; here that becomes what a whole run takes, and what an interpreter takes itself, compared with what
this process may use before anything is started.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from supercomputers_rerun import HOME
from supercomputers_rerun.companion.common import Unavailable, plural
from supercomputers_rerun.kernels.runtime.resources import (
    FOLDERS,
    affinity_cpus,
    available_memory,
    bases,
    core_groups,
    cpu_list,
    cpu_quota,
    online_cpus,
    require_disk,
    require_memory,
    require_threads,
    usable_cpus,
)

#: Instruction-set extensions that decide what compiled kernels can do.
_ISA = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512dq", "avx512bw", "avx512vl"),
    *("avx512_bf16", "avx512_vnni", "amx_tile", "neon", "asimd", "sve", "sve2", "vsx", "altivec"),
)
#: Beyond the clock of any processor sold.
_FASTEST_HZ = 6.5e9
_PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "xarray", "mpi4py")
_ROOT, _SYS, _PROC = HOME, Path("/sys"), Path("/proc")


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def _bytes(text: str | None) -> int | None:
    """``"48K"`` as 49152."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text or "")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]] if found else None


#: What is taken from py-cpuinfo.
_TAKEN = {"brand_raw", "vendor_id_raw", "flags", "hz_advertised", "family", "model", "stepping"}


@lru_cache
def _cpuinfo() -> dict[str, Any]:
    """From ``/proc/cpuinfo`` where that has all; py-cpuinfo asks the rest in an interpreter that takes a second."""
    from cpuinfo import cpuinfo, get_cpu_info

    try:
        found: dict[str, Any] = getattr(cpuinfo, "_get_cpu_info_from_proc_cpuinfo", dict)() or {}
        return found if found.keys() >= _TAKEN else get_cpu_info() or {}
    except Exception:  # py-cpuinfo raises whatever its probes raise; then the CPU is unknown
        return {}


def _cpu_folders(sys: Path) -> list[Path]:
    folder = sys / "devices/system/cpu"
    numbers = [int(path.name[3:]) for path in folder.glob("cpu[0-9]*") if path.name[3:].isdigit()]
    online = online_cpus(folder) or numbers
    return [folder / f"cpu{number}" for number in sorted(numbers) if number in online]


def smt_siblings(sys: Path = _SYS) -> list[list[int]] | None:
    """Groups of all logical CPUs that share a core, or None where the system does not say."""
    return core_groups(sys / "devices/system/cpu")


def _topology(sys: Path) -> dict[str, Any]:
    siblings = smt_siblings(sys)
    packages = {_number(path / "topology/physical_package_id") for path in _cpu_folders(sys)} - {None}
    nodes = [path for path in (sys / "devices/system/node").glob("node[0-9]*") if path.is_dir()]
    return {
        "sockets": len(packages) or None,
        "cores": len(siblings) if siblings else None,
        "logical_cpus": len(_cpu_folders(sys)) or os.cpu_count(),
        "threads_per_core": max(map(len, siblings)) if siblings else None,
        "smt_siblings": siblings,
        "numa_nodes": len(nodes) or None,
    }


def _caches(sys: Path) -> list[dict[str, Any]]:
    """Caches of the first CPU, smallest level first, as the system reports them."""
    cpus = _cpu_folders(sys)
    return [
        {
            "level": _number(path / "level"),
            "type": (_text(path / "type") or "").lower() or None,
            "bytes": _bytes(_text(path / "size")),
            "line_bytes": _number(path / "coherency_line_size"),
            "ways": _number(path / "ways_of_associativity"),
            "shared_by": len(cpu_list(_text(path / "shared_cpu_list"))) or None,
        }
        for path in (sorted(cpus[0].glob("cache/index*")) if cpus else [])
    ]


def _frequency(sys: Path) -> dict[str, Any]:
    policy = next(iter(_cpu_folders(sys)), sys) / "cpufreq"
    top, base = _number(policy / "cpuinfo_max_freq"), _number(policy / "base_frequency")
    advertised = (_cpuinfo().get("hz_advertised") or [0])[0]
    return {
        "governor": _text(policy / "scaling_governor"),
        "nominal_hz": base * 1000 if base else advertised or None,
        "maximum_hz": top * 1000 if top else None,
    }


def _memory(sys: Path, proc: Path) -> dict[str, Any]:
    """Sizes in bytes; the huge-page policy is the bracketed word of the system's own list."""
    policy = re.search(r"\[(\w+)\]", _text(sys / "kernel/mm/transparent_hugepage/enabled") or "")
    total = re.search(r"MemTotal:\s+(\d+) kB", _text(proc / "meminfo") or "")
    return {
        "total_bytes": int(total[1]) * 1024 if total else None,
        "available_bytes": available_memory(),
        "page_bytes": os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None,
        "transparent_huge_pages": policy[1] if policy else None,
    }


def _virtualised(proc: Path) -> bool | None:
    text = _text(proc / "cpuinfo")
    flags = re.search(r"^flags\s*:(.*)$", text or "", re.MULTILINE)
    return "hypervisor" in flags[1].split() if flags else None


def version(package: str) -> str | None:
    """The installed version of a package, None where it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def git(*arguments: str) -> str | None:
    """Output of git in this checkout, whoever owns it and whatever its user has set; None where it fails.

    A source that lies unpacked in somebody else's repository is no checkout: that one's commit is not ours.
    """
    command = ["git", "-C", str(_ROOT), "-c", f"safe.directory={_ROOT}", *arguments]
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # GIT_DIR beats -C
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0"}
    own["GIT_CEILING_DIRECTORIES"] = str(_ROOT.parent)
    try:
        done = subprocess.run(command, env=others | own, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _provenance() -> dict[str, Any]:
    lock = _ROOT / "requirements.lock"
    # Only what decides a result: a notebook edited or a record written beside it changes no timing.
    decisive = ("kernels", "supercomputers_rerun", "requirements.lock")
    # each with all that settings of a checkout may hide: changes, new files, and those that only .gitignore names
    changed = git("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none", "--", *decisive)
    new = git("ls-files", "--others", "--exclude-per-directory=.gitignore", "--", *decisive)
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": None if changed is None or new is None else bool(changed or new),
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None,
    }


def _target() -> str | None:
    """LLVM's name of this processor, for which numba compiles: ``znver4``, ``sapphirerapids``, ``neoverse-n1``."""
    from llvmlite import binding

    name = binding.get_host_cpu_name()
    return name if name and name != "generic" else None


def _signature(info: dict[str, Any]) -> list[int] | None:
    """Family, model and stepping, by which a maker tells its processors apart."""
    found = [number for name in ("family", "model", "stepping") if isinstance(number := info.get(name), int)]
    return found if len(found) == 3 else None


def describe(measured: bool = False, sys: Path = _SYS, proc: Path = _PROC) -> dict[str, Any]:
    """This host as JSON-able data: sizes in bytes, frequencies in hertz; what the system does not tell is None.

    ``measured``: as a record has it, with the type of the filesystem that holds temporary files, never the path, what
    named their folder (:func:`temporary`), and the clock of a core, which takes some ten milliseconds once compiled.
    ``sys`` and ``proc`` are the roots of sysfs and procfs, for tests.
    """
    # these bring NumPy and numba, for which a list of experiments does not wait
    from supercomputers_rerun.kernels.files.filesystem import filesystem_type
    from supercomputers_rerun.kernels.runtime import clock
    from supercomputers_rerun.kernels.runtime.jit import settings

    source, folder = temporary() if measured else (None, None)
    folders = [folder, *bases(None)[1:]] if measured else []
    kinds = sorted({kind for each in folders if (kind := filesystem_type(each))})
    info = _cpuinfo()
    flags = set(info.get("flags") or ())
    return {
        "cpu": {
            "model": info.get("brand_raw"),
            "vendor": info.get("vendor_id_raw"),
            "architecture": platform.machine() or None,
            "isa": [name for name in _ISA if name in flags] if flags else None,
            "target": _target(),
            "signature": _signature(info),
            **_topology(sys),
            **_frequency(sys),
            "measured_hz": round(clock.hertz(), -6) if measured else None,
        },
        "usable": {"cpus": usable_cpus(), "affinity": affinity_cpus(), "quota_cpus": cpu_quota()},
        "caches": _caches(sys),
        "memory": _memory(sys, proc),
        "filesystem": {"type": " and ".join(kinds) or None, "source": source}
        | ({"folders": len(folders)} if len(folders) > 1 else {}),
        "system": {
            "os": platform.system() or None,
            "kernel": platform.release() or None,
            "virtual_machine": _virtualised(proc),
            "hypervisor": _text(sys / "hypervisor/type") or _text(sys / "class/dmi/id/sys_vendor"),
        },
        "software": {
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
            "numba": " with ".join(filter(None, (version("numba"), settings()))) or None,
        },
        "provenance": _provenance(),
    }


def ceiling() -> dict[str, float | None]:
    """Per-thread rates that no CPU of this architecture reaches: beyond them, work was not done.

    x86-64: two 512-bit fused multiply-adds of single precision (64 flop), two 64-byte loads and one
    64-byte store a cycle, 6.5 GHz.  None elsewhere, where the vector length is open.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return {"flops": None, "bytes": None}
    return {"flops": 64 * _FASTEST_HZ, "bytes": 192 * _FASTEST_HZ}


def line(described: dict[str, Any]) -> str:
    """The machine in one line, for figures and records: CPU model and usable CPUs."""
    model = described["cpu"]["model"] or described["cpu"]["architecture"] or "unknown CPU"
    return f"{model}, {described['usable']['cpus']} usable CPUs"


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
    """``Unavailable`` where nothing is measured: Windows lacks calls by which files, ranks and threads are."""
    if sys.platform == "win32":
        raise Unavailable("Windows itself is not measured; run this in WSL, the Windows Subsystem for Linux")


def packages(lock: Path = _ROOT / "requirements.lock") -> Finding:
    """Python, and installed versions against the lock, of the packages that the project itself names."""
    pinned = re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.M) if lock.is_file() else []
    requirements = importlib.metadata.requires("supercomputers-rerun") or []
    named = [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in requirements if "extra ==" not in text]
    locked = {name: [version for other, version in pinned if other == name] for name in named}
    wrong = [
        f"{name} {version(name) or 'is missing'} (lock: {' or '.join(versions)})"
        for name, versions in locked.items()
        if versions and version(name) not in versions
    ]
    detail = f"{len(named)} packages {'as in the lock' if pinned else '(no lock)'}, Python {platform.python_version()}"
    return Finding("packages", not wrong, "; ".join(wrong) or detail, "run make clean, then make test", required=True)


def cpus() -> Finding:
    """What the affinity mask and the control group leave."""
    quota = cpu_quota()
    limit = "no quota" if quota is None else f"quota of {quota:g} CPUs"
    return Finding("CPUs", True, f"{usable_cpus()} usable of {os.cpu_count()}, {limit}")


def memory() -> Finding:
    """Memory that can be allocated."""
    free, remedy = available_memory(), f"free at least {_ROOM / 2**30:.0f} GiB"
    return Finding("memory", free >= _ROOM, f"{free / 2**30:.1f} GiB available", remedy, required=True)


def scratch() -> Finding:
    """The folder for temporary files: writable, with room, and on which kind of filesystem."""
    from supercomputers_rerun.kernels.files.filesystem import IN_MEMORY, filesystem_type

    name, remedy = "temporary folder", f"set TMPDIR to a folder with {_ROOM / 2**30:.0f} GiB free"
    try:
        _, folder = temporary()
    except OSError as error:
        return Finding(name, False, str(error), remedy, required=True)
    free, kind = shutil.disk_usage(folder).free, filesystem_type(folder) or "unknown filesystem"
    note = ", which is memory and no disk" if kind in IN_MEMORY else ""
    return Finding(name, free >= _ROOM, f"{free / 2**30:.1f} GiB free on {kind}{note}", remedy, required=True)


def affinity() -> Finding:
    """Whether threads can be bound to CPUs, each to one."""
    try:
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(own)})
        os.sched_setaffinity(0, own)
    except (AttributeError, OSError):  # another system; a sandbox that refuses the call
        return Finding("CPU binding", False, "this system cannot bind threads")
    return Finding("CPU binding", True, "threads can be bound")


def pair() -> Finding:
    """Whether two jobs can have a CPU each."""
    return Finding("two CPUs", usable_cpus() > 1, "one may be used", "give the process a second one")


def smt() -> Finding:
    """Two threads of one core, both open to this process."""
    ours = set(affinity_cpus())
    shared = [group for group in smt_siblings() or () if len(ours & set(group)) > 1]
    found = f"{len(shared)} core(s) with two or more usable threads" if shared else "no core shows two usable threads"
    remedy = "switch SMT on in the firmware, or leave both threads of a core in the affinity mask"
    return Finding("SMT", bool(shared), found, remedy)


def o_direct() -> Finding:
    """Whether files in the temporary folder can bypass the page cache."""
    from supercomputers_rerun.kernels.files.filesystem import direct_refusal

    try:
        reason = direct_refusal(tempfile.gettempdir())
    except OSError as error:
        reason = str(error)
    remedy = "set TMPDIR to a folder on a disk's filesystem (ext4, xfs)"
    return Finding("O_DIRECT", not reason, reason or "works", remedy)


def huge_pages() -> Finding:
    """Whether the kernel takes a wish for a page size."""
    from supercomputers_rerun.kernels.runtime.arrays import takes_wishes

    taken = takes_wishes()
    said = "asked for, they are given or not; records say how many" if taken else "this kernel offers no choice"
    return Finding("huge pages", taken, said, "cases that ask for huge pages get default ones, and say so")


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


def counters() -> Finding:
    """Whether the system shows counters of the processor."""
    from supercomputers_rerun.companion import counters

    remedy = "run on a machine without hypervisor, with kernel.perf_event_paranoid at most 2"
    try:
        counters.counted(int, counters.EVENTS)
    except OSError as error:
        return Finding("hardware counters", False, f"perf_event_open shows none ({error.strerror or error})", remedy)
    return Finding("hardware counters", True, "cycles and instructions can be counted")


#: Every check, in the order of the report.
CHECKS = (packages, cpus, memory, scratch, affinity, smt, huge_pages, o_direct, mpi, counters)
#: What an experiment may need, by the word it uses in ``needs``.
NEEDS = {"affinity": affinity, "pair": pair, "mpi": mpi, "counters": counters}


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
        require_memory(need.memory_of(case.threads), named)
        if need.disk:
            for folder in _folders(case):
                require_disk(folder, need.disk, named)


def require_ranks(ranks: int, threads: int = 1, cases: Iterable[Any] = (), oversubscribe: bool = False) -> None:
    """Refuse ranks, of so many threads each, that this machine cannot hold.

    What they measure, ``cases``, is in memory, and its files on the disk, at once.  ``oversubscribe``: more than four a
    CPU are wanted. ``ValueError``: more than four a CPU. ``MemoryError`` or ``OSError`` where memory or disk do not
    suffice.
    """
    memory, disks = _total(cases)
    most, what = max(1, _A_CPU * usable_cpus() // threads), f"a job of {plural(ranks, 'rank')}"
    if ranks > most and not oversubscribe:
        raise ValueError(
            f"ranks = {ranks} exceeds {most}, {_A_CPU} threads on each of the {usable_cpus()} usable CPUs; "
            "ask for fewer, or say --oversubscribe (oversubscribe=True) if times do not matter"
        )
    require_memory(ranks * _RANK_BYTES + memory, what, remedy="ask for fewer ranks or a smaller problem")
    for folder, disk in disks.items():
        require_disk(folder, disk, what)


def require_share(cases: Iterable[Any], ranks: int, here: int) -> None:
    """``MemoryError`` if ``here`` of a job's ``ranks``, which run on this host, cannot hold their part of the cases.

    The cases of a job are all in memory at once.
    """
    require_memory(_total(cases)[0] * here // ranks, f"the part of {plural(here, 'rank')} on one host")


def _total(cases: Iterable[Any]) -> tuple[int, dict[str, int]]:
    """Bytes of memory, and of disk by folder, of all cases together; those of one problem share a state."""
    memory: dict[Any, int] = {}
    files: dict[Any, tuple[str, int]] = {}
    for case in cases:
        key, need = (id(case.kernel), repr(case.problem)), case.kernel.footprint(case.problem)
        memory[key] = max(memory.get(key, 0), need.memory_of(case.threads))
        files[key] = str(_folders(case)[0]), need.disk
    disks = {folder: sum(disk for place, disk in files.values() if place == folder) for folder, _ in files.values()}
    return sum(memory.values()), {folder: disk for folder, disk in disks.items() if disk}


def _folders(case: Any) -> tuple:
    """Where the files of a case lie."""
    return bases(getattr(case.problem, "folder", None))


@contextlib.contextmanager
def files_in(folders: Sequence[Path]) -> Iterator[None]:
    """Within it files lie in the first of ``folders``, and those that kernels spread take all in turn.

    ``OSError`` where one of them is no folder.
    """
    for folder in folders:
        if not folder.is_dir():
            raise OSError(f"--folder {folder}: there is no such folder")
    paths = [str(folder.resolve()) for folder in folders]
    told = {"TMPDIR": paths[0], FOLDERS: os.pathsep.join(paths)}
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    tempfile.tempdir = None  # asked for again
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        tempfile.tempdir = None
