"""Numbers that the compiled rows need: sizes, coefficients of rows and levels, filter, inverse pivots.

The grid is a C grid: mass rows at φ_j = −π/2 + (j + ½) Δφ, no row on a pole; u half a grid length east of the
mass points, v half a grid length south (the *south face* of the row; at the poles it is zero).
"""

from typing import NamedTuple

import numpy as np

from kernels.fft import factorise, roots
from kernels.gridpoint.layout import FIELDS, HALO, LINES, PAIR, Extents, half_words
from kernels.gridpoint.levels import DAMPING, EPSILON, KAPPA, OMEGA, P_REF, RADIUS, T_REF, R, vertical
from kernels.gridpoint.problem import LAG, Problem
from kernels.runtime.vector import LANES


class RowCoefficients(NamedTuple):
    """Coefficients by row, float64 (nj + 1,); *south* and *north* are the row's faces."""

    cos: np.ndarray  # cosφ_j
    inverse_cos: np.ndarray
    south: np.ndarray  # cosφ at the south face, 0 at the pole
    north: np.ndarray
    dx: np.ndarray  # 1/(a cosφ Δλ)
    dy: np.ndarray  # 1/(a cosφ Δφ)
    face: np.ndarray  # 1/(a Δφ) at the south face, 0 at the pole
    laplace_south: np.ndarray  # ∇² in latitude: weight of the row to the south
    laplace_north: np.ndarray
    f: np.ndarray  # 2Ω sinφ at the south face
    curl_v: np.ndarray  # ζ at the south face: of the difference of v in longitude
    curl_u: np.ndarray  # and of that of u cosφ in latitude
    pole: np.ndarray  # ζ at a pole: of the mean of u
    damp_south: np.ndarray  # second difference in latitude of mass rows
    damp_north: np.ndarray
    damp_south_v: np.ndarray  # and of v
    damp_north_v: np.ndarray
    filtered: np.ndarray  # int64: bit 0 if u, T, q and p_s are filtered, bit 1 if v is


class LevelCoefficients(NamedTuple):
    """Coefficients by level, float64 (K,)."""

    thickness: np.ndarray
    half: np.ndarray  # σ below the level
    log: np.ndarray
    log_per: np.ndarray  # ln r/Δσ
    alpha: np.ndarray
    half_per: np.ndarray  # ½/Δσ
    sigma: np.ndarray  # σ of the level


class WaveTables(NamedTuple):
    """What works in wavenumber space: the filter, the Helmholtz equations, the Fourier transforms."""

    filter: np.ndarray  # float64 (2, nj, ni): factor by place in the spectrum over ni, of mass rows and of v
    forward: np.ndarray  # float64 (16 groups, 2K + 1): T, D, p_s → right-hand sides
    backward: np.ndarray  # float64 (16 groups, 16 groups): modes → G
    inverse: np.ndarray  # float64 (nj, ni/2 + 1, groups, 16): inverse pivots
    speed2: np.ndarray  # float64 (groups · 16,): Δt² c²
    radices: np.ndarray  # int64: those of rows of ni points, and 0
    roots: np.ndarray  # float64: theirs of unity


class Scale(NamedTuple):
    """Numbers of the whole forecast."""

    dt: float  # s
    epsilon: float  # of the time filter
    damp: float  # δ⁴, 1/s
    R: float
    tau_T: float  # κ T_ref
    p_mean: float  # p_ref, Pa
    kappa: float


class ForecastPlan(NamedTuple):
    size: Extents
    rows: RowCoefficients
    column: LevelCoefficients
    waves: WaveTables
    scale: Scale


def row_coefficients(problem: Problem) -> RowCoefficients:
    """Coefficients of all rows and of the northern pole's face."""
    nj, ni = problem.nj, problem.ni
    dphi, dlam = np.pi / nj, 2 * np.pi / ni
    phi = -np.pi / 2 + (np.arange(nj + 1) + 0.5) * dphi
    face = -np.pi / 2 + np.arange(nj + 2) * dphi
    cos, sin = np.cos(phi), np.sin(phi)
    edge = np.cos(face)
    edge[[0, nj]] = 0.0
    cos[nj], sin[nj] = cos[nj - 1], sin[nj - 1]  # no such row: never divide by its cosine
    south, north = edge[: nj + 1], np.append(edge[1 : nj + 1], 0.0)
    before_cos, before_sin = np.append(cos[0], cos[:-1]), np.append(sin[0], sin[:-1])
    gap = sin - before_sin
    gap[[0, nj]] = np.inf
    inner = np.ones(nj + 1)
    inner[[0, nj]] = 0.0
    safe = np.where(south > 0, south, np.inf)
    damp_v = cos / safe, before_cos / safe
    damp_v[0][nj - 1] = damp_v[1][1] = 0.0  # no flux over the poles
    sign = np.zeros(nj + 1)
    sign[0], sign[nj] = -1.0, 1.0
    filtered = ((cos < 0.5) + 2 * ((south < 0.5) & (south > 0))).astype(np.int64)
    return RowCoefficients(
        cos,
        1 / cos,
        south,
        north,
        1 / (RADIUS * cos * dlam),
        1 / (RADIUS * cos * dphi),
        inner / (RADIUS * dphi),
        south / (cos * (RADIUS * dphi) ** 2),
        north / (cos * (RADIUS * dphi) ** 2),
        2 * OMEGA * np.sin(face[: nj + 1]),
        dphi / (RADIUS * dlam * gap),
        1 / (RADIUS * gap),
        sign * cos / (RADIUS * (1 - np.abs(sin))),
        south / cos,
        north / cos,
        damp_v[1],
        damp_v[0],
        filtered,
    )


