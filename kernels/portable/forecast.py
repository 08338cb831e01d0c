"""A day of the small spectral forecast, ``kernels.shallow_water``: the unstable jet of Galewsky et al. (2004).

The initial spectra, every step and the integrals of the state are computed here, by the transforms and the loops of the
model; the initial wind and depth come as data.  One thread, no output.  The end is compared with that of
``kernels.shallow_water`` by a sum over all coefficients of each field, each with a weight of its own, and its integrals
with those of the start.
"""

from typing import NamedTuple

import numpy as np
from numba import carray

from supercomputers_rerun.kernels import shallow_water
from supercomputers_rerun.kernels.portable.case import Answer, Array, Call, Case, Measure
from supercomputers_rerun.kernels.portable.frozen import Frozen, frozen
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.wasm import Export
from supercomputers_rerun.kernels.shallow_water import GRAVITY, RADIUS
from supercomputers_rerun.kernels.shallow_water.compiled import advance, products
from supercomputers_rerun.kernels.shallow_water.problem import initial
from supercomputers_rerun.kernels.spectral import Plan, winds
from supercomputers_rerun.kernels.spectral.plan import BOTH, direct_transform, inverse_transform

#: Fields on the grid: ζ and φ', the wind, two vectors, kinetic energy, nothing; code for two lanes transforms pairs.
_ZETA, _WIND, _ZONAL, _MERIDIONAL, _ENERGY, _FIELDS = 0, 2, 4, 6, 8, 10
#: How far sums over the coefficients at the end may be from those of the model, of the norm of the field.
_APART = 1e-10
#: These sums and the norms of the fields in ``kernels.shallow_water``; a test compares.  Running it here would compile
#: the model twice.
END = {
    "vorticity": (1.1565903141353136e-05, 2.6612027151650508e-05),  # 1/s
    "geopotential": (-373.1764607853527, 3544.5525422493797),  # m²/s²
    "divergence": (3.144740989408897e-08, 1.305752403347488e-07),  # 1/s
}

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
    jet: np.ndarray  # (rows,): initial zonal wind, m/s; there is no other
    depth: np.ndarray  # (points,): the initial one, m
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
    inverse_transform(call, spectra, values, (0, BOTH), 1, 0)


@kernel
def direct(call, spectra, values):
    """The way back."""
    direct_transform(call, spectra, values, (0, BOTH), 1, 0)


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
        """The Coriolis parameter at every point, and the initial spectra."""
        day = thawed(block)
        f, columns = day.fields, day.fields.shape[1] // day.rows.size
        for i in range(f.shape[1]):
            day.coriolis[i] = day.rows[i // columns]
            f[_ZONAL, i], f[_MERIDIONAL, i] = day.jet[i // columns], 0.0
            f[_ENERGY, i] = GRAVITY * day.depth[i]
        direct(day.to_vectors, day.wide[:2], f[_ZONAL:_MERIDIONAL])
        direct(day.to_vectors, day.wide[2:], f[_MERIDIONAL:_ENERGY])
        direct(day.to_spectra, day.kinetic, f[_ENERGY:_FIELDS])
        u, v = day.wide[:2], day.wide[2:]
        winds.curl_and_divergence(day.truncation, day.epsilon, RADIUS, u, v, day.curl, day.divergence, 1, 0)
        for i in range(1, day.start.shape[1]):  # their means are zero
            day.start[0, i], day.start[1, i], day.start[2, i] = day.curl[0, i], day.kinetic[0, i], day.divergence[0, i]

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


def _frozen() -> Frozen:
    """The block of the forecast."""
    problem = PROBLEM
    plan = Plan(problem.grid, problem.truncation, radius=RADIUS)
    begin, rows, weights = initial(problem, plan.grid), plan.grid.pl.size, plan.grid.weights / (2.0 * plan.grid.pl)
    mean = GRAVITY * float(weights @ begin.depth.reshape(rows, -1).sum(1))
    top, count, wide = problem.truncation, plan.ncoef, plan.epsilon.size
    n = np.arange(top + 1.0)
    laplacian = n * (n + 1.0) / RADIUS**2
    spans, half = (problem.dt, 2.0 * problem.dt), 0.5 * problem.asselin
    damping = [1.0 / (1.0 + span * problem.coefficient * laplacian ** (problem.order // 2)) for span in spans]
    filtered = half * problem.williams, -half * (1.0 - problem.williams)
    calls = [plan._call(direct, 2, power, 1) for direct in (False, True) for power in (0, 1)]
    spectra = (np.zeros(shape, np.complex128) for shape in ((3, count), (3, 3, count), (4, wide), *3 * ((2, count),)))
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
        weights,
        begin.coriolis.reshape(rows, -1)[:, 0].copy(),
        np.zeros(plan.grid.points),
        begin.u.reshape(rows, -1)[:, 0].copy(),
        begin.depth,
        *spectra,
        np.zeros(2 * count),
        np.zeros((_FIELDS, plan.grid.points)),
    )
    return frozen(day)


def made() -> tuple[tuple[Export, ...], Case]:
    """Functions and case of :data:`PROBLEM`."""
    problem, block = PROBLEM, _frozen()
    days, drift, sums = max(1.0, problem.hours / 24.0), shallow_water.DRIFT[problem.diffusion > 0], END.items()
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
            *(Answer(f"coefficients of {name}, in one sum", total, _APART * norm) for name, (total, norm) in sums),
        ),
        work=shallow_water.work(problem),
        measure=Measure("ms a day", 1e3 * 24.0 / problem.hours, rate=False),
    )
