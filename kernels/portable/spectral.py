"""Inverse and direct spectral transforms, ``kernels.spectral``, of a few fields on a full Gaussian grid.

The tables of the Legendre functions and of the Fourier transforms come as data: they are computed with twice the
digits that a browser's numbers have.  Two arrays carry everything: ``whole`` numbers and ``tables`` of real ones.
"""

import numpy as np
from numba import carray

from kernels import spectral
from kernels.portable.case import Answer, Array, Call, Case
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address
from kernels.runtime.wasm import Export
from kernels.spectral import fourier_rows, legendre_eight
from kernels.spectral.fourier import FACTORS
from kernels.spectral.fourier import Tables as Lengths
from kernels.spectral.fourier_rows import _direct_share as direct_rows
from kernels.spectral.fourier_rows import _inverse_share as inverse_rows
from kernels.spectral.legendre import BLOCK, Tables, coefficients
from kernels.spectral.legendre_eight import _direct_share as direct_legendre
from kernels.spectral.legendre_eight import _inverse_share as inverse_legendre
from kernels.spectral.spectra import Spectra
from kernels.spectral.tasks import Buffer, Rows

#: Numbers at the beginning of ``whole``: sizes, then where each table begins.
_SIZES = ("truncation", "rows", "blocks", "terms", "lengths", "largest", "columns", "points", "fields", "ncoef")
_T, _ROWS, _BLOCKS, _TERMS, _LENGTHS, _LARGEST, _COLUMNS, _POINTS, _FIELDS, _NCOEF = range(len(_SIZES))
_WHOLE = ("offset", "first_row", "first", "info", "radices", "where", "north", "south", "counts", "places", "waves")
_WHOLE += ("starts", "lanes")
_REAL = ("factors", "squares", "seeds", "table", "inverse", "direct", "weights")
_AT = len(_SIZES)
_AT_REAL = _AT + len(_WHOLE)
_HEAD = _AT_REAL + len(_REAL)
_OFFSET, _FIRST_ROW, _FIRST, _INFO, _RADICES, _WHERE, _NORTH, _SOUTH, _COUNTS, _PLACES, _WAVES, _STARTS, _LANES = range(
    _AT, _AT_REAL
)
_FACTORS, _SQUARES, _SEEDS, _TABLE, _INVERSE, _DIRECT, _WEIGHTS = range(_AT_REAL, _HEAD)


@kernel
def _ints(whole, which, shape):
    return carray(address(whole[whole[which] :]), shape)


@kernel
def _reals(whole, tables, which, shape):
    return carray(address(tables[whole[which] :]), shape)


@kernel
def _legendre(whole, tables):
    top, blocks = whole[_T], whole[_BLOCKS]
    return Tables(
        _reals(whole, tables, _FACTORS, (5, whole[_TERMS])),
        _ints(whole, _OFFSET, (top + 1,)),
        _reals(whole, tables, _SQUARES, (blocks * BLOCK,)),
        whole[_ROWS],
        _ints(whole, _FIRST_ROW, (top + 1,)),
        _ints(whole, _FIRST, (top + 1, blocks)),
        _reals(whole, tables, _SEEDS, (top + 1, blocks, 2 * BLOCK)),
    )


@kernel
def _lengths(whole, tables):
    count = whole[_LENGTHS]
    return Lengths(
        _ints(whole, _INFO, (count, 7)),
        _ints(whole, _RADICES, (count, FACTORS)),
        _reals(whole, tables, _TABLE, (tables.size - whole[_TABLE],)),
        whole[_LARGEST],
        whole[_COLUMNS],
    )


@kernel
def _rows(whole, tables, which):
    rows = whole[_ROWS]
    return Rows(
        _ints(whole, _WHERE, (rows, 5)),
        _ints(whole, _NORTH, (rows, LANES)),
        _ints(whole, _SOUTH, (rows, LANES)),
        _reals(whole, tables, which, (rows, 2 * LANES)),
    )


@kernel
def _buffer(whole, values, which, count):
    return Buffer(values, _ints(whole, which, (count,)), _ints(whole, _COUNTS, (whole[_ROWS],)), False)


@kernel
def _spectra(whole, values):
    return Spectra(values, _ints(whole, _STARTS, (whole[_T] + 2,)), 0, _ints(whole, _LANES, (LANES,)), LANES)


def begin(whole, tables, spectrum, sizes):
    """The coefficients of the recurrence, and a spectrum of numbers between −1 and 1."""
    sizes = carray(sizes, (3,))
    whole, tables = carray(whole, (sizes[0],)), carray(tables, (sizes[1],))
    top, count = whole[_T], whole[_NCOEF]
    coefficients(top, _ints(whole, _OFFSET, (top + 1,)), _reals(whole, tables, _FACTORS, (5, whole[_TERMS])))
    spectrum = carray(spectrum, (2 * count * whole[_FIELDS],))
    for i in range(spectrum.size):
        mixed = (np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)
        real = i % 2 == 0 or i // 2 % count > top
        spectrum[i] = np.float64(mixed) * 2.0**-51 - 1.0 if real else 0.0


