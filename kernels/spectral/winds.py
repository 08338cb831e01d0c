"""Wind from vorticity and divergence, and the way back: scalar transforms with one degree more.

``cos φ ∂P_n/∂φ = (n + 1) ε_n P_{n-1} - n ε_{n+1} P_{n+1}`` turns derivatives in latitude into
combinations of neighbouring degrees, so ``u cos φ`` and ``v cos φ`` have spectra up to degree ``T + 1``;
the cosine is divided out (or in) with the factors that every row is scaled by anyway.

The combinations are compiled, wavenumber by wavenumber: array by array they would cost more than
the transforms.  ``thread`` of ``threads`` takes its share of the wavenumbers up to the ``truncation`` T.
"""

import math
from functools import cached_property

import numpy as np

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import alone
from supercomputers_rerun.kernels.runtime.team import run_parts
from supercomputers_rerun.kernels.runtime.vector import LANES
from supercomputers_rerun.kernels.spectral.legendre import epsilon


@kernel
def zonal_and_meridional(truncation, factor, eps, psi, chi, u, v, threads, thread):
    """Spectra of ``∂χ/∂λ - cos φ ∂ψ/∂φ`` and ``∂ψ/∂λ + cos φ ∂χ/∂φ``, up to degree ``T + 1``.

    The coefficient of degree ``n`` of ``cos φ ∂f/∂φ`` is ``(n + 2) ε_{n+1} f_{n+1} - (n - 1) ε_n f_{n-1}``.
    ``psi`` and ``chi``, complex128 (fields, ncoef), are multiplied by the ``factor`` of their degree, float64 (T + 1,),
    first; ``eps`` has ``ε_n^m`` in the layout of degrees up to ``T + 1``, as have ``u`` and ``v``, (fields, wide),
    written.
    """
    for m in range(thread, truncation + 1, threads):
        narrow = m * (truncation + 1) - m * (m - 1) // 2 - m
        wide = narrow + m
        for k in range(psi.shape[0]):
            for n in range(m, truncation + 2):
                east_u = east_v = 0.0j
                if n <= truncation:
                    c, p = factor[n] * chi[k, narrow + n], factor[n] * psi[k, narrow + n]
                    east_u = complex(-m * c.imag, m * c.real)
                    east_v = complex(-m * p.imag, m * p.real)
                if n > m:
                    down = (n - 1.0) * eps[wide + n]
                    east_u += down * (factor[n - 1] * psi[k, narrow + n - 1])
                    east_v -= down * (factor[n - 1] * chi[k, narrow + n - 1])
                if n < truncation:
                    up = (n + 2.0) * eps[wide + n + 1]
                    east_u -= up * (factor[n + 1] * psi[k, narrow + n + 1])
                    east_v += up * (factor[n + 1] * chi[k, narrow + n + 1])
                u[k, wide + n] = east_u
                v[k, wide + n] = east_v


@kernel
def curl_and_divergence(truncation, eps, radius, zonal, meridional, vor, div, threads, thread):
    """Vorticity and divergence from the wide spectra of ``u / cos φ`` and ``v / cos φ``.

    ``ζ_n = (im v_n + (n + 1) ε_n u_{n-1} - n ε_{n+1} u_{n+1}) / a``, ``D_n`` with ``im u_n`` and the opposite signs of
    ``v``; the spectra are ``zonal`` and ``meridional``, (fields, wide), ``vor`` and ``div``, (fields, ncoef), are
    written, ``radius`` is a in m, and ``eps`` as in :func:`zonal_and_meridional`.
    """
    for m in range(thread, truncation + 1, threads):
        narrow = m * (truncation + 1) - m * (m - 1) // 2 - m
        wide = narrow + m
        for k in range(zonal.shape[0]):
            for n in range(m, truncation + 1):
                east, north = zonal[k, wide + n], meridional[k, wide + n]
                up = n * eps[wide + n + 1]
                turn = complex(-m * north.imag, m * north.real) - up * zonal[k, wide + n + 1]
                spread = complex(-m * east.imag, m * east.real) + up * meridional[k, wide + n + 1]
                if n > m:
                    down = (n + 1.0) * eps[wide + n]
                    turn += down * zonal[k, wide + n - 1]
                    spread -= down * meridional[k, wide + n - 1]
                vor[k, narrow + n] = turn / radius
                div[k, narrow + n] = spread / radius


