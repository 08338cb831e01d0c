"""A true state, a first guess that is off by a known law, and observations of the truth.

The truth is a reference profile with a geostrophic flow of large scale; the first guess adds errors with the
covariances that the analysis assumes (``covariance``), so that its predictions can be held against what it does.
Both stand on the grid and the sigma levels of the forecast: u half a grid length east of the mass points, v on the
south faces of rows.  Surface pressure follows from geopotential, which at the ground is the same for both.

A random field is a sum of M waves in space and ln p,

    ψ = sqrt(2/M) Σ_m cos(k_m·x + φ_m),     k_m ~ N(0, 1)⁴,  φ_m uniform,

of unit variance and correlation exp(−½ |x − x'|²) over the draws, whose values and gradients are known everywhere.
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.analysis.problem import KINDS, LN_P, SEEN
from supercomputers_rerun.kernels.gridpoint.levels import OMEGA, RADIUS, R, latitudes, vertical

#: Waves of a random field.
WAVES = 96
#: Scale and wind of the true flow, in those of the background's error; its depth in ln p.
LARGER, STRONGER, TRUE_DEPTH = 4.0, 3.0, 1.5
#: Standard errors of observations: geopotential m²/s², wind m/s, humidity in the background's.
ERRORS = {"phi": 100.0, "u": 2.5, "v": 2.5, "q": 0.5}
#: Aircraft fly at 250 hPa.
FLIGHT = float(np.log(25000.0))
#: Share of data with a gross error, and how gross, in standard deviations of the departure.
GROSS, _GROSS = 0.02, (8.0, 15.0)
_NORTHMOST = np.deg2rad(80.0)


class Places(NamedTuple):
    """Points on the sphere: unit vectors, float64 (3, n) each."""

    up: np.ndarray
    east: np.ndarray
    north: np.ndarray

    @property
    def coriolis(self) -> np.ndarray:
        """f, 1/s, float64 (n,)."""
        return 2 * OMEGA * self.up[2]


def places(latitude, longitude) -> Places:
    """Of latitudes and longitudes in radians, which broadcast."""
    phi, lam = (np.ravel(each) for each in np.broadcast_arrays(latitude, longitude))
    up = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    east = np.stack([-np.sin(lam), np.cos(lam), np.zeros_like(lam)])
    north = np.stack([-np.sin(phi) * np.cos(lam), -np.sin(phi) * np.sin(lam), np.cos(phi)])
    return Places(up, east, north)


class Field:
    """One draw; of a stream function with winds of ``wind`` m/s."""

    def __init__(self, rng, length: float, depth: float, wind: float = 0.0):
        self.length, self.depth, self.wind = length, depth, wind
        self.waves = rng.normal(size=(WAVES, 4))
        self.phase = rng.uniform(0, 2 * np.pi, WAVES)

    def sample(self, up: np.ndarray, base: np.ndarray, levels: np.ndarray):
        """ψ (n, J), length ∇ψ (3, n, J), depth ∂ψ/∂ln p (n, J) at points ``up`` (3, n) and ln p = ``base`` (n,) +
        ``levels`` (J,)."""
        k = self.waves
        angle = up.T @ k[:, :3].T * (RADIUS / self.length) + self.phase + np.outer(base / self.depth, k[:, 3])
        turn = np.outer(k[:, 3], levels / self.depth)
        c, s = np.cos(angle) * np.sqrt(2 / WAVES), np.sin(angle) * np.sqrt(2 / WAVES)
        ct, st = np.cos(turn), np.sin(turn)
        slope = [-(s @ (ct * k[:, m : m + 1]) + c @ (st * k[:, m : m + 1])) for m in range(4)]
        return c @ ct - s @ st, np.stack(slope[:3]), slope[3]


class Truth:
    """What is true, and how far the first guess is off, as functions: random fields of a problem."""

    def __init__(self, problem, rng):
        scale = LARGER * problem.length
        self.flow = Field(rng, scale, TRUE_DEPTH, STRONGER * problem.wind)
        self.error = Field(rng, problem.length, problem.depth, problem.wind)
        self.moist = Field(rng, scale, TRUE_DEPTH)
        self.wet = Field(rng, problem.length, problem.depth)  # the humidity's error


class Data(NamedTuple):
    """Observations, float64 (n,) each."""

    latitude: np.ndarray  # radians
    longitude: np.ndarray  # radians, 0 … 2π
    lnp: np.ndarray
    kind: np.ndarray  # number into KINDS
    value: np.ndarray  # m²/s², m/s or kg/kg
    error: np.ndarray  # standard error


def vapour(lnp):
    """Standard deviation of the background's humidity, kg/kg."""
    return 1.5e-3 * np.exp(lnp) / 1e5


def _profile(lnp):
    """Geopotential and temperature of the reference profile."""
    x = lnp - LN_P[-1]
    warm = 78.0 * np.exp(0.9 * x)
    return -R * (210.0 * x + (warm - 78.0) / 0.9), 210.0 + warm


