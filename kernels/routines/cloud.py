"""A column process in the manner of a cloud scheme: many branches, many divisions (CLOUDSC's place).

From the top level down each column condenses, evaporates and precipitates; what falls out of one
level meets the next.  Vapour q, cloud water l, temperature T, rain R and snow S (fluxes):

1. cover        b = 1 − √((1 − q/q_s)/(1 − U₀)), between 0 (below U₀) and 1      [Sundqvist 1978]
2. q > q_s      condense C = (q − q_s)/(1 + L/c_p dq_s/dT) into l                [Langlois 1973]
3. l, q < q_s   cloud water evaporates into clear air, (1 − b)(q_s − q)·mixing
4. l            dl/dt = −c₀ (1 + c₁√F) (1 − exp(−(l/(b l_c))²)) l, implicit in time, F = R + S;
                snow below 273.16 K, freezing as it forms                        [Sundqvist 1978]
5. S, T > T₀    snow melts, with what heat the layer has above T₀
6. R, q < q_s   rain evaporates, (1 − b)(q_s − q)·r/(1 + r) with r = α√R Δt      [Kessler 1969]

(Sundqvist, Q. J. R. Meteorol. Soc. 104, 1978; Kessler, Meteorol. Monogr. 32, 1969.)  Constants are
plausible, not tuned: the work is that of a cloud scheme, the weather is not claimed.  Water and
energy are kept exactly:

    Σ (q + l) Δp/g + Δt (R + S)  and  Σ (c_p T + L q) Δp/g − Δt L_f S     (R, S at the ground)

A numbered step is skipped where no column that is worked on at the time needs it: one in the scalar
build, eight in the vector build, where ``select`` keeps the results of the columns that do not.
"""

from dataclasses import dataclass, replace

import numpy as np

from supercomputers_rerun.kernels.contract import Check, Footprint, Work, real, worst
from supercomputers_rerun.kernels.proof import Proof
from supercomputers_rerun.kernels.routines.blocking import (
    SMALL_BLOCKS,
    WIDTHS,
    BlockedProblem,
    block,
    one_by_one,
    over_blocks,
    random_columns,
    share,
    unblock,
)
from supercomputers_rerun.kernels.routines.elementary import EXP2_FLOPS, LOG2E, exp2
from supercomputers_rerun.kernels.routines.saturation import A2, CP, E0, EPS, T0, T1, A, L, saturation_humidity
from supercomputers_rerun.kernels.runtime.arrays import zeros
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import require_memory
from supercomputers_rerun.kernels.runtime.vector import any_true, fma, less, load_as, select, sqrt, store, wide

__all__ = ["NO_OUTPUT", "PROOF", "Problem", "State", "footprint", "plain", "reference", "run", "setup", "verify"]
__all__ += ["work"]

G = 9.80665  # m/s²
LF = 3.337e5  # heat of fusion, J/kg
U0 = 0.8  # relative humidity where cloud begins
MIXING = 1.0e-4  # evaporation of cloud water, 1/s
C0, C1 = 1.0e-4, 300.0  # 1/s; growth by collection, with √F in (kg/(m² s))^½ / 15
LCRIT = 3.0e-4  # in-cloud water where precipitation sets in, kg/kg
ALPHA = 6.0e-3  # evaporation of rain, 1/s with √R

# Operations of one point whose every step is taken; tests/kernels/routines/test_counts.py counts them.
_DIVIDES, _ROOTS, _EXPS = 9, 3, 2
_FLOPS = 69 + _DIVIDES + _ROOTS + _EXPS * EXP2_FLOPS


@dataclass(frozen=True)
class Problem(BlockedProblem):
    """Columns of air and the time step they are advanced by. ``ValueError`` if a field is outside its range."""

    timestep: real(1.0, 3600.0, "s") = 600.0  # Δt in s


@dataclass(frozen=True)
class State:
    """Blocked fields, several in one array."""

    inputs: np.ndarray  # (5, blocks, levels, row): T [K], q, l [kg/kg], p [Pa], Δp [Pa]
    new: np.ndarray  # (4, blocks, levels, row): T, q, l and cover b [1]
    fallen: np.ndarray  # (2, blocks, 1, row): rain and snow at the ground, kg/(m² s)
    threads: int = 1


