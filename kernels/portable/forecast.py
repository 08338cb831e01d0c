"""A day of the small spectral forecast, ``kernels.shallow_water``: the unstable jet of Galewsky et al. (2004).

Initial spectra, every step and the integrals of the state are computed here; profiles of the initial state by latitude
and longitude come as data.  One thread, no output.  The end is compared with that of ``kernels.shallow_water`` by a
sum over all coefficients of each field, each with a weight of its own, and its integrals with those of the start.

``block`` has the entries of :mod:`kernels.portable.transforms` and ``numbers`` (int64) where they are; ``fields``,
float64 (11, points), are those on the grid, and ``flat`` is the same array flat.
"""

import functools
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numba import carray

from kernels import shallow_water
from kernels.portable.case import Answer, Array, Call, Case, Measure
from kernels.portable.transforms import GROUP, Block, complexes, direct, entry, inverse, settle
from kernels.runtime.jit import kernel
from kernels.runtime.target import TARGET
from kernels.runtime.vector import place_at
from kernels.runtime.wasm import Export
from kernels.shallow_water import GRAVITY, RADIUS
from kernels.shallow_water.cases import initial
from kernels.shallow_water.compiled import Levels, Step, Tendencies, advance, products
from kernels.spectral import Plan, winds

#: Numbers of a case, and entries of its block.
_NUMBERS = (
    "truncation", "coefficients", "wide", "rows", "columns", "steps", "inverse", "inverse_wide", "direct",
    "direct_wide", "epsilon", "potential", "laplacian", "damping", "step", "weights", "jet", "bump", "size",
    "levels", "scaled", "winds", "curl", "divergence", "kinetic",
)  # fmt: skip
(
    _T, _COEFFICIENTS, _WIDE, _ROWS, _COLUMNS, _STEPS, _INVERSE, _INVERSE_WIDE, _DIRECT,
    _DIRECT_WIDE, _EPSILON, _POTENTIAL, _LAPLACIAN, _DAMPING, _STEP, _WEIGHTS, _JET, _BUMP, _SIZE,
    _LEVELS, _SCALED, _WINDS, _CURL, _DIVERGENCE, _KINETIC,
) = range(len(_NUMBERS))  # fmt: skip
#: Fields on the grid: ζ and φ', the wind, two vectors, kinetic energy, nothing, the Coriolis parameter.
_FIELDS = 11
_VORTICITY, _PHI, _U, _V, _ZONAL, _MERIDIONAL, _ENERGY, _NOTHING, _CORIOLIS = 0, 1, 2, 3, 4, 6, 8, 9, 10
_WIND, _VECTORS = 2, 4  # of the fields that are transformed with one degree more
#: How far sums over the coefficients at the end may be from those of the model, of the norm of the field.
_APART = 1e-10


# the compiled loops of the model, by the one thread that there is
_products, _advance = kernel(products, cache=False), kernel(advance, cache=False)
_scale, _zonal_and_meridional, _curl_and_divergence = (
    kernel(each.py_func, cache=False)
    for each in (winds._scale, winds._zonal_and_meridional, winds._curl_and_divergence)
)


@kernel
def mixed(i):
    """A number between −1 and 1 that no other ``i`` has."""
    bits = (np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)
    return np.float64(bits) * 2.0**-51 - 1.0


@kernel
def _arrays_at(block, fields, numbers):
    """The arrays behind three addresses: ``block``, ``fields``, the same flat, ``numbers``."""
    numbers = carray(numbers, (len(_NUMBERS),))
    points = numbers[_ROWS] * numbers[_COLUMNS]
    return carray(block, (1,)), carray(fields, (_FIELDS, points)), carray(fields, (_FIELDS * points,)), numbers


@kernel(inline=True)
def _table(block, numbers, number, reals, count):
    """Entry ``number``: ``count`` numbers of the kind of ``reals``."""
    return entry(block, numbers[number], reals, (count,))


@kernel(inline=True)
def _spectra(block, numbers, number, reals, fields, wide):
    """Entry ``number`` as so many ``fields`` of complex coefficients, (``fields``, n), ``wide`` ones with one degree
    more; ``reals`` has the kind of their parts."""
    count = numbers[_WIDE] if wide else numbers[_COEFFICIENTS]
    return complexes(entry(block, numbers[number], reals, (2,)), (fields, count))


@kernel(inline=True)
def _level(block, numbers, reals, level):
    """One of four levels, number ``level``, complex (3, n): three of the time step, and the start; ``reals`` has the
    kind of their parts."""
    count = 6 * numbers[_COEFFICIENTS]
    return complexes(entry(block, numbers[_LEVELS], reals, (4 * count,))[level * count :], (3, numbers[_COEFFICIENTS]))