def state(truth: Truth, guess: bool, where: Places, base: np.ndarray, levels: np.ndarray) -> dict[str, np.ndarray]:
    """phi, u, v, T and q, float64 (J, n), of the truth or of the first guess at ln p = base + levels."""
    lnp = base[:, None] + levels
    phi, temperature = _profile(lnp)
    u = v = np.zeros_like(lnp)
    q = vapour(lnp) * (4.0 + truth.moist.sample(where.up, base, levels)[0])
    for field in (truth.flow, truth.error)[: 1 + guess]:
        value, slope, thick = field.sample(where.up, base, levels)
        amplitude = field.wind * field.length
        f = where.coriolis[:, None] * amplitude
        phi = phi + f * value
        temperature = temperature - f * thick / (R * field.depth)
        u = u - amplitude / field.length * np.einsum("cn,cnj->nj", where.north, slope)
        v = v + amplitude / field.length * np.einsum("cn,cnj->nj", where.east, slope)
    if guess:
        q = q + vapour(lnp) * truth.wet.sample(where.up, base, levels)[0]
    return {"phi": phi.T, "u": u.T, "v": v.T, "T": temperature.T, "q": q.T}


def rows(problem):
    """Latitudes and longitudes of mass points, radians (nj,) and (ni,)."""
    return latitudes(problem.nj), 2 * np.pi * np.arange(problem.ni) / problem.ni


def surface(truth: Truth, where: Places):
    """ln p_s of the truth, which is smooth, and of the first guess; geopotential of the ground, the same for both."""
    zero, true = np.zeros(1), LN_P[-1] - 0.02 - 0.03 * where.up[0] * where.up[1]
    ground, lnps = state(truth, False, where, true, zero)["phi"][0], true
    for _ in range(2):
        found = state(truth, True, where, lnps, zero)
        lnps = lnps + (found["phi"][0] - ground) / (R * found["T"][0])
    return true, lnps, ground


def first_guess(problem, truth: Truth):
    """Rows of the guess, (nj, 4 · levels + 2, ni); the truth on standard levels, (nj, 5, 15, ni), and its ln p_s.

    A row is u, v, T, q on sigma levels from the top, then ln p_s and the ground's geopotential.
    """
    sigma, found = np.log(vertical(problem.levels).full), []
    lat, lon = rows(problem)
    south, east = lat - np.pi / (2 * problem.nj), lon + np.pi / problem.ni
    for phi, lam in ((lat, east), (south, lon), (lat, lon)):  # of u, v and the rest
        where = places(phi[:, None], lam)
        pressure, lnps, ground = surface(truth, where)
        found.append(state(truth, True, where, lnps, sigma))
    u, v, mass = found

    def by_rows(fields):
        return np.ascontiguousarray(np.reshape(fields, (-1, problem.nj, problem.ni)).swapaxes(0, 1))

    guess = by_rows(np.concatenate([u["u"], v["v"], mass["T"], mass["q"], [lnps, ground]]))
    shape, nothing = (problem.nj, 5, LN_P.size, problem.ni), np.zeros_like(lnps)
    known = by_rows(list(state(truth, False, where, nothing, LN_P).values())).reshape(shape)
    return guess, known, pressure.reshape(problem.nj, problem.ni)


def observe(problem, truth: Truth, rng) -> tuple[Data, np.ndarray]:
    """Sondes and aircraft, with errors of their own and some gross ones: which is bool (n,)."""
    seen, table = LN_P[SEEN], []
    for count, levels, kinds in ((problem.sondes, seen, KINDS), (problem.aircraft, np.array([FLIGHT]), ("u", "v"))):
        latitude = np.arcsin(rng.uniform(-1, 1, count) * np.sin(_NORTHMOST))
        longitude = rng.uniform(0, 2 * np.pi, count)
        found = state(truth, False, places(latitude, longitude), np.zeros(count), levels)
        for kind in kinds:
            error = np.broadcast_to(ERRORS[kind], (levels.size, count))
            if kind == "q":
                error = error * vapour(levels)[:, None]
            columns = (latitude, longitude, levels[:, None], float(KINDS.index(kind)), found[kind], error)
            table.append(np.stack([np.broadcast_to(each, error.shape).ravel() for each in columns]))
    columns = np.concatenate(table, axis=1)
    data = Data(*columns[:, rng.permutation(columns.shape[1])])
    gross, count = rng.random(data.value.size) < GROSS, data.value.size
    spread = np.hypot(background(problem, data.latitude, data.lnp, data.kind), data.error)
    off = rng.uniform(*_GROSS, count) * rng.choice([-1.0, 1.0], count) * spread
    value = data.value + data.error * rng.normal(size=count) + np.where(gross, off, 0.0)
    return data._replace(value=value), gross


def background(problem, latitude, lnp, kind):
    """Standard deviation of the background of data."""
    f = 2 * OMEGA * np.abs(np.sin(latitude))
    return np.choose(kind.astype(int), [f * problem.wind * problem.length, problem.wind, problem.wind, vapour(lnp)])