@kernel(inline=True)
def one_level(t, q, water, p, dp, rain, snow, dt):
    """One level of as many columns as a number holds: (T, q, l, b, R, S) after it.

    ``t`` [K], ``q`` and cloud ``water`` [kg/kg], pressure ``p`` and thickness ``dp`` [Pa], ``rain`` and ``snow``
    from above [kg/(m² s)], all numbers of one width; time step ``dt`` [s].
    """
    mass = dp * (1.0 / (G * dt))  # kg/(m² s) of flux that a unit of mixing ratio makes
    x = 1.0 / (t - T1)
    n = (EPS * E0) * exp2((A2 * x) * (t - T0))
    d = fma(n, -(1.0 - EPS) / EPS, p)
    qs = n / d
    slope = ((p * (L / CP * A * (T0 - T1))) * (qs * qs)) * (x * x)  # L/cp dqs/dT = slope / n
    wet, clear = less(qs, q), less(q, qs)

    cover = wide(0.0, t)
    humid = less(U0 * qs, q)
    if any_true(humid):
        dry = select(clear, (qs - q) / (qs * (1.0 - U0)), 0.0)
        cover = select(humid, 1.0 - sqrt(select(humid, dry, 0.0)), 0.0)
    if any_true(wet):
        change = select(wet, n * (q - qs) / (n + slope), 0.0)
        t, q, water = fma(change, L / CP, t), q - change, water + change
    thin = less(0.0, water) & clear
    if any_true(thin):
        lost = ((1.0 - cover) * (qs - q)) * (MIXING * dt)
        lost = select(thin, select(less(lost, water), lost, water), 0.0)
        t, q, water = fma(lost, -L / CP, t), q + lost, water - lost
    cloudy = less(1.0e-12, water)
    if any_true(cloudy):
        inside = water / (select(less(cover, 0.05), 0.05, cover) * LCRIT)
        inside = select(less(inside, 6.0), inside, 6.0)
        rate = (fma(sqrt(rain + snow), C1 / 15.0, 1.0) * (C0 * dt)) * (1.0 - exp2((inside * inside) * -LOG2E))
        change = select(cloudy, water - water / (1.0 + rate), 0.0)
        water = water - change
        cold = less(t, T0)
        frozen = select(cold, change, 0.0)
        t = fma(frozen, LF / CP, t)
        snow, rain = fma(frozen, mass, snow), fma(change - frozen, mass, rain)
    melting = less(0.0, snow) & less(T0, t)
    if any_true(melting):
        most = (t - T0) * mass * (CP / LF)
        melted = select(melting, select(less(most, snow), most, snow), 0.0)
        t = fma(melted / mass, -LF / CP, t)
        snow, rain = snow - melted, rain + melted
    falling = less(0.0, rain) & clear
    if any_true(falling):
        r = (ALPHA * dt) * sqrt(rain)
        wanted = mass * ((1.0 - cover) * (qs - q) * r) / (1.0 + r)
        lost = select(falling, select(less(wanted, rain), wanted, rain), 0.0)
        change = lost / mass
        t, q, rain = fma(change, -L / CP, t), q + change, rain - lost
    return t, q, water, cover, rain, snow


@kernel
def sweep(inputs, new, fallen, field, ground, dt, width, blocks, thread):
    """The process in a ``thread``'s share of the ``blocks``, column by column from the top down.

    ``inputs``, ``new``, ``fallen``: float64, flat, as ``State`` says, in its units; the last two are written.
    ``field``, ``ground``: doubles of one field of ``inputs`` or ``new``, and of one of ``fallen``.  ``dt``: time step,
    s.  ``width``: ``SCALAR`` or ``VECTOR``.
    """
    levels, row = blocks.levels, blocks.row
    first, end = share(blocks, thread)
    for b in range(first, end):
        for lane in range(0, blocks.count, len(width)):
            rain = wide(0.0, load_as(inputs, b * levels * row + lane, width))
            snow = rain
            for level in range(levels):
                i = (b * levels + level) * row + lane
                t, q, water, cover, rain, snow = one_level(
                    one_by_one(load_as(inputs, i, width)),
                    load_as(inputs, field + i, width),
                    load_as(inputs, 2 * field + i, width),
                    load_as(inputs, 3 * field + i, width),
                    load_as(inputs, 4 * field + i, width),
                    rain,
                    snow,
                    dt,
                )
                store(new, i, t)
                store(new, field + i, q)
                store(new, 2 * field + i, water)
                store(new, 3 * field + i, cover)
            store(fallen, b * row + lane, rain)
            store(fallen, ground + b * row + lane, snow)


def footprint(problem: Problem) -> Footprint:
    """Nine blocked fields and two at the ground, and the columns that they are made from."""
    return Footprint(18 * problem.field_bytes() + 2 * problem.field_bytes(1))


def setup(problem: Problem, seed: int = 0) -> State:
    """Random moist columns, with cloud water in about a third of the points."""
    require_memory(footprint(problem).memory, "the cloud-like process")
    air = random_columns(problem, seed)
    q = air["rh"] * saturation_humidity(air["t"], air["p"])
    rng = np.random.default_rng(seed + 1)
    water = 1.5e-3 * np.maximum(0.0, rng.random(q.shape) - 0.65) * (air["rh"] > 0.6)
    shape = (problem.blocks, problem.levels, problem.row)
    inputs = zeros((5, *shape))
    for place, values in zip(inputs, (air["t"], q, water, air["p"], air["dp"]), strict=True):
        place[:] = block(problem, values)
    return State(inputs, zeros((4, *shape)), zeros((2, problem.blocks, 1, problem.row)))


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> State:
    """Advance every column by Δt; the answer is in ``new`` and ``fallen``."""
    flat = [array.reshape(-1) for array in (state.inputs, state.new, state.fallen)]
    sizes, how = (state.inputs[0].size, state.fallen[0].size), (float(problem.timestep), WIDTHS[problem.build])
    return replace(state, threads=over_blocks(problem, sweep, threads, repeats, *flat, *sizes, *how))


