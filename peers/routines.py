"""The routines of the IFS profiles beside NumPy and the same in C, on the same blocks and threads.

The C library has an exponential for one number, which looks up a table, and under -ffast-math a vectorised one; our
two builds share one polynomial, so that their results are equal.  Our scalar saturation adjustment makes up for its
longer chain of operations by taking four columns step by step; C takes the steps row by row.

NumPy's products run on as many threads as ours: left to itself OpenBLAS takes all of them from 137 levels on.
"""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from kernels.routines import cloud, interpolation, matmul, saturation, vertical
from kernels.routines.blocking import over_blocks
from kernels.runtime.threads import run_team
from peers import Absent, Comparison, relative_difference
from peers.kit import compiled

#: The compiler's vectoriser at work, and kept from it: what the scalar builds are compared with.
OPTION_SETS = {
    **compiled.OPTION_SETS,
    "-O3 512-bit fast-math": ("-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"),
}
SCALAR_OPTIONS = {"-O3 scalar": ("-O3", "-march=native", "-fno-tree-vectorize")}


def _on_blocks(library, name: str, kinds: str, problem, threads: int, arrays, out: np.ndarray, *more) -> Callable:
    """The C function on every block: ``arrays``, first block and end, levels, row, places of a row, and ``more``."""
    function = compiled.function(library, name, kinds)

    def call(repeats=1):
        over_blocks(problem, lambda part: function(*arrays, *part, *more), threads, repeats)
        return out

    return call


def _c_saturation(library, problem, state, threads):
    t, q = np.zeros_like(state.t), np.zeros_like(state.q)
    arrays = state.t, state.q, state.p, t, q
    return _on_blocks(library, "saturation", "aaaaannnnnn", problem, threads, arrays, t, problem.iterations)


def _c_vertical(library, problem, state, threads):
    out = np.zeros_like(state.integral)
    arrays = state.weights, state.weights.shape[1], state.f, out
    return _on_blocks(library, "vertical", "anaannnnn", problem, threads, arrays, out)


def _c_cloud(library, problem, state, threads):
    new, fallen = np.zeros_like(state.new), np.zeros_like(state.fallen)
    arrays = state.inputs, new, fallen, new[0].size, fallen[0].size
    return _on_blocks(library, "cloud", "aaannnnnnnd", problem, threads, arrays, new, float(problem.timestep))


def _c_interpolation(library, problem, state, threads):
    along, up = problem.strides
    start, out = up + problem.margin * (along + 1), np.zeros_like(state.values)
    arrays = state.field, state.stencil, out, start, along, up
    return _on_blocks(library, problem.scheme, "aaannnnnnnn", problem, threads, arrays, out)


def _c_product(library, problem, state, threads):
    function = compiled.function(library, "matmul", "anananannnn")
    out, row = np.zeros_like(state.out), state.p.shape[1]
    arrays = state.terms, len(state.terms), state.spectrum, state.spectrum.shape[1], state.p, row, out

    def call(repeats=1):
        def member(number):
            for _ in range(repeats):
                function(*arrays, number, threads, row, problem.fields)

        run_team(member, threads)
        return out

    return call


#: Routine -> what its run returns, its C side, and whether its reference is NumPy as one would write it.
_SIDES = {
    saturation: ("t_new", _c_saturation, True),
    cloud: ("new", _c_cloud, False),
    vertical: ("integral", _c_vertical, True),
    interpolation: ("values", _c_interpolation, False),
    matmul: ("out", _c_product, True),
}


def _cases():
    """Label, routine and problem."""
    for module in (saturation, cloud):
        for nproma in (8, 32, 128):
            yield f"nproma {nproma}", module, module.Problem.preset("quick", nproma=nproma)
    for levels, nproma in ((62, 16), (62, 64), (137, 32), (137, 64)):
        problem = vertical.Problem(columns=2048, levels=levels, nproma=nproma)
        yield f"{levels} levels, nproma {nproma}", vertical, problem
    for scheme in ("linear", "cubic"):
        for nproma in (16, 64):
            problem = interpolation.Problem.preset("quick", scheme=scheme, nproma=nproma)
            yield f"{scheme}, nproma {nproma}", interpolation, problem
    for truncation, latitudes, fields in ((63, 32, 40), (159, 80, 60), (159, 80, 186)):
        problem = matmul.Problem(truncation=truncation, latitudes=latitudes, fields=fields)
        yield f"T{truncation}, {fields} fields", matmul, problem


def versions() -> dict[str, str]:
    """Compiler and options of each C build; NumPy."""
    return compiled.versions({**OPTION_SETS, **SCALAR_OPTIONS}) | {"NumPy": np.__version__}


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Vector builds beside vectorised C and NumPy, scalar builds beside C that is not vectorised."""
    with threadpool_limits(threads, "blas"):  # or NumPy's larger products take all threads beside one of ours
        for build, options in (("vector", OPTION_SETS), ("scalar", SCALAR_OPTIONS)):
            libraries, absent = compiled.variants("routines.c", options)
            yield from absent
            for label, module, quick in _cases():
                yield _comparison(label, module, dataclasses.replace(quick, build=build), libraries, threads)


def _comparison(label: str, module, problem, libraries: dict, threads: int) -> Comparison:
    """One case: the routine beside its C in every one of ``libraries``, and beside NumPy."""
    written, c_side, by_numpy = _SIDES[module]
    state = module.setup(problem)
    sides = {name: c_side(library, problem, state, threads) for name, library in libraries.items()}
    if by_numpy and problem.build == "vector":
        sides["NumPy"] = lambda: getattr(module.reference(problem, state), written)

    def ours(repeats=1):
        return getattr(module.run(problem, state, threads, repeats), written)

    return Comparison(
        group=f"{module.__name__.rpartition('.')[2]}, {problem.build}",
        label=label,
        ours=ours,
        peers=sides,
        check=relative_difference,
        tolerance=1e-12,
        builds=libraries,
    )