class VectorTransforms:
    """The vector transforms of a plan."""

    @alone
    def wind(self, vor, div, threads: int = 1):
        """Zonal and meridional wind from vorticity and divergence.

        ``u cos φ = (im χ - cos φ ∂ψ/∂φ) / a`` and ``v cos φ = (im ψ + cos φ ∂χ/∂φ) / a`` with
        ``∇²ψ = ζ``, ``∇²χ = D``; the means of ``ζ`` and ``D`` are ignored.  Shapes and types as in ``inverse``;
        units 1/s to m/s.  ``ValueError`` if the two shapes differ.
        """
        vor, div = self._spectra("vor", vor), self._spectra("div", div)
        if vor.shape != div.shape:
            raise ValueError(f"vor has shape {vor.shape} and div {div.shape}; give equal shapes")
        shape, points = (*vor.shape[:-1], self.grid.points), self.grid.points
        vor, div = vor.reshape(-1, self.ncoef), div.reshape(-1, self.ncoef)
        u, v = np.empty((2, len(vor), points))
        for group in _groups(len(vor)):
            wide = self._wide(group)
            inputs = self.truncation, self.solved_laplacian, self.epsilon, vor[group], div[group]
            run_parts(zonal_and_meridional, threads, *inputs, *wide, threads)
            for spectrum, values in zip(wide, (u, v), strict=True):
                self._transform(False, spectrum, values[group], 1, threads)
        return u.reshape(shape), v.reshape(shape)

    @alone
    def vordiv(self, u, v, threads: int = 1):
        """Vorticity and divergence of a wind field, m/s to 1/s; shapes, types and errors as in ``direct`` and ``wind``.

        ``ζ = (∂v/∂λ - ∂(u cos φ)/∂φ) / (a cos φ)``, ``D = (∂u/∂λ + ∂(v cos φ)/∂φ) / (a cos φ)``,
        the derivatives in latitude by parts, so that no value at a pole is needed.
        """
        u, v = self._values("u", u), self._values("v", v)
        if u.shape != v.shape:
            raise ValueError(f"u has shape {u.shape} and v {v.shape}; give equal shapes")
        shape, points = (*u.shape[:-1], self.ncoef), self.grid.points
        u, v = u.reshape(-1, points), v.reshape(-1, points)
        vor, div = np.empty((2, len(u), self.ncoef), dtype=np.complex128)
        for group in _groups(len(u)):
            wide = self._wide(group)
            for values, spectrum in zip((u, v), wide, strict=True):
                self._transform(True, spectrum, values[group], 1, threads)
            inputs = self.truncation, self.epsilon, self.radius, *wide
            run_parts(curl_and_divergence, threads, *inputs, vor[group], div[group], threads)
        return vor.reshape(shape), div.reshape(shape)

    @cached_property
    def solved_laplacian(self):
        """What turns ζ of each degree into ψ / a, ``-a / (n (n + 1))`` [m], 0 for the mean; float64[T + 1]."""
        n = np.arange(1.0, self.truncation + 1)
        return np.concatenate([[0.0], -self.radius / (n * (n + 1.0))])

    @cached_property
    def epsilon(self):
        """``ε_n^m`` in the layout of degrees up to ``T + 1``, float64[wide]."""
        columns = self._columns[1]
        m = np.repeat(np.arange(self.truncation + 1), np.diff(columns))
        return epsilon(np.arange(m.size) - columns[m] + m, m)

    def _wide(self, group):
        """Work space for two sets of spectra with a degree more, complex128 (2, fields of the ``group``, wide)."""
        shape = 2, group.stop - group.start, int(self._columns[1][-1])
        return self._space("wide", 2 * math.prod(shape)).view(np.complex128).reshape(shape)


def _groups(fields):
    """Slices of eight fields, which the transforms take together anyway: work space stays small."""
    return [slice(i, min(i + LANES, fields)) for i in range(0, fields, LANES)]
