"""A day of the small spectral forecast, ``kernels.shallow_water``: the unstable jet of Galewsky et al. (2004).

Every step and the integrals of the state are computed here, by the transforms and the loops of the model; the initial
spectra come as data.  One thread, no output.  The end is compared with that of ``kernels.shallow_water`` by a sum over
all coefficients of each field, each with a weight of its own, and its integrals with those of the start.
"""

from typing import NamedTuple

import numpy as np
from numba import carray

from kernels import shallow_water
from kernels.portable.case import Answer, Array, Call, Case, Measure
from kernels.portable.frozen import Frozen, frozen
from kernels.runtime.jit import kernel
from kernels.runtime.wasm import Export
from kernels.shallow_water import GRAVITY, RADIUS
from kernels.shallow_water.compiled import advance, products
from kernels.shallow_water.problem import initial
from kernels.spectral import Plan, winds
from kernels.spectral.plan import direct_legendre, direct_rows, inverse_legendre, inverse_rows

#: Fields on the grid: ζ and φ', the wind, two vectors, kinetic energy, nothing; code for two lanes transforms pairs.
_ZETA, _WIND, _ZONAL, _MERIDIONAL, _ENERGY, _FIELDS = 0, 2, 4, 6, 8, 10
#: How far sums over the coefficients at the end may be from those of the model, of the norm of the field.
_APART = 1e-10

_products, _advance = kernel(products, cache=False), kernel(advance, cache=False)


class Day(NamedTuple):
    """What the forecast has; spectra are complex128, fields float64."""

    to_grid: tuple  # a ``spectral.plan.Call`` of two fields; then with one degree more and cos φ divided out; and back
    to_winds: tuple
    to_spectra: tuple
    to_vectors: tuple
    truncation: int
    steps: int
    mean: float  # geopotential, m²/s²
    first: tuple  # ``step`` of ``compiled.advance``
    later: tuple
    damping: np.ndarray  # (2, T + 1): of the first step and of later ones
    epsilon: np.ndarray  # (wide,)
    potential: np.ndarray  # (T + 1,): what turns vorticity into the stream function over a
    laplacian: np.ndarray  # (T + 1,)
    size: np.ndarray  # (T + 1,)
    weights: np.ndarray  # (rows,): of a point in means over the sphere
    rows: np.ndarray  # (rows,): Coriolis parameter, 1/s
    coriolis: np.ndarray  # (points,): the same
    start: np.ndarray  # (3, ncoef): ζ, φ', D
    levels: np.ndarray  # (3, 3, ncoef)
    wide: np.ndarray  # (4, wide): up to two vectors
    curl: np.ndarray  # (2, ncoef)
    divergence: np.ndarray  # (2, ncoef)
    kinetic: np.ndarray  # (2, ncoef)
    ground: np.ndarray  # (2 ncoef,): zero
    fields: np.ndarray  # (10, points)