def polar_filter(problem: Problem, rows: RowCoefficients) -> np.ndarray:
    """min(1, cosφ/(cos 60° sin(sΔλ/2))) by place in the spectrum, float64 (2, nj, ni); v's where its faces are."""
    s = np.arange(problem.ni)
    s = np.minimum(s, problem.ni - s)
    wave = np.maximum(np.sin(s * np.pi / problem.ni), 1e-300)
    cos = np.stack([rows.cos[: problem.nj], rows.south[: problem.nj]])
    return np.where(s == 0, 1.0, np.minimum(1.0, cos[:, :, None] / (0.5 * wave)))


def pivots(problem: Problem, rows: RowCoefficients, speed2: np.ndarray) -> np.ndarray:
    """Inverse pivots of (1 − Δt²c²∇²) g = rhs by row, wavenumber and mode, float64 (nj, ni/2 + 1, modes)."""
    ni, nj = problem.ni, problem.nj
    k = np.arange(ni // 2 + 1)
    symbol = (2 * np.sin(np.pi * k / ni)) ** 2
    inverse = np.empty((nj, len(k), len(speed2)))
    upper = 0.0
    for j in range(nj):
        weight = symbol * rows.dx[j] ** 2 + rows.laplace_south[j] + rows.laplace_north[j]
        inverse[j] = 1 / (1 + weight[:, None] * speed2 - speed2 * rows.laplace_south[j] * upper)
        upper = speed2 * rows.laplace_north[j] * inverse[j]
    return inverse


def _matrices(problem: Problem, column) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Δt² c² by mode, and ``WaveTables.forward`` and ``backward``."""
    levels, modes = problem.levels, PAIR * -(-problem.levels // PAIR)
    speed2, forward, backward = np.zeros(modes), np.zeros((modes, 2 * levels + 1)), np.zeros((modes, modes))
    speed2[:levels] = problem.dt**2 * column.speed2
    waves = column.gamma @ column.tau + R * T_REF * column.thickness
    forward[:levels, :levels] = column.inverse @ column.gamma
    forward[:levels, levels:-1] = -problem.dt * column.inverse @ waves
    forward[:levels, -1] = column.inverse @ np.full(levels, R * T_REF / P_REF)
    backward[:levels, :levels] = column.modes
    return speed2, forward, backward


def _size(problem: Problem, slots: int, halves: int) -> Extents:
    ni, levels = problem.ni, problem.levels
    groups, pitch, tendency = -(-levels // PAIR), ni + 2 * HALO, PAIR * (-(-(levels + 1) // PAIR))
    field = levels * pitch
    return Extents(
        ni,
        problem.nj,
        levels,
        pitch,
        field,
        FIELDS * field + (LINES + 1) * pitch,
        problem.lines + LAG + 2,
        slots,
        halves,
        half_words(ni, levels),
        groups,
        tendency,
        (4 * tendency + PAIR * groups + LANES) * pitch,
    )


def make(problem: Problem, slots: int | None = None, halves: int | None = None) -> ForecastPlan:
    """The plan; ``slots`` and ``halves`` rows of records and right-hand sides are held in memory, or all."""
    ni, nj = problem.ni, problem.nj
    column, rows = vertical(problem.levels), row_coefficients(problem)
    size = _size(problem, slots or nj, halves or nj)
    speed2, forward, backward = _matrices(problem, column)
    waves = WaveTables(
        polar_filter(problem, rows) / ni,
        forward,
        backward,
        pivots(problem, rows, speed2).reshape(nj, ni // 2 + 1, size.groups, PAIR),
        speed2,
        np.array([*factorise(ni), 0]),
        roots(ni).ravel(),
    )
    scale = Scale(problem.dt, EPSILON, 1 / (16 * DAMPING), R, KAPPA * T_REF, P_REF, KAPPA)
    levelled = LevelCoefficients(
        column.thickness,
        column.half[1:].copy(),
        column.log,
        column.log / column.thickness,
        column.alpha,
        0.5 / column.thickness,
        column.full,
    )
    return ForecastPlan(size, rows, levelled, waves, scale)


def scratch_words(size: Extents) -> int:
    """Doubles of one thread's private work space."""
    return size.fourier + 2 * PAIR * size.ni + 64
