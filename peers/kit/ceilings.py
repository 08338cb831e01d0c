"""What this host can do at most, measured in the run that is held against it: operations, and bytes by memory level.

The peak is that of multiply-adds in registers (:mod:`kernels.processor.peak`).  The bandwidth of a level is the
best of a unit-stride sum and STREAM's triad, plain and past the caches, on arrays that fill half of the level; of
memory, on arrays four times as large as the last cache.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from companion.bench.engine import interleave
from companion.host import machine
from kernels.memory import stream, stride
from kernels.processor import peak
from kernels.runtime.resources import available_memory

_ROUNDS = 9
_LARGEST = 2**29  # bytes of the arrays that are in memory alone
#: Where the system does not tell its caches: level, bytes, CPUs that share it.
_UNKNOWN = ((1, 2**15, 1), (2, 2**20, 1))


def _caches(threads: int) -> list[tuple[str, int]]:
    """Name of each level and the bytes that it holds for so many threads, smallest first."""
    told = [
        (each["level"], each["bytes"], each["shared_by"] or 1)
        for each in machine.describe()["caches"]
        if each["bytes"] and each["level"] and each["type"] != "instruction"
    ]
    return [(f"L{level}", size * -(-threads // shared)) for level, size, shared in told or _UNKNOWN]


def _best(module, problem, threads: int) -> float:
    """Seconds of one repeat of a kernel, the fastest of a few samples."""
    state = module.setup(problem)

    def call(repeats=1):
        module.run(problem, state, threads, repeats)

    return float(interleave({"ceiling": call}, rounds=_ROUNDS)["ceiling"].min())


def _bandwidth(size: int, threads: int, beyond: bool) -> float:
    """Bytes a second on ``size`` bytes of all threads; ``beyond`` the caches, stores may go past them."""
    line = 8 * threads
    found: list[tuple[Any, Any]] = [(stride, stride.Problem(nbytes=size // threads // 4096 * 4096, pages="huge"))]
    for nontemporal in (False, True)[: 1 + beyond]:
        n = size // 24 // line * line
        found.append((stream, stream.Problem(n=n, nontemporal=nontemporal, pages="huge")))
    return max(module.work(problem, threads).bytes / _best(module, problem, threads) for module, problem in found)


def measure(threads: int) -> dict[str, Any]:
    """Peak in operations a second, and for each level its name, what it holds and its bytes a second."""
    problem = peak.Problem(n=2**14)
    caches = _caches(threads)
    levels = [{"level": name, "holds": holds, "rate": _bandwidth(holds // 2, threads, False)} for name, holds in caches]
    free = available_memory() or 4 * _LARGEST
    size = min(max(4 * caches[-1][1], 2**26), _LARGEST, free // 4)
    levels.append({"level": "memory", "holds": None, "rate": _bandwidth(size, threads, True)})
    for nearer, further in reversed(list(pairwise(levels))):  # what is nearer is never slower: then the sample was poor
        nearer["rate"] = max(nearer["rate"], further["rate"])
    rate = peak.work(problem, threads).flops / _best(peak, problem, threads)
    return {"flops": rate, "levels": levels}


def of(counts: Iterable[int]) -> dict[str, Any]:
    """By number of threads, as a record keeps it."""
    return {str(threads): measure(threads) for threads in counts}