@kernel
def mixed(i):
    """A number between −1 and 1 that no other ``i`` has."""
    bits = (np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(12)
    return np.float64(bits) * 2.0**-51 - 1.0


@kernel
def inverse(call, spectra, values):
    """Inverse transform of two fields, ``spectra`` to ``values``, by the ``call`` of a plan."""
    inverse_legendre(call, spectra, values, 0, 1, 0)
    inverse_rows(call, spectra, values, 0, 1, 0)


@kernel
def direct(call, spectra, values):
    """The way back."""
    direct_rows(call, spectra, values, 0, 1, 0)
    direct_legendre(call, spectra, values, 0, 1, 0)


@kernel(inline=True)
def _reals(spectra):
    """Real and imaginary parts of ``spectra`` (fields, n) in turn."""
    return spectra.view(np.float64)


def exports(thawed) -> tuple[Export, ...]:
    """The functions of a forecast whose block is ``thawed`` by this intrinsic."""

    @kernel(cache=False)
    def on_grid(block, now):
        """ζ, φ' and the wind of the level ``now``."""
        day = thawed(block)
        u, v = day.wide[:1], day.wide[1:2]
        winds.zonal_and_meridional(day.truncation, day.potential, day.epsilon, now[:1], now[2:], u, v, 1, 0)
        inverse(day.to_winds, day.wide[:2], day.fields[_WIND:_ZONAL])
        inverse(day.to_grid, now[:2], day.fields[_ZETA:_WIND])

    @kernel(cache=False)
    def step(block, old, now, new, first):
        """One time step: forward from the ``first``, leapfrog from then on."""
        on_grid(block, now)
        day = thawed(block)
        f, zonal, meridional = day.fields, day.fields[_ZONAL:_MERIDIONAL], day.fields[_MERIDIONAL:_ENERGY]
        _products(day.coriolis, f[_WIND], f[_WIND + 1], f[_ZETA], f[_ZETA + 1], zonal, meridional, f[_ENERGY], 1, 0)
        direct(day.to_vectors, day.wide[:2], zonal)
        direct(day.to_vectors, day.wide[2:], meridional)
        direct(day.to_spectra, day.kinetic, f[_ENERGY:_FIELDS])
        u, v = day.wide[:2], day.wide[2:]
        winds.curl_and_divergence(day.truncation, day.epsilon, RADIUS, u, v, day.curl, day.divergence, 1, 0)
        levels = (_reals(old), _reals(now), _reals(new))
        changes = (_reals(day.curl), _reals(day.divergence), _reals(day.kinetic)[0], day.ground)
        numbers, damping = (day.first, day.damping[0]) if first else (day.later, day.damping[1])
        _advance(day.truncation, levels, changes, day.laplacian, damping, numbers, day.size, 1, 0)

    @kernel(cache=False)
    def means(block, level):
        """Means over the sphere of depth, energy and potential enstrophy, see ``shallow_water.diagnostics``."""
        on_grid(block, level)
        day = thawed(block)
        f, columns = day.fields, day.fields.shape[1] // day.rows.size
        mass = energy = enstrophy = 0.0
        for i in range(f.shape[1]):
            depth, weight = (f[_ZETA + 1, i] + day.mean) / GRAVITY, day.weights[i // columns]
            square = f[_WIND, i] * f[_WIND, i] + f[_WIND + 1, i] * f[_WIND + 1, i]
            mass += weight * depth
            energy += weight * (0.5 * depth * square + 0.5 * GRAVITY * depth * depth)
            enstrophy += weight * 0.5 * (f[_ZETA, i] + day.coriolis[i]) ** 2 / depth
        return mass, energy, enstrophy

    def begin(block):
        """The Coriolis parameter at every point."""
        day = thawed(block)
        for i in range(day.coriolis.size):
            day.coriolis[i] = day.rows[i // (day.coriolis.size // day.rows.size)]

    def integrate(block, repeats):
        """``repeats`` times: back to the initial state, then all steps."""
        day = thawed(block)
        for _ in range(repeats):
            old, now, new = day.levels[0], day.levels[1], day.levels[2]
            for k in range(3):
                for i in range(old.shape[1]):
                    old[k, i] = now[k, i] = day.start[k, i]
            for done in range(day.steps):
                step(block, old, now, new, done == 0)
                old, now, new = now, new, old

    def found(block, answers):
        """Drifts of mass, energy and potential enstrophy, relative; a sum over the coefficients of each field."""
        day = thawed(block)
        answers, end = carray(answers, (6,)), day.levels[(1 + day.steps) % 3]
        before, after = means(block, day.start), means(block, end)
        for k in range(3):
            answers[k] = after[k] / before[k] - 1.0
        parts = _reals(end)
        for k in range(3):
            answers[3 + k] = 0.0
            for i in range(parts.shape[1]):
                answers[3 + k] += mixed(i) * parts[k, i]

    kinds = "int64[]", "float64[]"
    return (
        Export("forecast_begin", begin, kinds[:1]),
        Export("forecast_integrate", integrate, (kinds[0], "int64")),
        Export("forecast_found", found, kinds),
    )


#: The forecast of the preset "quick".
PROBLEM = shallow_water.Problem.preset("quick", output=0.0)


class Known(NamedTuple):
    """What the native model has of the forecast."""

    start: list[list[float]]  # (3, 2 ncoef)
    mean: float  # geopotential, m²/s²
    sums: list[float]  # over the coefficients of each field at the end
    norms: list[float]


def known() -> Known:
    """The forecast by ``kernels.shallow_water``; ``ValueError`` if it is wrong."""
    state = shallow_water.setup(PROBLEM)
    result = shallow_water.run(PROBLEM, state)
    wrong = [str(check) for check in shallow_water.verify(PROBLEM, result) if not check.ok]
    if wrong:
        raise ValueError(f"the forecast that the page is compared with is wrong: {'; '.join(wrong)}")
    start, fields = state.spectra.view(np.float64), result.spectra.view(np.float64)
    sums = fields @ np.array([mixed(i) for i in range(fields.shape[1])])
    return Known(start.tolist(), state.mean, sums.tolist(), np.sqrt((fields**2).sum(1)).tolist())


def _frozen(model: Known) -> Frozen:
    """The block of the forecast."""
    problem, mean = PROBLEM, model.mean
    plan = Plan(problem.grid, problem.truncation, radius=RADIUS)
    top, count, wide = problem.truncation, plan.ncoef, plan.epsilon.size
    n = np.arange(top + 1.0)
    laplacian = n * (n + 1.0) / RADIUS**2
    spans, half = (problem.dt, 2.0 * problem.dt), 0.5 * problem.asselin
    damping = [1.0 / (1.0 + span * problem.coefficient * laplacian ** (problem.order // 2)) for span in spans]
    filtered = half * problem.williams, -half * (1.0 - problem.williams)
    calls = [plan._call(direct, 2, power, 1) for direct in (False, True) for power in (0, 1)]
    spectra = (np.zeros(shape, np.complex128) for shape in ((3, 3, count), (4, wide), *3 * ((2, count),)))
    day = Day(
        *calls,
        top,
        problem.steps,
        mean,
        (spans[0], mean, 0.0, 0.0),
        (spans[1], mean, *filtered),
        np.array(damping),
        plan.epsilon,
        plan.solved_laplacian,
        laplacian,
        np.zeros(top + 1),
        plan.grid.weights / (2.0 * plan.grid.pl),
        initial(problem, plan.grid).coriolis.reshape(plan.grid.pl.size, -1)[:, 0].copy(),
        np.zeros(plan.grid.points),
        np.array(model.start).view(np.complex128),
        *spectra,
        np.zeros(2 * count),
        np.zeros((_FIELDS, plan.grid.points)),
    )
    return frozen(day)


def made(model: Known) -> tuple[tuple[Export, ...], Case]:
    """Functions and case of :data:`PROBLEM`, with what the native ``model`` has of it."""
    problem, block = PROBLEM, _frozen(model)
    days, drift = max(1.0, problem.hours / 24.0), shallow_water.DRIFT[problem.diffusion > 0]
    sums = zip(("vorticity", "geopotential", "divergence"), model.sums, model.norms, strict=True)
    return exports(block.thawed), Case(
        name=f"forecast-{problem.truncation}",
        label=f"forecast of {problem.hours:g} hours at truncation {problem.truncation}",
        kernel="forecast",
        problem={name: getattr(problem, name) for name in ("truncation", "grid", "case", "hours", "dt")},
        arrays={"block": Array("int64[]", block.length, block.words)},
        prepare=(Call("forecast_begin", ("block",)),),
        run=Call("forecast_integrate", ("block", "repeats")),
        verify=Call("forecast_found", ("block", "answers")),
        answers=(
            Answer("drift of mass, relative", 0.0, 1e-13),
            Answer("drift of energy, relative", 0.0, drift[0] * days),
            Answer("drift of potential enstrophy, relative", 0.0, drift[1] * days),
            *(Answer(f"coefficients of {name}, in one sum", value, _APART * norm) for name, value, norm in sums),
        ),
        work=shallow_water.work(problem),
        measure=Measure("ms a day", 1e3 * 24.0 / problem.hours, rate=False),
    )