@kernel(inline=True)
def _reals(spectra, reals):
    """Real and imaginary parts of ``spectra`` in turn, of the kind of ``reals``."""
    return carray(place_at(spectra.ctypes.data, reals), (spectra.shape[0], 2 * spectra.shape[1]))


@kernel
def _vordiv(block, numbers, flat, first, fields, curl, divergence):
    """``curl`` and ``divergence`` of vectors: ``fields`` zonal parts from the field ``first`` on, then the meridional
    ones."""
    points = flat.size // _FIELDS
    wide = _spectra(block, numbers, _WINDS, flat, _VECTORS, True)[: 2 * fields]
    direct(block, numbers[_DIRECT_WIDE], 2 * fields, flat[first * points :][: 2 * fields * points], wide)
    epsilon = _table(block, numbers, _EPSILON, flat, numbers[_WIDE])
    zonal, meridional = wide[:fields], wide[fields:]
    _curl_and_divergence(1, numbers[_T], epsilon, RADIUS, zonal, meridional, curl, divergence)


@kernel
def _to_grid(block, numbers, flat, now):
    """ζ, φ' and the wind of the level ``now``, complex (3, n), on the grid."""
    points, top = flat.size // _FIELDS, numbers[_T]
    scaled, wide = (
        _spectra(block, numbers, _SCALED, flat, 2, False),
        _spectra(block, numbers, _WINDS, flat, _WIND, True),
    )
    potential = _table(block, numbers, _POTENTIAL, flat, top + 1)
    _scale(1, top, potential, now[:1], scaled[:1])
    _scale(1, top, potential, now[2:], scaled[1:])
    epsilon = _table(block, numbers, _EPSILON, flat, numbers[_WIDE])
    _zonal_and_meridional(1, top, epsilon, scaled[:1], scaled[1:], wide[:1], wide[1:])
    inverse(block, numbers[_INVERSE_WIDE], _WIND, wide, flat[_U * points :][: _WIND * points])
    inverse(block, numbers[_INVERSE], 2, now[:2], flat[_VORTICITY * points :][: 2 * points])


@kernel
def _spectrum_of_energy(block, numbers, flat):
    """What stands in the field of kinetic energy, as spectrum."""
    points = flat.size // _FIELDS
    found = _spectra(block, numbers, _KINETIC, flat, GROUP, False)
    direct(block, numbers[_DIRECT], GROUP, flat[_ENERGY * points :][: GROUP * points], found)
    return found


