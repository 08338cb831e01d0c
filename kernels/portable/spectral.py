"""Inverse and direct spectral transforms, ``kernels.spectral``, of a few fields on a full Gaussian grid.

The tables of the Legendre functions and of the Fourier transforms come as data: they are computed with twice the
digits that a browser's numbers have.
"""

import numpy as np
from numba import carray

from kernels import spectral
from kernels.portable.case import Answer, Array, Call, Case
from kernels.portable.transforms import Block, complexes, direct, entry, inverse, settle
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES
from kernels.runtime.wasm import Export

#: Numbers of a case, and entries of its block.
_T, _COEFFICIENTS, _POINTS, _FIELDS, _ROWS, _INVERSE, _DIRECT, _WEIGHTS = range(8)


@kernel
def _arrays_at(block, spectrum, values, numbers):
    """The arrays behind four addresses: ``numbers``, the ``block``, the ``spectrum`` as complex (fields, coefficients),
    and ``values``, flat (fields · points,)."""
    numbers = carray(numbers, (8,))
    fields = numbers[_FIELDS]
    spectra = complexes(carray(spectrum, (2,)), (fields, numbers[_COEFFICIENTS]))
    return numbers, carray(block, (1,)), spectra, carray(values, (fields * numbers[_POINTS],))


def begin(block, spectrum, values, numbers):
    """The coefficients of the recurrence, and a spectrum of numbers between −1 and 1."""
    numbers, block, spectra, values = _arrays_at(block, spectrum, values, numbers)
    top, count = numbers[_T], numbers[_COEFFICIENTS]
    settle(block, values, top)
    for k in range(numbers[_FIELDS]):
        for i in range(count):
            real = mixed(2 * (count * k + i))
            spectra[k, i] = complex(real, mixed(2 * (count * k + i) + 1) if i > top else 0.0)


@kernel
def mixed(i):
    """A number between −1 and 1 that no other ``i`` has."""
    bits = (np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)
    return np.float64(bits) * 2.0**-51 - 1.0


def transform(block, spectrum, values, back, numbers, repeats):
    """``repeats`` times every field to the grid and back, ``LANES`` at a time."""
    numbers, block, spectra, values = _arrays_at(block, spectrum, values, numbers)
    fields, back = numbers[_FIELDS], complexes(carray(back, (2,)), spectra.shape)
    for _ in range(repeats):
        inverse(block, numbers[_INVERSE], fields, spectra, values)
        direct(block, numbers[_DIRECT], fields, values, back)


def found(block, spectrum, values, back, numbers, answers):
    """Largest difference after the round trip; mean square on the grid against that of the spectra, relative."""
    numbers, block, spectra, values = _arrays_at(block, spectrum, values, numbers)
    back, answers, rows = complexes(carray(back, (2,)), spectra.shape), carray(answers, (2,)), numbers[_ROWS]
    weights, points = entry(block, numbers[_WEIGHTS], values, (rows,)), numbers[_POINTS]
    worst, of_spectra, of_values = 0.0, 0.0, 0.0
    for k in range(spectra.shape[0]):
        for i in range(spectra.shape[1]):
            off = back[k, i] - spectra[k, i]
            for difference in (abs(off.real), abs(off.imag)):
                worst = difference if difference > worst or difference != difference else worst
            square = spectra[k, i].real ** 2 + spectra[k, i].imag ** 2
            of_spectra += square * (1.0 if i <= numbers[_T] else 2.0)
    for i in range(values.size):
        of_values += values[i] ** 2 * weights[i % points // (points // rows)]
    answers[0] = worst
    answers[1] = of_values / of_spectra - 1.0


_F, _I = "float64[]", "int64[]"
EXPORTS = (
    Export("spectral_begin", begin, (_I, _F, _F, _I)),
    Export("spectral_transform", transform, (_I, _F, _F, _F, _I, "int64")),
    Export("spectral_found", found, (_I, _F, _F, _F, _I, _F)),
)


def case(truncation: int, grid: str, fields: int = LANES) -> Case:
    """One truncation on one full grid; as many ``fields`` as a vector has lanes, or a multiple."""
    problem = spectral.Problem(truncation, grid, fields)
    plan = spectral.Plan(grid, truncation)
    points, block = plan.grid.points, Block(plan)
    entries = [block.transform(each, LANES) for each in (False, True)]
    entries.append(block.table(plan.grid.weights / (2.0 * plan.grid.pl)))
    words, size = block.words()
    return Case(
        name=f"spectral-{truncation}",
        label=f"transforms of truncation {truncation}",
        kernel="spectral",
        problem={"truncation": truncation, "grid": grid, "fields": fields},
        arrays={
            "block": Array(_I, size, words),
            "spectrum": Array(_F, 2 * plan.ncoef * fields),
            "values": Array(_F, points * fields),
            "back": Array(_F, 2 * plan.ncoef * fields),
            "numbers": Array(_I, 8, (truncation, plan.ncoef, points, fields, 2 * plan.nlat, *entries)),
        },
        prepare=(Call("spectral_begin", ("block", "spectrum", "values", "numbers")),),
        run=Call("spectral_transform", ("block", "spectrum", "values", "back", "numbers", "repeats")),
        verify=Call("spectral_found", ("block", "spectrum", "values", "back", "numbers", "answers")),
        answers=(
            Answer("round trip, coefficients within ±1", 0.0, 2e-12),
            Answer("mean square on the grid against spectra, relative", 0.0, 1e-12),
        ),
        work=spectral.work(problem),
    )
