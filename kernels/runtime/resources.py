"""What this process may use: CPUs, memory and disk; and threads that work side by side.

Affinity masks and control-group quotas are honoured, because a container that shows 64 CPUs
and grants two would otherwise be overloaded, and its timings worthless.

Compiled kernels release the interpreter lock, so plain threads run them side by side.  Kernels that compute use
:func:`supercomputers_rerun.kernels.runtime.team.run_parts`, whose threads stay; :func:`run_team`, which starts them for
each call, which takes 0.1 to 0.3 ms, is for ``memory`` and ``processor``, which bind a thread to a CPU and hear from it
what it found, and for ``files``, whose threads wait for the system or may raise an error that the caller is to get.
"""

import functools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_CGROUP, _PROC, _CPUS = Path("/sys/fs/cgroup"), Path("/proc"), Path("/sys/devices/system/cpu")
#: Version 1 of control groups spells "no memory limit" as the largest page-aligned number.
_NO_LIMIT = 2**60
#: The variable that names folders as ``PATH`` does, for work files in turn; no record has it.
FOLDERS = "RERUN_FOLDERS"


def affinity_cpus() -> list[int]:
    """CPU numbers this process may run on, ascending: its first thread's, where another is bound to one of them."""
    return sorted(os.sched_getaffinity(os.getpid()) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def cpu_list(text: str | None) -> list[int]:
    """``"0-3,8"`` as ``[0, 1, 2, 3, 8]``, the form in which Linux writes sets of CPUs."""
    parts = (part.partition("-") for part in (text or "").split(",") if part.strip())
    return [cpu for first, _, last in parts for cpu in range(int(first), int(last or first) + 1)]


def online_cpus(root: Path = _CPUS) -> list[int]:
    """Numbers of the CPUs that are switched on, ascending; empty where the system does not tell."""
    return cpu_list("".join(_words(root / "online")))


@functools.cache
def core_groups(root: Path = _CPUS) -> list[list[int]] | None:
    """Groups of all logical CPUs that share a core, or None where the system does not tell."""
    texts = {"".join(_words(folder / "topology/thread_siblings_list")) for folder in root.glob("cpu[0-9]*")}
    return sorted(cpu_list(text) for text in texts if text) or None


def smt_siblings(root: Path = _CPUS) -> list[list[int]]:
    """Usable CPUs grouped by physical core, cores and CPUs ascending.

    A group of two or more shares one core (simultaneous multithreading).  Where the system does not
    tell, every CPU is taken for a core of its own.
    """
    usable = affinity_cpus()
    cores = [[cpu for cpu in group if cpu in usable] for group in core_groups(root) or [[cpu] for cpu in usable]]
    return sorted(core for core in cores if core)


def _groups(controller: str, root: Path, proc: Path) -> list[Path]:
    """Folders of this process's control group and of those above it, whose limits hold as well.

    Of version 2, or of version 1 those of ``controller``.  In a container the group's own path may not be
    mounted: then ``root`` is the container's group, and comes last in any case.
    """
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    found: list[Path] = []
    for line in lines:
        _, names, group = line.split(":", 2)
        if not names or controller in names.split(","):
            base = root / controller if names else root
            own = base / group.lstrip("/")
            found += [folder for folder in (own, *own.parents) if folder.is_relative_to(base)]
    return found


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


@functools.cache
def cpu_quota(root: Path = _CGROUP, proc: Path = _PROC) -> float | None:
    """CPUs granted by the tightest control-group quota, None where there is no quota; read once in a process."""
    quotas = []
    for folder in _groups("cpu", root, proc):
        v1 = _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
        limit, period = (_words(folder / "cpu.max") or v1 or ["max", ""])[:2]
        if limit not in ("max", "-1"):
            quotas.append(int(limit) / int(period))
    return min(quotas, default=None)


def usable_cpus() -> int:
    """Number of threads that can run at once: affinity, rounded-down quota, NUMBA_NUM_THREADS, at least one."""
    cpus, quota, named = len(affinity_cpus()), cpu_quota(), os.environ.get("NUMBA_NUM_THREADS", "")
    return max(1, min(cpus, cpus if quota is None else int(quota), int(named) if named.isdigit() else cpus))


def available_memory(root: Path = _CGROUP, proc: Path = _PROC) -> int:
    """Bytes that can be allocated without swapping, on this machine and in this control group.

    Page cache counts, since the group gives it back when it needs memory.
    """
    import psutil  # late: a command that measures nothing need not wait for it

    free = [psutil.virtual_memory().available]
    for folder in _groups("memory", root, proc):
        limit = _words(folder / "memory.max") or _words(folder / "memory.limit_in_bytes")
        used = _words(folder / "memory.current") or _words(folder / "memory.usage_in_bytes")
        if used and limit and limit != ["max"] and int(limit[0]) < _NO_LIMIT:
            pairs = _words(folder / "memory.stat")
            stat = dict(zip(pairs[::2], pairs[1::2], strict=False))
            cache = sum(int(stat.get(f"total_{kind}", stat.get(kind, 0))) for kind in ("active_file", "inactive_file"))
            free.append(max(0, int(limit[0]) - int(used[0]) + cache))
    return min(free)


class Refused(ValueError):
    """What a problem or an experiment does not take.  A notebook shows the sentence without the way that led to it."""

    def _render_traceback_(self) -> list[str]:  # IPython's name for what it shows in place of a traceback
        return [f"ValueError: {self}"]


def require_threads(threads: int) -> int:
    """Return ``threads``; ``ValueError`` unless it is a whole number from 1 to :func:`usable_cpus`."""
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if not whole or threads != 1 and not 1 <= threads <= usable_cpus():
        raise Refused(
            f"threads = {threads!r} is outside 1 … {usable_cpus()}, what affinity, quota and NUMBA_NUM_THREADS leave"
        )
    return threads


def run_team(work: Callable[[int], object], threads: int, cpus: Sequence[int] | None = None) -> list:
    """Results of ``work(0) … work(threads − 1)``, each on a thread of its own, started together.

    The caller is member 0, and keeps its own CPUs afterwards.  ``cpus`` are those of each thread; None leaves the
    placement to the system.  Raises an exception of any thread, after all have ended, and ``OSError`` where threads
    cannot be bound.
    """
    if cpus is not None and not hasattr(os, "sched_setaffinity"):
        raise OSError("binding threads to CPUs is not offered by this system; ask for no binding")
    gate, own = threading.Barrier(threads), os.sched_getaffinity(0) if cpus is not None else None
    refused: list[OSError] = []

    def member(number: int):
        try:
            if cpus is not None:
                os.sched_setaffinity(0, {cpus[number]})  # 0 names the calling thread, not the process
        except OSError as error:
            refused.append(error)
            gate.abort()  # nobody waits for one that does not come
        try:
            gate.wait(timeout=60)  # s
        except threading.BrokenBarrierError:
            why = refused[0].strerror if refused else "they did not start within a minute"
            raise OSError(f"{threads} threads could not begin together: {why}") from None
        return work(number)

    try:
        with ThreadPoolExecutor(threads) as pool:
            try:
                others = [pool.submit(member, number) for number in range(1, threads)]
                first = member(0)
            except (
                BaseException
            ):  # Ctrl-C may come before the caller is at the gate, where the others would wait for it
                gate.abort()
                raise
        return [first, *(each.result() for each in others)]
    finally:
        if own is not None:
            os.sched_setaffinity(0, own)


def alone(method: Callable) -> Callable:
    """``method`` for one thread at a time, where an object has one work space: it holds the object's ``lock``."""

    @functools.wraps(method)
    def locked(self, *arguments, **options):
        with self.lock:
            return method(self, *arguments, **options)

    return locked


def team_cpus(threads: int, binding: bool = hasattr(os, "sched_setaffinity")) -> list[int] | None:
    """The first usable CPUs, one a thread; None without ``binding``, which leaves the placement to the system.

    ``ValueError`` if there are more threads than usable CPUs.
    """
    require_threads(threads)
    return affinity_cpus()[:threads] if binding else None


def _size(nbytes: float) -> str:
    return f"{nbytes / 2**30:.2f} GiB" if nbytes >= 2**29 else f"{nbytes / 2**20:.1f} MiB"


def require_memory(nbytes: int, what: str, remedy: str = "choose a smaller problem") -> None:
    """``MemoryError`` with a remedy if ``nbytes`` for ``what`` exceed nine tenths of the memory available."""
    free = available_memory()
    if nbytes > 0.9 * free:
        raise MemoryError(f"{what} needs {_size(nbytes)} of memory, {_size(free)} are available; {remedy}")


def bases(folder: str | os.PathLike | tuple[str, ...] | None) -> tuple[str | os.PathLike, ...]:
    """Where files go: ``folder``, one or several; of None those of :data:`FOLDERS`, else the system's temporary one."""
    if isinstance(folder, tuple):
        return folder
    named = (each for each in os.environ.get(FOLDERS, "").split(os.pathsep) if each)
    return (tuple(named) or (tempfile.gettempdir(),)) if folder is None else (folder,)


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