def transform(whole, tables, spectrum, values, back, buffer, scratch, sizes, repeats):
    """``repeats`` times every field to the grid and back, ``LANES`` at a time."""
    sizes = carray(sizes, (3,))
    whole, tables = carray(whole, (sizes[0],)), carray(tables, (sizes[1],))
    top, fields, points, count = whole[_T], whole[_FIELDS], whole[_POINTS], 2 * whole[_NCOEF]
    spectrum, back = carray(spectrum, (count * fields,)), carray(back, (count * fields,))
    values, scratch = carray(values, (points * fields,)), carray(scratch, (sizes[2],))
    legendre, lengths = _legendre(whole, tables), _lengths(whole, tables)
    data = carray(buffer, (1,))
    lines, waves = _buffer(whole, data, _PLACES, whole[_ROWS]), _buffer(whole, data, _WAVES, top + 1)
    inverse, direct = _rows(whole, tables, _INVERSE), _rows(whole, tables, _DIRECT)
    for _ in range(repeats):
        for field in range(0, fields, LANES):
            given, found = spectrum[field * count :], back[field * count :]
            grid = values[field * points :]
            inverse_legendre(0, 1, legendre, _spectra(whole, given), scratch, lines)
            inverse_rows(0, 1, inverse, lengths, scratch, lines, grid, False)
            direct_rows(0, 1, direct, lengths, scratch, grid, waves)
            direct_legendre(0, 1, legendre, _spectra(whole, found), scratch, waves)


def found(whole, tables, spectrum, values, back, sizes, answers):
    """Largest difference after the round trip; mean square on the grid against that of the spectra, relative."""
    sizes = carray(sizes, (3,))
    whole, tables, answers = carray(whole, (sizes[0],)), carray(tables, (sizes[1],)), carray(answers, (2,))
    fields, points, count, rows = whole[_FIELDS], whole[_POINTS], whole[_NCOEF], whole[_ROWS]
    spectrum, back = carray(spectrum, (2 * count * fields,)), carray(back, (2 * count * fields,))
    values, weights = carray(values, (points * fields,)), _reals(whole, tables, _WEIGHTS, (2 * rows,))
    worst, of_spectra, of_values = 0.0, 0.0, 0.0
    for i in range(spectrum.size):
        difference = abs(back[i] - spectrum[i])
        worst = difference if difference > worst or difference != difference else worst
        of_spectra += spectrum[i] ** 2 * (1.0 if i // 2 % count <= whole[_T] else 2.0)
    length = points // (2 * rows)
    for i in range(values.size):
        of_values += values[i] ** 2 * weights[i % points // length]
    answers[0] = worst
    answers[1] = of_values / of_spectra - 1.0


_F, _I = "float64[]", "int64[]"
EXPORTS = (
    Export("spectral_begin", begin, (_I, _F, _F, _I)),
    Export("spectral_transform", transform, (_I, _F, _F, _F, _F, _F, _F, _I, "int64")),
    Export("spectral_found", found, (_I, _F, _F, _F, _F, _I, _F)),
)


def _flat(plan: spectral.Plan, fields: int) -> tuple[np.ndarray, np.ndarray]:
    """``whole`` and ``tables`` of a plan."""
    t, lengths, many = plan._tables, plan._lengths.tables, plan._many
    lanes = np.arange(LANES) * plan.grid.points
    weights = plan.grid.weights / (2.0 * plan.grid.pl)
    rows = [plan._rows(direct, LANES, 0)[3] for direct in (False, True)]
    whole = (t.offset, t.first_row, t.first, lengths.info, lengths.radices, many.where, many.north + lanes)
    whole += (many.south + lanes, many.counts, many.places, many.waves, plan._columns[0])
    whole += (np.arange(LANES) * 2 * plan.ncoef,)
    real = (t.squares, t.seeds, *rows, weights, lengths.table)
    sizes = (plan.truncation, plan.nlat, t.first.shape[1], t.factors.shape[1], len(lengths.info), lengths.largest)
    sizes += (lengths.columns, plan.grid.points, fields, plan.ncoef)
    starts = [_HEAD + sum(part.size for part in whole[:k]) for k in range(len(whole))]
    order = ("squares", "seeds", "inverse", "direct", "weights", "table", "factors")
    begins = dict(zip(order, np.cumsum([0, *(part.size for part in real)]), strict=True))
    head = [*sizes, *starts, *(int(begins[name]) for name in _REAL)]
    return (
        np.concatenate([head, *(part.ravel() for part in whole)]).astype(np.int64),
        np.concatenate([part.ravel() for part in real]),
    )


def case(truncation: int, grid: str, fields: int = LANES) -> Case:
    """One truncation on one full grid; as many ``fields`` as a vector has lanes, or a multiple."""
    problem = spectral.Problem(truncation, grid, fields)
    plan = spectral.Plan(grid, truncation)
    whole, tables = _flat(plan, fields)
    length = tables.size + plan._tables.factors.size  # which ``begin`` computes
    scratch = max(
        fourier_rows.scratch_size(plan._lengths),
        legendre_eight.scratch_size(truncation, plan._tables.first.shape[1]),
    )
    return Case(
        name=f"spectral-{truncation}",
        label=f"transforms of truncation {truncation}",
        kernel="spectral",
        problem={"truncation": truncation, "grid": grid, "fields": fields},
        arrays={
            "whole": Array(_I, whole.size, whole),
            "tables": Array(_F, length, tables),
            "spectrum": Array(_F, 2 * plan.ncoef * fields),
            "values": Array(_F, plan.grid.points * fields),
            "back": Array(_F, 2 * plan.ncoef * fields),
            "buffer": Array(_F, plan._many.size),
            "scratch": Array(_F, scratch + LANES),
            "sizes": Array(_I, 3, (whole.size, length, scratch + LANES)),
        },
        prepare=(Call("spectral_begin", ("whole", "tables", "spectrum", "sizes")),),
        run=Call(
            "spectral_transform",
            ("whole", "tables", "spectrum", "values", "back", "buffer", "scratch", "sizes", "repeats"),
        ),
        verify=Call("spectral_found", ("whole", "tables", "spectrum", "values", "back", "sizes", "answers")),
        answers=(
            Answer("round trip, coefficients within ±1", 0.0, 2e-12),
            Answer("mean square on the grid against spectra, relative", 0.0, 1e-12),
        ),
        work=spectral.work(problem),
    )
