"""The same integration as its definition says: transforms by plain sums, winds and the time step by NumPy.

Independent of the fast code but for initial spectra, nodes, weights and row lengths.
"""

import copy

import numpy as np

from supercomputers_rerun.kernels.shallow_water.problem import RADIUS
from supercomputers_rerun.kernels.spectral.legendre import epsilon
from supercomputers_rerun.kernels.spectral.plain import analyse, synthesise


class Derivatives:
    """Winds from spectra and back, of coefficients in columns of one ``order`` each, ``degree`` after degree.

    Columns go to degree T + 1, where spectra of vorticity and divergence are zero; what ``np.roll`` brings from a
    neighbouring column has the factor 0.
    """

    def __init__(self, truncation: int, degree: np.ndarray, order: np.ndarray):
        n, m = degree.astype(float), order.astype(float)
        self.inside, self.im = degree <= truncation, 1j * m
        eps, above = epsilon(n, m), epsilon(n + 1, m)
        # of cos φ ∂f/∂φ: what the neighbours one degree lower and higher contribute
        self.wind_down, self.wind_up = (n - 1) * eps, np.where(self.inside, (n + 2) * above, 0.0)
        self.turn_down, self.turn_up = (n + 1) * eps, np.where(self.inside, n * above, 0.0)
        self.laplacian = n * (n + 1) / RADIUS**2
        self.invert = np.divide(-RADIUS, n * (n + 1), out=np.zeros_like(n), where=n > 0) * self.inside

    def wind(self, vorticity, divergence):
        """Spectra of u cos φ and v cos φ."""
        psi, chi = self.invert * vorticity, self.invert * divergence
        u = self.im * chi + self.wind_down * np.roll(psi, 1) - self.wind_up * np.roll(psi, -1)
        v = self.im * psi - self.wind_down * np.roll(chi, 1) + self.wind_up * np.roll(chi, -1)
        return u, v

    def vordiv(self, zonal, meridional):
        """Curl and divergence from the spectra of u / cos φ and v / cos φ."""
        curl = self.im * meridional + self.turn_down * np.roll(zonal, 1) - self.turn_up * np.roll(zonal, -1)
        spread = self.im * zonal - self.turn_down * np.roll(meridional, 1) + self.turn_up * np.roll(meridional, -1)
        return curl * self.inside / RADIUS, spread * self.inside / RADIUS


class PlainPlan:
    """The transforms of a ``plan``, one field at a time, by ``spectral.plain`` and :class:`Derivatives`."""

    def __init__(self, plan):
        T = plan.truncation
        self.plan, self._wide = plan, copy.copy(plan)  # for vectors, with one degree more
        self._wide.truncation, self._wide.ncoef = T + 1, (T + 2) * (T + 3) // 2
        order = self._wide.m
        degree = np.concatenate([np.arange(m, T + 2) for m in range(T + 2)])
        self._inside, self._derivatives = (degree <= T) & (order <= T), Derivatives(T, degree, order)
        self._cosine = np.cos(plan.grid.coordinates()[0])

    def inverse(self, spectrum):
        return synthesise(self.plan, spectrum[None])[0]

    def direct(self, values):
        return analyse(self.plan, values[None])[0]

    def wind(self, vorticity, divergence):
        spectra = np.zeros((2, self._wide.ncoef), np.complex128)
        spectra[:, self._inside] = vorticity, divergence
        return synthesise(self._wide, np.stack(self._derivatives.wind(*spectra))) / self._cosine

    def vordiv(self, zonal, meridional):
        spectra = analyse(self._wide, np.stack([zonal, meridional]) / self._cosine)
        return [each[self._inside] for each in self._derivatives.vordiv(*spectra)]


def tendencies(plan, coriolis, spectra):
    """Curl and divergence of ``A``, divergence of ``φ'V``, kinetic energy, as spectra, by a ``plan``."""
    u, v = plan.wind(spectra[0], spectra[2])
    absolute, height = plan.inverse(spectra[0]) + coriolis, plan.inverse(spectra[1])
    flux = plan.vordiv(height * u, height * v)[1]
    return *plan.vordiv(absolute * v, -absolute * u), flux, plan.direct(0.5 * (u**2 + v**2))


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


def _step(problem, state, plan, old, now, first):
    L = state.plan.n * (state.plan.n + 1.0) / RADIUS**2
    return plain(problem, state.mean, state.ground, L, tendencies(plan, state.coriolis, now), old, now, first)


def again(problem, state, before, spectra):
    """The last step of an integration once more, by the transforms of its plan, which have checks of their own.

    ``before`` are the levels old and now, the latter after the filter; what that was before follows from the three.
    """
    old, filtered = before
    first, half = problem.steps == 1, 0.5 * problem.asselin
    into, end = half * problem.williams, -half * (1 - problem.williams)
    bend = 0.0 if first else (old - 2 * filtered + spectra) / (1 - 2 * into + end)
    return _step(problem, state, state.plan, old, filtered - into * bend, first)


def integrate(problem, state):
    """``ζ, φ', D`` at the end of the integration, complex128 (3, ncoef), and the two levels before it."""
    plan, old, now = PlainPlan(state.plan), state.spectra.copy(), state.spectra.copy()
    for k in range(problem.steps):
        before = old
        old, now = _step(problem, state, plan, old, now, k == 0)
    return now, np.stack([before, old])
