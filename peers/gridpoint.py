"""The forecast on a grid: stages of its rows beside the same loops in C.

The C side works on our own arrays: same memory, same pages, same order of operations.  Each thread has rows of its
own.
"""

import ctypes
from collections.abc import Callable, Iterator

import numpy as np

from kernels.gridpoint import Problem, setup
from kernels.gridpoint.helmholtz import _product, eliminate, substitute
from kernels.gridpoint.layout import HEADER, Extents, window_row
from kernels.gridpoint.model import Model
from kernels.gridpoint.rows import complete, flow
from kernels.gridpoint.scan import ALONE
from kernels.gridpoint.tendencies import advance, tendency
from kernels.runtime.jit import STRICT, kernel
from kernels.runtime.threads import run_team
from kernels.runtime.vector import address
from peers import Absent, Comparison, relative_difference
from peers.kit import compiled

#: Rows of the operational grid's length and levels; Δt so short that the explicit stages alone are stable.
ROWS = Problem(ni=192, nj=24, levels=15, dt=1.0, hours=0.01, polar=False, writeup=0.0)
#: Passes over all rows in one repeat: the copies of start and answer, one a sample, do not count.
PASSES = 8


class _Plan(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in Extents._fields),
        *((f"array{n}", ctypes.c_void_p) for n in range(17 + 7 + 5 + 5)),
    ]


@kernel(fastmath=STRICT)
def _explicit(plan, arrays, passes):
    nj = plan.size.nj
    for _ in range(passes):
        for j in range(nj + 2):
            if j < nj:
                complete(plan, arrays, j, ALONE)
            if 0 < j <= nj:
                flow(plan, arrays, j - 1, ALONE)
            if j > 1:
                tendency(plan, arrays, j - 2, ALONE)
                advance(plan, arrays, j - 2, ALONE, False)


@kernel(fastmath=STRICT)
def _solve(plan, arrays, passes):
    waves = plan.size.ni // 2 + 1
    for _ in range(passes):
        for j in range(plan.size.nj):
            eliminate(plan, arrays, j, ALONE, waves)
        for j in range(plan.size.nj - 2, -1, -1):
            substitute(plan, arrays, j, ALONE, waves)


@kernel(fastmath=STRICT)
def _products(plan, arrays, passes):
    size = plan.size
    w, scratch, matrix = address(arrays.window), address(arrays.scratch[0]), address(plan.waves.forward)
    base = 4 * size.tendency * size.pitch + 8
    for _ in range(passes):
        for j in range(size.nj):
            given = window_row(size, j, 0).T_change
            modes = 0, 16 * size.groups
            _product(matrix, modes, 2 * size.levels + 1, w, given, size.pitch, (scratch, base), size.pitch, size.ni)


_STAGES = {"explicit": _explicit, "helmholtz": _solve, "products": _products}


class _Band:
    """One thread's rows: a forecast's memory, what the stages start from, and the address book for C."""

    def __init__(self, seed: int):
        self.model = Model(ROWS, setup(ROWS), 1)
        self.plan, self.arrays = self.model.plan, self.model.arrays
        _explicit(self.plan, self.arrays, 1)
        self.records = self.arrays.records.copy()
        self.hat = np.random.default_rng(seed).normal(size=self.arrays.halves.shape)
        waves = self.plan.waves
        self.kept = [
            *self.plan.rows[:17],
            *self.plan.column,
            waves.forward,
            waves.backward,
            waves.inverse,
            waves.speed2,
        ]
        self.kept += [np.array(self.plan.scale), *self.arrays]
        self.book = _Plan(*self.plan.size, *(array.ctypes.data for array in self.kept))

    def reset(self, stage: str) -> None:
        if stage == "explicit":
            self.arrays.records[:] = self.records
        elif stage == "helmholtz":
            self.arrays.halves[:] = self.hat

    def answer(self, stage: str) -> np.ndarray:
        size = self.plan.size
        if stage == "explicit":
            return self.arrays.records[:, HEADER:-HEADER].copy()  # the magic number would be the largest
        if stage == "helmholtz":
            return self.arrays.halves.copy()
        start = 4 * size.tendency * size.pitch + 8
        rows = self.arrays.scratch[0, start : start + size.levels * size.pitch].reshape(-1, size.pitch)
        return rows[:, : size.ni].copy()


def _ours(band: _Band, stage: str, passes: int) -> None:
    _STAGES[stage](band.plan, band.arrays, passes)


def _side(bands: list[_Band], stage: str, work: Callable) -> Callable:
    """One side of a comparison: every thread's rows from their start, so many passes, and the answer."""

    def call(repeats=1):
        def member(number: int):
            bands[number].reset(stage)
            work(bands[number], stage, PASSES * repeats)

        run_team(member, len(bands))
        return np.stack([band.answer(stage) for band in bands])

    return call


def _c_side(library) -> Callable:
    def work(band, stage, passes):
        getattr(library, f"gridpoint_{stage}")(ctypes.byref(band.book), ctypes.c_int64(passes))

    return work


versions = compiled.versions


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Stages of rows on one thread or two, each with rows of its own."""
    libraries, absent = compiled.variants("gridpoint.c")
    yield from absent
    if not libraries:
        return
    bands = [_Band(seed) for seed in range(threads)]
    what = {
        "explicit": "explicit stages of a row",
        "helmholtz": "elimination and substitution",
        "products": "vertical products",
    }
    for stage, label in what.items():
        yield Comparison(
            group="forecast on a grid",
            label=f"{label}, {threads * ROWS.nj} rows of {ROWS.ni} points and {ROWS.levels} levels",
            ours=_side(bands, stage, _ours),
            peers={name: _side(bands, stage, _c_side(library)) for name, library in libraries.items()},
            check=relative_difference,
            tolerance=1e-12,
            builds=libraries,
        )