def plain(t, q, water, p, dp, rain, snow, dt):
    """One level of one column in Python's own arithmetic, written as the equations stand."""
    qs = saturation_humidity(t, p)
    dqs = qs * (1.0 + (1.0 / EPS - 1.0) * qs) * A * (T0 - T1) / (t - T1) ** 2
    mass, clear, cover = dp / G / dt, q < qs, 0.0
    if q > U0 * qs:
        cover = 1.0 - np.sqrt((1.0 - q / qs) / (1.0 - U0)) if clear else 1.0
    if q > qs:
        change = (q - qs) / (1.0 + L / CP * dqs)
        t, q, water = t + L / CP * change, q - change, water + change
    if water > 0.0 and clear:
        change = min(water, (1.0 - cover) * (qs - q) * MIXING * dt)
        t, q, water = t - L / CP * change, q + change, water - change
    if water > 1e-12:
        inside = water / (max(cover, 0.05) * LCRIT)
        rate = C0 * (1.0 + C1 / 15.0 * np.sqrt(rain + snow)) * (1.0 - np.exp(-(min(inside, 6.0) ** 2)))
        change = water * (1.0 - 1.0 / (1.0 + dt * rate))
        water -= change
        if t < T0:
            t, snow = t + LF / CP * change, snow + change * mass
        else:
            rain += change * mass
    if snow > 0.0 and t > T0:
        melted = min(snow, (t - T0) * CP / LF * mass)
        t, snow, rain = t - LF / CP * melted / mass, snow - melted, rain + melted
    if rain > 0.0 and clear:
        r = ALPHA * np.sqrt(rain) * dt
        lost = min(rain, mass * (1.0 - cover) * (qs - q) * r / (1.0 + r))
        t, q, rain = t - L / CP * lost / mass, q + lost / mass, rain - lost
    return t, q, water, cover, rain, snow


def reference(problem: Problem, state: State) -> State:
    """Column by column, level by level, in plain Python: for small problems."""
    new, fallen = np.zeros_like(state.new), np.zeros_like(state.fallen)
    for b in range(problem.blocks):
        for i in range(problem.row):
            rain = snow = 0.0
            for level in range(problem.levels):
                *new[:, b, level, i], rain, snow = plain(*state.inputs[:, b, level, i], rain, snow, problem.timestep)
            fallen[:, b, 0, i] = rain, snow
    return State(state.inputs, new, fallen)


def verify(problem: Problem, result: State) -> list[Check]:
    """Water and energy of every column are kept; nothing is negative; cover lies in 0 … 1."""
    t, q, water, p, dp = (unblock(problem, field) for field in result.inputs)
    t_new, q_new, water_new, cover = (unblock(problem, field) for field in result.new)
    rain, snow = (unblock(problem, field)[0] for field in result.fallen)
    column = np.sum((q + water) * dp, axis=0) / G
    left = np.sum((q_new + water_new) * dp, axis=0) / G + problem.timestep * (rain + snow)
    energy = np.sum((CP * t + L * q) * dp, axis=0) / G
    kept = np.sum((CP * t_new + L * q_new) * dp, axis=0) / G - problem.timestep * LF * snow
    below = worst(*(np.minimum(field, 0.0) for field in (q_new, water_new, rain, snow)))
    clear = 1.0 - np.clip(q / saturation_humidity(t, p), U0, 1.0)
    # 1 − cover is a root: near full cover its square is known better, near none the cover itself
    off = worst(cover - 1.0 + np.sqrt(clear / (1.0 - U0))), worst((1.0 - cover) ** 2 - clear / (1.0 - U0))
    return [
        Check.near("largest relative change of a column's water", worst(left / column - 1.0), 0.0, 1e-12),
        Check.near("largest relative change of a column's energy", worst(kept / energy - 1.0), 0.0, 1e-12),
        Check.near("largest humidity, cloud water, rain or snow below zero", below, 0.0, 0.0),
        Check.near("largest error of the cover", off[0], 0.0, 1e-6),
        Check.near("largest error of the square of what is clear", off[1], 0.0, 1e-12),
    ]


NO_OUTPUT = {"inputs": "the air before the step"}


def work(problem: Problem, threads: int = 1) -> Work:
    """Operations and bytes of one repeat if every step is taken everywhere: five fields read, four written.

    Threads share the work.
    What a run really does depends on its columns; this is its upper bound, and about what a vector
    executes.  ``parts``: divisions, which the flops contain; exponentials (their operations contained)
    and square roots (one operation each).
    """
    points = problem.columns * problem.levels
    return Work(
        points * _FLOPS,
        5 * 8 * points,
        8 * (4 * points + 2 * problem.columns),
        (("divides", _DIVIDES * points), ("special functions", (_EXPS + _ROOTS) * points)),
    )


PROOF = Proof(
    SMALL_BLOCKS, each={"build": tuple(WIDTHS)}, within={"new": 1e-14, "fallen": 2e-14}, not_compared=("threads",)
)
