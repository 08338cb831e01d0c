"""What this process may use: CPUs, memory, disk, processes, open files.  Standard library only.

Affinity masks and control-group quotas are honoured, because a container that shows 64 CPUs
and grants two would otherwise be overloaded, and its timings worthless.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path, PurePath

try:
    import resource
except ImportError:  # not a POSIX system: it sets no such limits
    resource = None

_CGROUP = Path("/sys/fs/cgroup")
_PROC = Path("/proc")
_CPUS = Path("/sys/devices/system/cpu")
#: Version 1 spells "no memory limit" as the largest page-aligned number.
_NO_LIMIT = 2**60
#: Seconds for which a granted quota is taken to hold.
_QUOTA_HOLDS = 1.0
#: The quota that was last read, and when (monotonic seconds).
_last_quota: tuple[float | None, float] = (None, float("-inf"))


def affinity_cpus() -> list[int]:
    """CPU numbers this process may run on, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def cpu_list(text: str | None) -> list[int]:
    """``"0-3,8"`` as ``[0, 1, 2, 3, 8]``, the form in which Linux writes sets of CPUs."""
    cpus: list[int] = []
    for part in (text or "").split(","):
        if part.strip():
            first, _, last = part.partition("-")
            cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def core_groups(root: Path = _CPUS) -> list[list[int]] | None:
    """Groups of all logical CPUs that share a core, or None where the system does not tell."""
    texts = set()
    for folder in root.glob("cpu[0-9]*"):
        try:
            texts.add((folder / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            pass
    return sorted(cpu_list(text) for text in texts if text) or None


def smt_siblings(root: Path = _CPUS) -> list[list[int]]:
    """Usable CPUs grouped by physical core, cores and CPUs ascending.

    A group of two or more shares one core (simultaneous multithreading).  Where the system does not
    tell, every CPU is taken for a core of its own.
    """
    usable = affinity_cpus()
    groups = core_groups(root) or []
    known = {cpu for group in groups for cpu in group}
    cores = [[cpu for cpu in group if cpu in usable] for group in groups]
    return sorted(core for core in [*cores, *([cpu] for cpu in usable if cpu not in known)] if core)


def _upwards(base: Path, group: str) -> list[Path]:
    """The folder of ``group`` under ``base`` and every folder above it, down to ``base``.

    A limit holds for all groups below it.  Inside a container the group's own path may not be
    mounted; then ``base`` is the container's group and comes last in any case.
    """
    names = PurePath(group.lstrip("/")).parts
    return [base.joinpath(*names[:count]) for count in range(len(names), -1, -1)]


def _control_folders(controller: str, root: Path, proc: Path) -> list[Path]:
    """Folders, of either version, that may limit this process through ``controller``."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:
        _, names, group = (line.split(":", 2) + ["", ""])[:3]
        if names == "":  # version 2: one tree, sometimes beside version 1
            bases = [root, root / "unified"]
        elif controller in names.split(","):  # version 1: one tree a controller
            bases = [root / names, root / controller]
        else:
            continue
        folders.extend(folder for base in bases if base.is_dir() for folder in _upwards(base, group))
    return folders


def _integer(path: Path) -> int | None:
    """The whole number in a control file; None for no file, no limit or anything else."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def cpu_quota(root: Path = _CGROUP, proc: Path = _PROC) -> float | None:
    """CPUs granted by the tightest control-group quota, or None where there is no quota."""
    quotas = []
    for folder in _control_folders("cpu", root, proc):
        try:
            limit, period = ((folder / "cpu.max").read_text().split() + ["100000"])[:2]
            if limit != "max":
                quotas.append(int(limit) / int(period))
        except (OSError, ValueError, ZeroDivisionError):
            pass
        limit, period = _integer(folder / "cpu.cfs_quota_us"), _integer(folder / "cpu.cfs_period_us")
        if limit and limit > 0 and period:
            quotas.append(limit / period)
    return min(quotas) if quotas else None


def _usable(quota: float | None) -> int:
    cpus = len(affinity_cpus())
    return max(1, min(cpus, int(quota))) if quota is not None else cpus


def usable_cpus() -> int:
    """Number of threads that can run at once: affinity, rounded-down quota, at least one."""
    return _usable(cpu_quota())


def _recent_quota() -> float | None:
    """:func:`cpu_quota` of at most ``_QUOTA_HOLDS`` seconds ago.

    Walking the control groups takes over 100 µs, more than a small kernel runs.  An administrator who
    lowers the quota meanwhile would have met a kernel that was already running just as well.
    """
    global _last_quota
    quota, read = _last_quota
    now = time.monotonic()
    if now - read > _QUOTA_HOLDS:
        quota = cpu_quota()
        _last_quota = quota, now
    return quota


def _reclaimable(folder: Path) -> int:
    """Bytes of page cache that the group gives back when it needs memory."""
    try:
        pairs = dict(line.split()[:2] for line in (folder / "memory.stat").read_text().splitlines())
        return int(pairs.get("total_inactive_file", pairs.get("inactive_file", 0)))
    except (OSError, ValueError):
        return 0


def _room(controller: str, limit_name: str, used_name: str, root: Path, proc: Path) -> Iterator[tuple[Path, int]]:
    """The folders of the groups that limit what ``controller`` counts, and what each limit leaves."""
    for folder in _control_folders(controller, root, proc):
        limit, used = _integer(folder / limit_name), _integer(folder / used_name)
        if limit is not None and used is not None and limit < _NO_LIMIT:
            yield folder, limit - used


def process_limit(name: str) -> int | None:
    """The limit of this process that ``ulimit`` shows, such as ``"RLIMIT_AS"``; None where it has none."""
    number = getattr(resource, name, None)
    soft = None if number is None else resource.getrlimit(number)[0]
    return None if soft is None or soft == resource.RLIM_INFINITY else soft


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def available_memory(root: Path = _CGROUP, proc: Path = _PROC, others: bool = False) -> int | None:
    """Bytes that can be allocated without swapping, or None where the system does not say.

    What ``ulimit`` leaves to this process counts too, unless ``others`` will allocate them.
    """
    free = []
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            free.append(int(line.split()[1]) * 1024)
    for names in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        for folder, left in _room("memory", *names, root, proc):
            free.append(max(0, left + _reclaimable(folder)))
    for name, place in (("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)):  # of statm: all pages, and those of data
        limit = None if others else process_limit(name)
        for line in _lines(proc / "self" / "statm") if limit is not None else ():
            free.append(max(0, limit - int(line.split()[place]) * os.sysconf("SC_PAGE_SIZE")))
    return min(free) if free else None


def _tasks(proc: Path) -> int:
    """Threads of all processes of this user."""
    count, user = 0, os.getuid()  # asked only where the system sets a limit for a user
    for folder in proc.glob("[0-9]*"):
        try:
            count += sum(1 for _ in (folder / "task").iterdir()) if folder.stat().st_uid == user else 0
        except OSError:  # it ended meanwhile
            pass
    return count


def available_processes(root: Path = _CGROUP, proc: Path = _PROC) -> int | None:
    """Processes and threads that can still be started, or None where the system does not say."""
    free = [left for _, left in _room("pids", "pids.max", "pids.current", root, proc)]
    limit, most = process_limit("RLIMIT_NPROC"), _integer(proc / "sys" / "kernel" / "threads-max")
    if limit is not None:
        free.append(limit - _tasks(proc))
    for line in _lines(proc / "loadavg") if most is not None else ():
        free.append(most - int(line.split()[3].partition("/")[2]))  # tasks that run / tasks there are
    return max(0, min(free)) if free else None


def available_files(proc: Path = _PROC) -> int | None:
    """Files that this process can still open, or None where it has no limit."""
    limit = process_limit("RLIMIT_NOFILE")
    if limit is None:
        return None
    try:
        return max(0, limit - sum(1 for _ in (proc / "self" / "fd").iterdir()))
    except OSError:
        return limit


def require_threads(threads: int) -> int:
    """Return ``threads``; ``ValueError`` unless 1 <= threads <= usable CPUs.

    Cheap enough for every call of a kernel: one thread needs no question, more need the affinity, which
    is one system call, and a quota that was read within the last second.  Only a refusal reads it anew.
    """
    valid = isinstance(threads, int) and not isinstance(threads, bool) and threads >= 1
    if valid and (threads == 1 or threads <= _usable(_recent_quota())):
        return threads
    most = usable_cpus()
    if not valid or threads > most:
        remedy = "fewer threads" if valid else "a whole number of threads in this range"
        raise ValueError(
            f"threads = {threads!r} is outside 1 … {most}, the CPUs this process may use "
            f"(affinity and quota); ask for {remedy}"
        )
    return threads


def _size(nbytes: float) -> str:
    return f"{nbytes / 2**30:.2f} GiB" if nbytes >= 2**29 else f"{nbytes / 2**20:.1f} MiB"


def require_memory(nbytes: int, what: str, others: bool = False, remedy: str = "choose a smaller problem") -> None:
    """``MemoryError`` with a remedy if ``nbytes`` for ``what`` exceed the memory available to us, or to ``others``."""
    free = available_memory(others=True) if others else available_memory()
    if free is not None and nbytes > 0.9 * free:
        raise MemoryError(f"{what} needs {_size(nbytes)} of memory, {_size(free)} are available; {remedy}")


def require_disk(folder, nbytes: int, what: str, remedy: str = "choose a smaller problem or another folder") -> None:
    """``OSError`` with a remedy if ``folder`` cannot take ``nbytes`` for ``what``.

    A twentieth of the filesystem, at most 1 GiB, is left free for everyone else.
    """
    usage = shutil.disk_usage(folder)
    reserve = min(2**30, usage.total // 20)
    if nbytes > usage.free - reserve:
        raise OSError(
            f"{what} needs {_size(nbytes)} in {folder}, {_size(max(0, usage.free - reserve))} can be used; {remedy}"
        )


def require_processes(count: int, what: str) -> None:
    """``OSError`` with a remedy if ``count`` more processes and threads for ``what`` cannot be started."""
    free = available_processes()
    if free is not None and count > free:
        raise OSError(
            f"{what} needs {count} processes and threads, {free} more may be started "
            "(ulimit -u, control group); ask for less or raise the limit"
        )


def require_files(count: int, what: str) -> None:
    """``OSError`` with a remedy if one process of ``what`` cannot open ``count`` files."""
    free = available_files()
    if free is not None and count > free:
        raise OSError(
            f"{what} needs {count} open files, {free} may be opened (ulimit -n); raise the limit or ask for less"
        )
