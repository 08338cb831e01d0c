"""What this host is.  Unknown is ``None``, never a guess; no host name, user name or path is recorded."""

import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil

from kernels.runtime.resources import (
    affinity_cpus,
    available_memory,
    core_groups,
    cpu_list,
    cpu_quota,
    online_cpus,
    require_disk,
    require_memory,
    require_threads,
    usable_cpus,
)
from kernels.runtime.target import settings

#: Instruction-set extensions that decide what compiled kernels can do.
_ISA = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512dq", "avx512bw", "avx512vl"),
    *("avx512_bf16", "avx512_vnni", "amx_tile", "neon", "asimd", "sve", "sve2", "vsx", "altivec"),
)
#: Beyond the clock of any processor sold.
_FASTEST_HZ = 6.5e9
_PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "xarray", "mpi4py")
_ROOT, _SYS, _PROC = Path(__file__).resolve().parents[2], Path("/sys"), Path("/proc")


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
    found = sorted((sys / "kernel/mm/hugepages").glob("hugepages-*kB"))
    pools = {path.name.removeprefix("hugepages-"): _number(path / "nr_hugepages") for path in found}
    total = re.search(r"MemTotal:\s+(\d+) kB", _text(proc / "meminfo") or "")
    return {
        "total_bytes": int(total[1]) * 1024 if total else None,
        "available_bytes": available_memory(),
        "page_bytes": os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None,
        "transparent_huge_pages": policy[1] if policy else None,
        "reserved_huge_pages": pools or None,
    }


def _mount(folder) -> tuple[str | None, str | None]:
    """Where the filesystem that holds ``folder`` is mounted, and its type."""
    place, found = f"{os.path.realpath(folder)}/", ("", "")
    with suppress(OSError):  # a system that hides its mounts
        for part in psutil.disk_partitions(all=True):  # of several on one point the last is the visible one
            if place.startswith(part.mountpoint.rstrip("/") + "/") and len(part.mountpoint) >= len(found[0]):
                found = part.mountpoint, part.fstype
    return found[0] or None, found[1] or None


def filesystem(folder) -> str | None:
    """Type of the filesystem that holds ``folder`` (``"ext4"``, ``"tmpfs"``, …)."""
    return _mount(folder)[1]


def _filesystem(folder, source: str | None) -> dict[str, Any]:
    """What a record says of the folder whose filesystem was measured: never its path."""
    point, kind = (None, None) if folder is None else _mount(folder)
    return {
        "type": kind,
        "in_memory": kind in ("tmpfs", "ramfs") if kind else None,
        "separate_mount": None if point is None else point != "/",
        "source": source,
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


def _threading_layer() -> str | None:
    """numba's layer once a parallel kernel has run; before that it is not decided."""
    import numba

    try:
        return numba.threading_layer()
    except ValueError:
        return None


def git(*arguments: str) -> str | None:
    """Output of git in this checkout, whoever owns it; None where it fails, without git, or outside a checkout."""
    command = ["git", "-C", str(_ROOT), "-c", f"safe.directory={_ROOT}", *arguments]
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # GIT_DIR beats -C
    try:
        done = subprocess.run(command, env=others, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _provenance(also: tuple[str, ...] = ()) -> dict[str, Any]:
    lock = _ROOT / "requirements.lock"
    # Installed as a plain package inside someone else's repository, that repository's commit is not ours.
    ours = (_ROOT / ".git").exists()
    # Only what decides a result: a notebook edited or a record written beside it changes no timing.
    decisive = ("kernels", "companion", "requirements.lock", *also)
    status = git("status", "--porcelain", "--", *decisive) if ours else None
    return {
        "commit": git("rev-parse", "HEAD") if ours else None,
        "dirty": bool(status) if status is not None else None,
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


def _measured() -> float:
    """Clock of a core as measured, in hertz."""
    from kernels.runtime import frequency

    return round(frequency.hertz(), -6)


def describe(
    folder=None, sys: Path = _SYS, proc: Path = _PROC, also: tuple[str, ...] = (), source=None, measured: bool = False
) -> dict[str, Any]:
    """This host as JSON-able data: sizes in bytes, frequencies in hertz; what the system does not tell is None.

    ``folder`` adds the type of the filesystem that holds it, and whether it is another than the root's, never the path;
    ``source`` says what named it: a variable of the environment, ``"default"``, or ``"given"`` by a caller.  An
    uncommitted change in one of the folders ``also``, beside kernels and companion, makes the provenance ``dirty``.
    ``measured``: the clock of a core is measured too, which takes some ten milliseconds, after its compilation.
    ``sys`` and ``proc`` are the roots of sysfs and procfs, for tests.
    """
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
            "measured_hz": _measured() if measured else None,
        },
        "usable": {"cpus": usable_cpus(), "affinity": affinity_cpus(), "quota_cpus": cpu_quota()},
        "caches": _caches(sys),
        "memory": _memory(sys, proc),
        "filesystem": _filesystem(folder, source),
        "system": {
            "os": platform.system() or None,
            "kernel": platform.release() or None,
            "virtual_machine": _virtualised(proc),
            "hypervisor": _text(sys / "hypervisor/type") or _text(sys / "class/dmi/id/sys_vendor"),
        },
        "software": {
            "python": platform.python_version(),
            "threading_layer": _threading_layer(),
            **{package: version(package) for package in _PACKAGES},
            "numba": " with ".join(filter(None, (version("numba"), settings()))) or None,
        },
        "provenance": _provenance(also),
    }


def ceiling() -> dict[str, float | None]:
    """Per-thread rates that no CPU of this architecture reaches: beyond them, work was not done.

    x86-64: two 512-bit fused multiply-adds of single precision (64 flop), two 64-byte loads and one
    64-byte store a cycle, 6.5 GHz.  None elsewhere, where the vector length is open.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return {"flops": None, "bytes": None}
    return {"flops": 64 * _FASTEST_HZ, "bytes": 192 * _FASTEST_HZ}


def size(nbytes: int | None) -> str | None:
    """Bytes in words, ``32 KiB``; None where they are unknown."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes is not None and nbytes >= 2**power:
            return f"{nbytes / 2**power:.4g} {unit}"
    return None if nbytes is None else f"{nbytes} B"


def line(description: dict[str, Any] | None = None) -> str:
    """The machine in one line, for figures and records: CPU model and usable CPUs."""
    described = describe() if description is None else description
    model = described["cpu"]["model"] or described["cpu"]["architecture"] or "unknown CPU"
    return f"{model}, {described['usable']['cpus']} usable CPUs"
