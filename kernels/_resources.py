"""What this process may use: CPUs, memory, disk.  Standard library only.

Affinity masks and control-group quotas are honoured, because a container that shows 64 CPUs
and grants two would otherwise be overloaded, and its timings worthless.
"""

import os
import shutil
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def affinity_cpus() -> list[int]:
    """CPU numbers this process may run on, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _cgroup_values(name: str, root: Path) -> list[str]:
    """Content of ``name`` in this process's control group and all groups above it (version 2)."""
    try:
        line = Path("/proc/self/cgroup").read_text().splitlines()[-1]
    except (OSError, IndexError):
        return []
    group = root / line.rsplit(":", 1)[-1].lstrip("/")
    found = []
    for folder in [group, *group.parents]:
        if root != folder and root not in folder.parents:
            break
        try:
            found.append((folder / name).read_text().strip())
        except OSError:
            continue
    return found


def cpu_quota(root: Path = _CGROUP) -> float | None:
    """CPUs granted by the tightest control-group quota, or None where there is no quota."""
    quotas = []
    for text in _cgroup_values("cpu.max", root):
        limit, period = (text.split() + ["100000"])[:2]
        if limit != "max":
            quotas.append(int(limit) / int(period))
    try:  # version 1
        limit = int((root / "cpu" / "cpu.cfs_quota_us").read_text())
        if limit > 0:
            quotas.append(limit / int((root / "cpu" / "cpu.cfs_period_us").read_text()))
    except (OSError, ValueError):
        pass
    return min(quotas) if quotas else None


def usable_cpus() -> int:
    """Number of threads that can run at once: affinity, rounded-down quota, at least one."""
    cpus = len(affinity_cpus())
    quota = cpu_quota()
    return max(1, min(cpus, int(quota))) if quota is not None else cpus


def available_memory(root: Path = _CGROUP) -> int | None:
    """Bytes that can be allocated without swapping, or None where the system does not say."""
    limits = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024)
    except OSError:
        pass
    maxima = _cgroup_values("memory.max", root)
    used = _cgroup_values("memory.current", root)
    for limit, current in zip(maxima, used):
        if limit != "max":
            limits.append(max(0, int(limit) - int(current)))
    return min(limits) if limits else None


def require_threads(threads: int) -> int:
    """Return ``threads``; ``ValueError`` unless 1 <= threads <= usable CPUs."""
    most = usable_cpus()
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= most:
        raise ValueError(
            f"threads = {threads!r} is outside 1 … {most}, the CPUs this process may use "
            "(affinity and quota); ask for fewer threads"
        )
    return threads


def _size(nbytes: float) -> str:
    return f"{nbytes / 2**30:.2f} GiB" if nbytes >= 2**29 else f"{nbytes / 2**20:.1f} MiB"


def require_memory(nbytes: int, what: str) -> None:
    """``MemoryError`` with a remedy if ``nbytes`` for ``what`` exceed the available memory."""
    free = available_memory()
    if free is not None and nbytes > 0.9 * free:
        raise MemoryError(
            f"{what} needs {_size(nbytes)} of memory, {_size(free)} are available; "
            "choose a smaller problem"
        )


def require_disk(folder, nbytes: int, what: str) -> None:
    """``OSError`` with a remedy if ``folder`` cannot take ``nbytes`` for ``what``.

    A twentieth of the filesystem, at most 1 GiB, is left free for everyone else.
    """
    usage = shutil.disk_usage(folder)
    reserve = min(2**30, usage.total // 20)
    if nbytes > usage.free - reserve:
        raise OSError(
            f"{what} needs {_size(nbytes)} in {folder}, {_size(max(0, usage.free - reserve))} "
            "can be used; choose a smaller problem or another folder"
        )
