"""Strided sums, pointer chase and STREAM's triad beside the same in C, on the same arrays.

Both sides run on the same team of threads, on the same memory and therefore on the same pages.  C has a strided sum
in the ways that our side has, and as the loop that one would write.  Each way built in each manner is a build, of which
a short trial picks those that are timed, as one picks our loop.  Three questions are asked, each where it is one of its
own: bytes of whole lines, a load for each item, and items by any means.
"""

import ctypes
from collections.abc import Callable, Iterator

import numpy as np

from kernels.memory import latency, stream, stride
from kernels.runtime.resources import available_memory
from kernels.runtime.threads import run_team
from peers import Absent, Comparison
from peers.kit import compiled

#: What a build's name ends in, by the way in which it reads: the function, and how many steps it asks ahead.
_LINES = {
    ", whole lines": ("stride_sum_lines", 0),
    ", whole lines, prefetch": ("stride_sum_lines_prefetch", 0),
    ", whole lines, two streams": ("stride_sum_lines_streams", 0),
    ", whole lines, four streams": ("stride_sum_lines_four_streams", 0),
}
_ITEMS = {
    "": ("stride_sum", 0),
    ", four sums": ("stride_sum_four", 0),
    ", prefetch 16": ("stride_sum_prefetch", 16),
    ", prefetch 64": ("stride_sum_prefetch", 64),
    ", two streams": ("stride_sum_streams", 0),
    ", four streams": ("stride_sum_four_streams", 0),
}
_FEW = {", few items": ("stride_sum_few", 0)}
_GATHERS = {", gathers": ("stride_sum_gathers", 0)}
_WAYS = _LINES | _ITEMS | _FEW | _GATHERS
#: Names of the three questions; a stride beyond 8 has whole lines by any means.
_GROUPS = {"vector": "stride, whole lines", "scalar": "stride, a load an item", "any": "stride bandwidth"}


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer, size, real = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_double
    for name, _ in _WAYS.values():
        function = getattr(library, name)
        function.argtypes, function.restype = [pointer, size, size, size, size, pointer], None
    library.chase.argtypes = [pointer, size, size]
    library.chase.restype = size
    for name, result in (("triad", None), ("triad_lines", None), ("triad_nontemporal", ctypes.c_int)):
        function = getattr(library, name)
        function.argtypes = [pointer, pointer, pointer, real, size, size]
        function.restype = result
    return library


def _size(nbytes: int) -> str:
    return f"{nbytes // 2**20} MiB" if nbytes >= 2**20 else f"{nbytes // 2**10} KiB"


def stride_points(largest: int) -> Iterator[stride.Problem]:
    """The compared part of the sweep: working sets from 16 KiB by factors of 4, strides by 4.

    Whole lines are a question up to stride 8, and a load for each item from stride 2 on: of stride 1, C makes vectors.
    """
    for nbytes in (2**14, 2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**28, 2**29):
        for step in (1, 2, 4, 8, 16, 32, 64, 256, 1024):
            for loads in stride.LOADS:
                known = {"vector": step <= stride.LARGEST_IN_LINE, "scalar": step > 1, "any": True}[loads]
                if nbytes <= largest and step <= nbytes // stride.ITEM and known:
                    yield stride.Problem(nbytes=nbytes, stride=step, loads=loads)


def _ways(problem: stride.Problem) -> dict[str, tuple[str, int]]:
    """How C answers the question; at stride 1 the plain loop reads whole lines."""
    if problem.in_lines:
        return _LINES | ({"": _ITEMS[""]} if problem.stride == 1 else {})
    items = _ITEMS | (_FEW if problem.reads <= stride.LARGEST_FEW else {})
    if problem.loads == "scalar":
        return items
    return (_LINES if problem.stride <= stride.LARGEST_IN_LINE else {}) | items | _GATHERS


