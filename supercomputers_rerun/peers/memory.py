"""Strided sums, pointer chase and STREAM's triad beside the same in C, on the same arrays.

Both sides run on the same team of threads, on the same memory and therefore on the same pages.  C has a strided sum as
one writes it, of whole lines, and of eight items a turn.  Each way built in each manner is a build, of which a short
trial picks those that are timed.
"""

from collections.abc import Callable, Iterator

import numpy as np

from supercomputers_rerun.kernels.memory import latency, stream, stride
from supercomputers_rerun.kernels.runtime.resources import available_memory, run_team
from supercomputers_rerun.peers import Absent, Comparison, differ
from supercomputers_rerun.peers.kit import compiled

_STEP = latency.LINE // latency.ITEM  # items from node to node of a chase
#: What a build's name ends in -> its function.
_WAYS = {"": "stride_sum", ", eight items": "stride_sum_items", ", whole lines": "stride_sum_lines"}


def _size(nbytes: int) -> str:
    return f"{nbytes // 2**20} MiB" if nbytes >= 2**20 else f"{nbytes // 2**10} KiB"


def stride_points(largest: int) -> Iterator[stride.Problem]:
    """The compared part of the sweep: working sets from 16 KiB by factors of 4."""
    for nbytes in (2**14, 2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**28, 2**29):
        for step in (1, 2, 4, 8, 16, 32, 64, 256, 1024):
            if nbytes <= largest and step <= nbytes // stride.ITEM:
                yield stride.Problem(nbytes=nbytes, stride=step)


def _stride(libraries, threads: int, largest: int) -> Iterator[Comparison]:
    whole = stride.Problem(nbytes=largest, pages="huge")
    state = stride.setup(whole)
    stride.run(whole, state, threads=threads)  # makes the other threads' arrays

    def c_side(problem, function) -> Callable:
        def call(repeats=1):
            def work(number):
                out = np.zeros(8, np.uint64)
                function(state.arrays[number], problem.items, problem.stride, repeats, out)
                return out[0]

            return np.array(run_team(work, threads))

        return call

    for problem in stride_points(largest):
        sides = {
            f"{name}{remark}": c_side(problem, compiled.function(library, function, "annna"))
            for name, library in libraries.items()
            for remark, function in _WAYS.items()
            if problem.in_lines or "lines" not in remark
        }
        yield Comparison(
            group="stride bandwidth",
            label=f"{_size(problem.nbytes)}, stride {problem.stride}",
            ours=lambda repeats=1, problem=problem: stride.run(problem, state, threads, repeats).sums,
            peers=sides,
            check=differ,
            tolerance=0,
            builds=sides,
        )


def _chase(libraries, threads: int, largest: int) -> Iterator[Comparison]:
    name, library = next(iter(libraries.items()))  # options change nothing in a chase
    chase = compiled.function(library, "chase", "ann", compiled.KINDS["n"])
    for nbytes in (2**14, 2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**28):
        if nbytes > largest:
            continue
        problem = latency.Problem(nbytes=nbytes, loads=2**14, pages="huge")
        state = latency.setup(problem)
        latency.run(problem, state, threads)
        # the peer keeps its own place, half a cycle away, or whoever comes second found its lines in a cache
        far = state.rank[np.array(state.positions) // _STEP] + problem.nodes // 2
        places = state.order[far % problem.nodes].tolist()

        def theirs(repeats=1, problem=problem, state=state, places=places):
            loads, before = repeats * problem.loads, state.rank[np.array(places) // _STEP]
            places[:] = run_team(lambda number: chase(state.next_item, places[number], loads), threads)
            after = state.rank[np.array(places) // _STEP]
            return (after.astype(int) - before) % problem.nodes

        def ours(repeats=1, problem=problem, state=state):
            return latency.run(problem, state, threads, repeats).advance

        peers = {name: theirs}
        yield Comparison("random latency", _size(nbytes), ours=ours, peers=peers, check=differ, tolerance=0)


def _triad(libraries, threads: int, largest: int) -> Iterator[Comparison | Absent]:
    for past, function in ((False, "triad"), (True, "triad_nontemporal")):
        functions = {name: compiled.function(each, function, "aaadnn") for name, each in libraries.items()}
        if past and not any(each.has_nontemporal() for each in libraries.values()):
            yield Absent("C triad, non-temporal", "peers/c/memory.c knows no such stores on this CPU")
            continue
        for n in (2**20, 2**23, 2**25):
            if 8 * n <= largest:
                problem = stream.Problem(n=n, nontemporal=past, pages="huge")
                yield _triad_of(functions, threads, problem)


def _triad_of(functions, threads: int, problem: stream.Problem) -> Comparison:
    state = stream.setup(problem)
    parts = stream.shares(problem.n, threads)

    def c_side(function) -> Callable:
        def call(repeats=1):
            def work(number):
                a, b, c = (array[parts[number]] for array in (state.a, state.b, state.c))
                function(a, b, c, stream.SCALAR, a.size, repeats)

            if not checked:  # or the peer's result could be what we left behind
                state.a[:] = 0
                checked.append(True)
            run_team(work, threads)
            return state.a[::97].copy()

        checked: list[bool] = []
        return call

    def ours(repeats=1):
        return stream.run(problem, state, threads, repeats).a[::97].copy()

    sides = {name: c_side(function) for name, function in functions.items()}
    return Comparison(
        group=f"triad, {'non-temporal' if problem.nontemporal else 'plain'}",
        label=f"3 × {_size(8 * problem.n)}",
        ours=ours,
        peers=sides,
        check=lambda mine, theirs: float(np.max(np.abs(mine - theirs))),
        tolerance=1e-15,
        builds=sides,
    )


def versions() -> dict[str, str]:
    """Compiler and options of each C build, by each way that the source has."""
    return {f"{name}{way}": said for name, said in compiled.versions().items() for way in _WAYS}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Stride bandwidth, random latency, triad plain and non-temporal, each against our C."""
    libraries, absent = compiled.variants("memory.c")
    yield from absent
    if not libraries:
        return
    largest = min(2**29, 2 ** int(np.log2(max(2**22, available_memory() // (6 * threads)))))
    yield from _stride(libraries, threads, largest)
    yield from _chase(libraries, threads, largest)
    yield from _triad(libraries, threads, largest)
