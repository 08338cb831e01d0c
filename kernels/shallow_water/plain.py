"""The same integration as its definition says: dense matrices of harmonics, one plain step after another.

Independent of the fast code but for initial spectra and row lengths: nodes from NumPy, explicit
harmonics and derivatives, matrix products instead of transforms, its own step.
"""

import numpy as np

from kernels.runtime.resources import require_memory
from kernels.shallow_water.problem import RADIUS


class Dense:
    """Harmonics, and their derivatives, at every grid point: complex128 (points, ncoef)."""

    def __init__(self, grid, truncation):
        T = truncation
        ncoef = (T + 1) * (T + 2) // 2
        require_memory(3 * 5 * 16 * grid.points * ncoef, f"dense harmonics of truncation {T} on {grid.name}")
        nodes, weights = np.polynomial.legendre.leggauss(2 * grid.N)
        mu, weights = nodes[::-1], weights[::-1]
        pairs = [(m, n) for m in range(T + 1) for n in range(m, T + 1)]
        self.m, self.n = np.array(pairs).T
        value, slope = self._legendre(T, mu)
        pl = grid.pl
        row = np.repeat(np.arange(2 * grid.N), pl)
        angle = 2 * np.pi * (np.arange(grid.points) - grid.starts[row]) / pl[row]
        wave = np.exp(1j * angle[:, None] * np.arange(T + 1))[:, self.m]
        wave = wave * (self.m <= (pl[row][:, None] - 1) // 2)
        self.harmonic = value[row] * wave
        self.east = 1j * self.m * self.harmonic  # ∂/∂λ
        self.north = slope[row] * wave  # cos φ ∂/∂φ
        self.cosine = np.sqrt(1 - mu**2)[row]
        self.weight = (weights / (2 * pl))[row]
        self.twice = np.where(self.m == 0, 1.0, 2.0)

    def _legendre(self, T, mu):
        """``P_n^m`` and ``(1 - μ²) dP/dμ`` at the rows, by the textbook recurrences."""
        value, slope = np.zeros((2, len(mu), len(self.m)))
        sectoral = np.ones_like(mu)
        column = 0
        for m in range(T + 1):
            if m:
                sectoral = sectoral * np.sqrt((2 * m + 1) / (2 * m)) * np.sqrt(1 - mu**2)
            before, now = np.zeros_like(mu), sectoral
            for n in range(m, T + 1):
                here = np.sqrt((n * n - m * m) / (4 * n * n - 1)) if n else 0.0
                after = np.sqrt(((n + 1) ** 2 - m * m) / (4 * (n + 1) ** 2 - 1))
                value[:, column] = now
                slope[:, column] = -n * mu * now + (2 * n + 1) * here * before
                before, now = now, (mu * now - here * before) / after
                column += 1
        return value, slope

    def synthesis(self, spectrum, of="harmonic"):
        """Grid values of a spectrum, or of its derivative ``east`` or ``north``."""
        return (getattr(self, of) @ (self.twice * spectrum)).real

    def analysis(self, values):
        """Spectrum of grid values, which are real, by quadrature."""
        return (self.harmonic.T @ (self.weight * values)).conj()

    def wind(self, vorticity, divergence):
        """Wind from the spectra of vorticity and divergence."""
        inverse = np.zeros(len(self.n))
        inverse[self.n > 0] = -(RADIUS**2) / (self.n * (self.n + 1.0))[self.n > 0]
        psi, chi = inverse * vorticity, inverse * divergence
        u = self.synthesis(chi, "east") - self.synthesis(psi, "north")
        v = self.synthesis(psi, "east") + self.synthesis(chi, "north")
        return u / (RADIUS * self.cosine), v / (RADIUS * self.cosine)

    def divergence(self, zonal, meridional):
        """Spectrum of the divergence of a vector field, which is real, integrated by parts."""
        scale = self.weight / (RADIUS * self.cosine)
        return -(self.east.T @ (scale * zonal) + self.north.T @ (scale * meridional)).conj()

    def curl(self, zonal, meridional):
        """Spectrum of the vertical component of the curl."""
        return self.divergence(meridional, -zonal)


def tendencies(dense, coriolis, spectra):
    """Curl and divergence of ``A``, divergence of ``φ'V``, kinetic energy, as spectra."""
    vorticity, phi, divergence = spectra
    u, v = dense.wind(vorticity, divergence)
    absolute = dense.synthesis(vorticity) + coriolis
    height = dense.synthesis(phi)
    return (
        dense.curl(absolute * v, -absolute * u),
        dense.divergence(absolute * v, -absolute * u),
        dense.divergence(height * u, height * v),
        dense.analysis(0.5 * (u**2 + v**2)),
    )


class Fast:
    """The words of :class:`Dense` by the transforms of a plan, which have checks of their own."""

    def __init__(self, plan):
        self.synthesis, self.analysis, self.wind = plan.inverse, plan.direct, plan.wind
        self.curl = lambda zonal, meridional: plan.vordiv(zonal, meridional)[0]
        self.divergence = lambda zonal, meridional: plan.vordiv(zonal, meridional)[1]
        self.n = plan.n


def plain(problem, mean, ground, L, terms, old, now, first):
    """``now`` after the time filter, and the next time level, each ζ, φ', D by rows, from ``old`` and ``now``.

    With ``terms`` curl A, div A, div(φ'V) and K, ``mean`` Φ, ``ground`` φ_s, τ half of the time from old to new, and
    ``L`` = n(n + 1)/a² of each coefficient:  D⁺ - τL φ⁺ = b₁  and  φ⁺ + τΦ D⁺ = b₂.
    """
    curl, divergence, flux, kinetic = terms
    span = problem.dt if first else 2 * problem.dt
    tau = span / 2
    b1 = old[2] + span * (divergence + L * (kinetic + ground)) + tau * L * old[1]
    b2 = old[1] - span * flux - tau * mean * old[2]
    spread = (b1 + tau * L * b2) / (1 + tau * L * tau * mean)
    phi = b2 - tau * mean * spread
    damping = 1 / (1 + span * problem.coefficient * L ** (problem.order // 2))
    new = damping * np.stack([old[0] + span * curl, phi + ground, spread]) - [[0.0], [1.0], [0.0]] * ground
    bend = 0.0 if first else 0.5 * problem.asselin * (old - 2 * now + new)
    return now + problem.williams * bend, new - (1 - problem.williams) * bend


def _step(problem, state, harmonics, old, now, first):
    L = harmonics.n * (harmonics.n + 1.0) / RADIUS**2
    return plain(problem, state.mean, state.ground, L, tendencies(harmonics, state.coriolis, now), old, now, first)


def again(problem, state, before, spectra):
    """The last step of an integration once more: its two levels as :func:`plain` gives them.

    ``before`` are the levels old and now, the latter after the filter; what that was before follows from the three.
    """
    old, filtered = before
    first, half = problem.steps == 1, 0.5 * problem.asselin
    into, end = half * problem.williams, -half * (1 - problem.williams)
    bend = 0.0 if first else (old - 2 * filtered + spectra) / (1 - 2 * into + end)
    return _step(problem, state, Fast(state.plan), old, filtered - into * bend, first)


def integrate(problem, state):
    """``ζ, φ', D`` at the end of the integration, complex128 (3, ncoef), and the two levels before it."""
    dense = Dense(state.plan.grid, problem.truncation)
    old, now = state.spectra.copy(), state.spectra.copy()
    for k in range(problem.steps):
        before = old
        old, now = _step(problem, state, dense, old, now, k == 0)
    return now, np.stack([before, old])