@kernel
def _means(block, numbers, fields, flat, level):
    """Means over the sphere of depth, energy and potential enstrophy of level number ``level``, see
    ``shallow_water.diagnostics``."""
    _to_grid(block, numbers, flat, _level(block, numbers, flat, level))
    columns, mean = numbers[_COLUMNS], _table(block, numbers, _STEP, flat, 5)[1]
    weights = _table(block, numbers, _WEIGHTS, flat, numbers[_ROWS])
    mass = energy = enstrophy = 0.0
    for i in range(fields.shape[1]):
        depth, weight = (fields[_PHI, i] + mean) / GRAVITY, weights[i // columns]
        square = fields[_U, i] * fields[_U, i] + fields[_V, i] * fields[_V, i]
        mass += weight * depth
        energy += weight * (0.5 * depth * square + 0.5 * GRAVITY * depth * depth)
        enstrophy += weight * 0.5 * (fields[_VORTICITY, i] + fields[_CORIOLIS, i]) ** 2 / depth
    return mass, energy, enstrophy


def begin(block, fields, numbers):
    """The tables, and the spectra of the initial state."""
    block, fields, flat, numbers = _arrays_at(block, fields, numbers)
    rows, columns = numbers[_ROWS], numbers[_COLUMNS]
    settle(block, flat, numbers[_T])
    jet = entry(block, numbers[_JET], flat, (4, rows))
    bump = _table(block, numbers, _BUMP, flat, columns)
    for j in range(rows):
        for i in range(columns):
            at = j * columns + i
            fields[_ZONAL, at], fields[_ZONAL + 1, at] = jet[0, j], 0.0
            fields[_CORIOLIS, at] = jet[3, j]
            fields[_ENERGY, at] = GRAVITY * (jet[1, j] + jet[2, j] * bump[i])
            fields[_NOTHING, at] = 0.0
    start = _level(block, numbers, flat, 3)
    _vordiv(block, numbers, flat, _ZONAL, 1, start[:1], start[2:])
    depth = _spectrum_of_energy(block, numbers, flat)
    for i in range(1, start.shape[1]):
        start[1, i] = depth[0, i]
    start[0, 0] = start[1, 0] = start[2, 0] = 0.0


@kernel
def _step(block, numbers, fields, flat, levels, first):
    """One time step with ``levels`` (old, now, new): forward at the start, when it is the ``first``, leapfrog from then
    on."""
    old, now, new = levels
    top = numbers[_T]
    _to_grid(block, numbers, flat, now)
    state = fields[_U], fields[_V], fields[_VORTICITY], fields[_PHI]
    vectors = fields[_ZONAL:_MERIDIONAL], fields[_MERIDIONAL:_ENERGY], fields[_ENERGY]
    _products(1, fields[_CORIOLIS], *state, *vectors)
    curl = _spectra(block, numbers, _CURL, flat, 2, False)
    divergence = _spectra(block, numbers, _DIVERGENCE, flat, 2, False)
    _vordiv(block, numbers, flat, _ZONAL, 2, curl, divergence)
    kinetic = _reals(_spectrum_of_energy(block, numbers, flat), flat)[0]
    still = _reals(_spectra(block, numbers, _SCALED, flat, 2, False), flat)[0]
    for i in range(still.size):
        still[i] = 0.0  # the ground is flat
    laplacian, step = _table(block, numbers, _LAPLACIAN, flat, top + 1), _table(block, numbers, _STEP, flat, 5)
    damping = entry(block, numbers[_DAMPING], flat, (2, top + 1))[0 if first else 1]
    span, middle, end = (step[0], 0.0, 0.0) if first else (step[4], step[2], step[3])
    size = _table(block, numbers, _SIZE, flat, top + 1)
    three = Levels(_reals(old, flat), _reals(now, flat), _reals(new, flat))
    change = Tendencies(_reals(curl, flat), _reals(divergence, flat), kinetic, still)
    _advance(1, top, three, change, laplacian, damping, Step(span, step[1], middle, end), size)


def integrate(block, fields, numbers, repeats):
    """``repeats`` times: back to the initial state, then all steps."""
    block, fields, flat, numbers = _arrays_at(block, fields, numbers)
    start = _level(block, numbers, flat, 3)
    for _ in range(repeats):
        old, now = _level(block, numbers, flat, 0), _level(block, numbers, flat, 1)
        new = _level(block, numbers, flat, 2)
        for k in range(3):
            for i in range(start.shape[1]):
                old[k, i] = now[k, i] = start[k, i]
        for done in range(numbers[_STEPS]):
            _step(block, numbers, fields, flat, (old, now, new), done == 0)
            old, now, new = now, new, old


def found(block, fields, numbers, answers):
    """Drifts of mass, energy and potential enstrophy, relative; a sum over the coefficients of each field."""
    block, fields, flat, numbers = _arrays_at(block, fields, numbers)
    answers, end = carray(answers, (6,)), (1 + numbers[_STEPS]) % 3
    before = _means(block, numbers, fields, flat, 3)
    after = _means(block, numbers, fields, flat, end)
    answers[0] = after[0] / before[0] - 1.0
    answers[1] = after[1] / before[1] - 1.0
    answers[2] = after[2] / before[2] - 1.0
    spectra = _reals(_level(block, numbers, flat, end), flat)
    for k in range(3):
        answers[3 + k] = 0.0
        for i in range(spectra.shape[1]):
            answers[3 + k] += mixed(i) * spectra[k, i]


_F, _I = "float64[]", "int64[]"
EXPORTS = (
    Export("forecast_begin", begin, (_I, _F, _I)),
    Export("forecast_integrate", integrate, (_I, _F, _I, "int64")),
    Export("forecast_found", found, (_I, _F, _I, _F)),
)


def end_of(problem: shallow_water.Problem) -> dict[str, list[float]]:
    """Of the forecast by ``kernels.shallow_water``: sums over the coefficients at its end, and norms of the fields."""
    result = shallow_water.run(problem, shallow_water.setup(problem))
    wrong = [str(check) for check in shallow_water.verify(problem, result) if not check.ok]
    if wrong:
        raise ValueError(f"the forecast that the page is compared with is wrong: {'; '.join(wrong)}")
    fields = result.spectra.view(np.float64)
    weights = np.array([mixed(i) for i in range(fields.shape[1])])
    return {
        "mean": [result.state.mean],
        "sums": (fields @ weights).tolist(),
        "norms": np.sqrt((fields**2).sum(1)).tolist(),
    }


@functools.cache
def _end(problem: shallow_water.Problem) -> dict[str, list[float]]:
    """:func:`end_of`, by a process for this processor: plans of other targets do not transform single fields."""
    if TARGET == "host":
        return end_of(problem)
    program = "import json; from kernels.portable import forecast; from kernels import shallow_water\n"
    program += f"print(json.dumps(forecast.end_of(shallow_water.Problem(**{asdict(problem)!r}))))"
    without = ("RERUN_TARGET", "NUMBA_OPT", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
    environment = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"the forecast that the page is compared with was not made: {done.stderr[-1000:]}")
    return json.loads(done.stdout)


def _jet(problem: shallow_water.Problem, grid) -> tuple[np.ndarray, np.ndarray]:
    """By row: wind, depth without the bump, the bump where it is highest, Coriolis parameter; the bump by column."""
    shape = (2 * grid.N, int(grid.pl[0]))
    start = initial(problem, grid)
    smooth = initial(shallow_water.Problem(**{**asdict(problem), "case": "galewsky_balanced"}), grid)
    rise = (start.depth - smooth.depth).reshape(shape)
    top = np.unravel_index(rise.argmax(), shape)
    rows = (start.u, smooth.depth, start.coriolis)
    u, depth, coriolis = (each.reshape(shape)[:, 0] for each in rows)
    return np.stack([u, depth, rise[:, top[1]], coriolis]), rise[top[0]] / rise[top]


def _block(problem: shallow_water.Problem, plan: Plan, mean: float) -> tuple[np.ndarray, int, list[int]]:
    """The block's beginning, its words, and the numbers of its entries in the order of ``_NUMBERS``."""
    block, top, count = Block(plan), problem.truncation, plan.ncoef
    transforms = [block.transform(False, GROUP), block.transform(False, GROUP, 1)]
    transforms += [block.transform(True, GROUP), block.transform(True, GROUP, 1)]
    n = np.arange(top + 1.0)
    laplacian = n * (n + 1.0) / RADIUS**2
    spans = problem.dt, 2.0 * problem.dt
    damping = [1.0 / (1.0 + span * problem.coefficient * laplacian ** (problem.order // 2)) for span in spans]
    half = 0.5 * problem.asselin
    step = spans[0], mean, half * problem.williams, -half * (1.0 - problem.williams), spans[1]
    potential = np.concatenate([[0.0], -RADIUS / (n[1:] * (n[1:] + 1.0))])
    weights = plan.grid.weights / (2.0 * plan.grid.pl)
    jet, bump = _jet(problem, plan.grid)
    tables = (plan._epsilon(), potential, laplacian, np.array(damping), np.array(step), weights, jet, bump)
    wide = len(plan._epsilon())
    spaces = (top + 1, 4 * 6 * count, 4 * count, 2 * _VECTORS * wide, 4 * count, 4 * count, 2 * GROUP * count)
    entries = [*transforms, *map(block.table, tables), *map(block.space, spaces)]
    return (*block.words(), entries)


def case(**changes) -> Case:
    """The forecast of the preset "quick", or with fields of its problem changed; the case stays the jet."""
    problem = shallow_water.Problem.preset("quick", **{"output": 0.0, **changes})
    known, plan = _end(problem), Plan(problem.grid, problem.truncation, radius=RADIUS)
    words, size, entries = _block(problem, plan, known["mean"][0])
    shape = 2 * plan.grid.N, int(plan.grid.pl[0])
    numbers = (problem.truncation, plan.ncoef, len(plan._epsilon()), *shape, problem.steps, *entries)
    days, drift = max(1.0, problem.hours / 24.0), shallow_water.DRIFT[problem.diffusion > 0]
    named = ("vorticity", "geopotential", "divergence")
    sums = zip(named, known["sums"], known["norms"], strict=True)
    return Case(
        name=f"forecast-{problem.truncation}",
        label=f"forecast of {problem.hours:g} hours at truncation {problem.truncation}",
        kernel="forecast",
        problem={name: getattr(problem, name) for name in ("truncation", "grid", "case", "hours", "dt")},
        arrays={
            "block": Array(_I, size, words),
            "fields": Array(_F, _FIELDS * plan.grid.points),
            "numbers": Array(_I, len(numbers), numbers),
        },
        prepare=(Call("forecast_begin", ("block", "fields", "numbers")),),
        run=Call("forecast_integrate", ("block", "fields", "numbers", "repeats")),
        verify=Call("forecast_found", ("block", "fields", "numbers", "answers")),
        answers=(
            Answer("drift of mass, relative", 0.0, 1e-13),
            Answer("drift of energy, relative", 0.0, drift[0] * days),
            Answer("drift of potential enstrophy, relative", 0.0, drift[1] * days),
            *(Answer(f"coefficients of {name}, in one sum", value, _APART * norm) for name, value, norm in sums),
        ),
        work=shallow_water.work(problem),
        measure=Measure("ms a day", 1e3 * 24.0 / problem.hours, rate=False),
    )
