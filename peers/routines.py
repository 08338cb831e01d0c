"""The routines of the IFS profiles beside NumPy and the same in C, on the same blocks and threads.

The C library has an exponential for one number, which looks up a table and is quicker than our
polynomial, and under -ffast-math a vectorised one; our two builds share one polynomial, so that their
results are equal.  That is why our scalar saturation adjustment is the slower one.
"""

import ctypes
import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from kernels.routines import cloud, interpolation, matmul, saturation, vertical
from kernels.routines.blocking import block_range
from kernels.runtime.threads import run_team
from peers import Absent, Comparison, relative_difference
from peers.kit import compiled

#: The compiler's vectoriser at work, and kept from it: what the scalar builds are compared with.
OPTION_SETS = {
    **compiled.OPTION_SETS,
    "-O3 512-bit fast-math": ("-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"),
}
SCALAR_OPTIONS = {"-O3 scalar": ("-O3", "-march=native", "-fno-tree-vectorize")}


def _function(library: ctypes.CDLL, name: str, kinds: str) -> Callable:
    """The C function, its arguments arrays (``a``), whole numbers (``n``) and doubles (``d``)."""
    types = {"a": ctypes.c_void_p, "n": ctypes.c_int64, "d": ctypes.c_double}
    function = getattr(library, name)
    function.argtypes = [types[kind] for kind in kinds]
    function.restype = None
    return lambda *args: function(*(arg.ctypes.data if isinstance(arg, np.ndarray) else arg for arg in args))


def _on_blocks(problem, threads: int, work: Callable, out: np.ndarray) -> Callable:
    def call(repeats=1):
        def member(number):
            for _ in range(repeats):
                work(*block_range(problem.blocks, threads, number))

        run_team(member, threads)
        return out

    return call


def _c_saturation(library, problem, state, threads):
    function = _function(library, "saturation", "aaaaannnnnn")
    t, q = np.zeros_like(state.t), np.zeros_like(state.q)
    return _on_blocks(
        problem,
        threads,
        lambda first, end: function(
            state.t, state.q, state.p, t, q, first, end, problem.levels, problem.row, problem.count, problem.iterations
        ),
        t,
    )


def _c_vertical(library, problem, state, threads):
    function = _function(library, "vertical", "anaannnnn")
    out = np.zeros_like(state.integral)
    return _on_blocks(
        problem,
        threads,
        lambda first, end: function(
            state.weights, state.weights.shape[1], state.f, out, first, end, problem.levels, problem.row, problem.count
        ),
        out,
    )


def _c_cloud(library, problem, state, threads):
    function = _function(library, "cloud", "aaannnnnnnd")
    new, fallen = np.zeros_like(state.new), np.zeros_like(state.fallen)
    return _on_blocks(
        problem,
        threads,
        lambda first, end: function(
            state.inputs,
            new,
            fallen,
            new[0].size,
            fallen[0].size,
            first,
            end,
            problem.levels,
            problem.row,
            problem.count,
            float(problem.timestep),
        ),
        new,
    )


def _c_interpolation(library, problem, state, threads):
    function = _function(library, problem.scheme, "aaannnnnnnn")
    along, up = problem.strides
    start, out = up + problem.margin * (along + 1), np.zeros_like(state.values)
    return _on_blocks(
        problem,
        threads,
        lambda first, end: function(
            state.field, state.stencil, out, start, along, up, first, end, problem.levels, problem.row, problem.count
        ),
        out,
    )


def _c_product(library, problem, state, threads):
    function = _function(library, "matmul", "anananannnn")
    out, row = np.zeros_like(state.out), state.p.shape[1]

    def call(repeats=1):
        def member(number):
            for _ in range(repeats):
                function(
                    state.terms,
                    len(state.terms),
                    state.spectrum,
                    state.spectrum.shape[1],
                    state.p,
                    row,
                    out,
                    number,
                    threads,
                    row,
                    problem.fields,
                )

        run_team(member, threads)
        return out

    return call


def _numpy_saturation(problem, state):
    return lambda: saturation.reference(problem, state).t_new


def _numpy_vertical(problem, state):
    return lambda: vertical.reference(problem, state).integral


def _numpy_product(problem, state):
    return lambda: matmul.reference(problem, state).out


def _cases():
    """(group, label, module, problem, what run returns, C side, NumPy side or None)."""
    for nproma in (8, 32, 128):
        yield (
            f"nproma {nproma}",
            saturation,
            saturation.Problem.preset("quick", nproma=nproma),
            "t_new",
            _c_saturation,
            _numpy_saturation,
        )
    for nproma in (8, 32, 128):
        yield (f"nproma {nproma}", cloud, cloud.Problem.preset("quick", nproma=nproma), "new", _c_cloud, None)
    for levels, nproma in ((62, 16), (62, 64), (137, 32), (137, 64)):
        yield (
            f"{levels} levels, nproma {nproma}",
            vertical,
            vertical.Problem(columns=2048, levels=levels, nproma=nproma),
            "integral",
            _c_vertical,
            _numpy_vertical,
        )
    for scheme in ("linear", "cubic"):
        for nproma in (16, 64):
            yield (
                f"{scheme}, nproma {nproma}",
                interpolation,
                interpolation.Problem.preset("quick", scheme=scheme, nproma=nproma),
                "values",
                _c_interpolation,
                None,
            )
    for truncation, latitudes, fields in ((63, 32, 40), (159, 80, 60), (159, 80, 186)):
        yield (
            f"T{truncation}, {fields} fields",
            matmul,
            matmul.Problem(truncation=truncation, latitudes=latitudes, fields=fields),
            "out",
            _c_product,
            _numpy_product,
        )


def versions() -> dict[str, str]:
    """Compiler and options of each C build; NumPy."""
    return compiled.versions({**OPTION_SETS, **SCALAR_OPTIONS}) | {"NumPy": np.__version__}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Vector builds beside vectorised C and NumPy, scalar builds beside C that is not vectorised."""
    for build, options in (("vector", OPTION_SETS), ("scalar", SCALAR_OPTIONS)):
        libraries, absent = compiled.variants("routines.c", options)
        yield from absent
        for label, module, quick, written, c_side, numpy_side in _cases():
            problem = dataclasses.replace(quick, build=build)
            state = module.setup(problem)

            def ours(repeats=1, module=module, problem=problem, state=state, written=written):
                return getattr(module.run(problem, state, threads, repeats), written)

            sides = {name: c_side(library, problem, state, threads) for name, library in libraries.items()}
            if numpy_side is not None and build == "vector":
                sides["NumPy"] = numpy_side(problem, state)
            yield Comparison(
                group=f"{module.__name__.rpartition('.')[2]}, {build}",
                label=label,
                ours=ours,
                peers=sides,
                check=relative_difference,
                tolerance=1e-12,
                builds=libraries,
                work=module.work(problem, threads),
                size=module.footprint(problem).memory_of(threads),
            )