def _stride(libraries, threads: int, largest: int) -> Iterator[Comparison]:
    whole = stride.Problem(nbytes=largest, pages="huge")
    state = stride.setup(whole)
    stride.run(whole, state, threads=threads)  # makes the other threads' arrays

    def c_side(problem, function, ahead) -> Callable:
        asked = problem.items, problem.stride, ahead

        def call(repeats=1):
            def work(number):
                out = np.zeros(16, np.uint32)
                function(state.arrays[number].ctypes.data, *asked, repeats, out.ctypes.data)
                return int(out[0])

            return np.array(run_team(work, threads))

        return call

    for problem in stride_points(largest):
        sides = {
            f"{name}{remark}": c_side(problem, getattr(library, function), ahead)
            for name, library in libraries.items()
            for remark, (function, ahead) in _ways(problem).items()
        }
        yield Comparison(
            group=_GROUPS[problem.loads],
            label=f"{_size(problem.nbytes)}, stride {problem.stride}",
            ours=lambda repeats=1, problem=problem: stride.run(problem, state, threads, repeats).sums,
            peers=sides,
            check=lambda ours, theirs: float(np.count_nonzero(ours.astype(np.int64) != theirs)),
            tolerance=0,
            builds=sides,
        )


def _chase(libraries, threads: int, largest: int) -> Iterator[Comparison]:
    # The options change nothing in a chase: one build is the peer, so that its luck is not counted thrice.
    libraries = dict(list(libraries.items())[:1])
    for nbytes in (2**14, 2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**28):
        if nbytes > largest:
            continue
        problem = latency.Problem(nbytes=nbytes, loads=2**14, pages="huge")
        state = latency.setup(problem)
        latency.run(problem, state, threads)

        def c_side(library, problem=problem, state=state) -> Callable:
            # the peer keeps its own place, half a cycle away, or whoever comes second found its lines in a cache
            far = state.rank[np.array(state.positions) // (problem.spacing // latency.ITEM)] + problem.nodes // 2
            places = state.order[far % problem.nodes].tolist()

            def call(repeats=1):
                loads = repeats * problem.loads
                before = list(places)

                def work(number):
                    return library.chase(state.next_item.ctypes.data, before[number], loads)

                places[:] = run_team(work, threads)
                step = problem.spacing // latency.ITEM
                return np.array(
                    [
                        (int(state.rank[b // step]) - int(state.rank[a // step])) % problem.nodes
                        for a, b in zip(before, places, strict=True)
                    ]
                )

            return call

        def ours(repeats=1, problem=problem, state=state):
            return latency.run(problem, state, threads, repeats).advance

        yield Comparison(
            group="random latency",
            label=_size(nbytes),
            ours=ours,
            peers={name: c_side(library) for name, library in libraries.items()},
            check=lambda mine, theirs: float(np.count_nonzero(mine != theirs)),
            tolerance=0,
        )


def _triad(libraries, threads: int, largest: int) -> Iterator[Comparison | Absent]:
    for nontemporal in (False, True):
        if nontemporal and not all(
            library.triad_nontemporal(None, None, None, 0.0, 0, 0) for library in libraries.values()
        ):
            yield Absent("C triad, non-temporal", "peers/c/memory.c knows no such stores on this CPU")
            continue
        for n in (2**20, 2**23, 2**25):
            if 8 * n <= largest:
                problem = stream.Problem(n=n, nontemporal=nontemporal, pages="huge")
                yield _triad_of(libraries, threads, problem)


def _triad_of(libraries, threads: int, problem: stream.Problem) -> Comparison:
    state = stream.setup(problem)
    parts = stream.shares(problem.n, threads)

    def c_side(function) -> Callable:
        def call(repeats=1):
            def work(number):
                a, b, c = (array[parts[number]] for array in (state.a, state.b, state.c))
                function(a.ctypes.data, b.ctypes.data, c.ctypes.data, stream.SCALAR, a.size, repeats)

            if not checked:  # or the peer's result could be what we left behind
                state.a[:] = 0
                checked.append(True)
            run_team(work, threads)
            return state.a[::97].copy()

        checked: list[bool] = []
        return call

    def ours(repeats=1):
        return stream.run(problem, state, threads, repeats).a[::97].copy()

    kind = "non-temporal" if problem.nontemporal else "plain"
    ways = {"": "triad_nontemporal"} if problem.nontemporal else {"": "triad", ", whole lines": "triad_lines"}
    sides = {
        f"{name}{remark}": c_side(getattr(library, function))
        for name, library in libraries.items()
        for remark, function in ways.items()
    }
    return Comparison(
        group=f"triad, {kind}",
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
    for library in libraries.values():
        _declared(library)
    free = available_memory()
    largest = 2**29 if free is None else min(2**29, 2 ** int(np.log2(max(2**22, free // (6 * threads)))))
    yield from _stride(libraries, threads, largest)
    yield from _chase(libraries, threads, largest)
    yield from _triad(libraries, threads, largest)
