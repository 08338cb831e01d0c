"""Wind, vorticity and divergence, gradients: scalar transforms with one degree more.

``cos φ ∂P_n/∂φ = (n + 1) ε_n P_{n-1} - n ε_{n+1} P_{n+1}`` turns derivatives in latitude into
combinations of neighbouring degrees, so ``u cos φ`` and ``v cos φ`` have spectra up to degree ``T + 1``;
the cosine is divided out (or in) with the factors that every row is scaled by anyway.

The combinations are compiled, wavenumber by wavenumber: array by array they would cost more than
the transforms.

``threads`` share the wavenumbers up to the ``truncation`` T.
"""

import numpy as np
from numba import prange

from kernels.runtime.jit import kernel
from kernels.runtime.threads import alone, numba_threads
from kernels.runtime.vector import LANES
from kernels.spectral.legendre import epsilon


@kernel(parallel=True)
def _zonal_and_meridional(threads, truncation, eps, psi, chi, u, v):
    """Spectra of ``∂χ/∂λ - cos φ ∂ψ/∂φ`` and ``∂ψ/∂λ + cos φ ∂χ/∂φ``, up to degree ``T + 1``.

    The coefficient of degree ``n`` of ``cos φ ∂f/∂φ`` is ``(n + 2) ε_{n+1} f_{n+1} - (n - 1) ε_n f_{n-1}``.
    ``eps`` has ``ε_n^m`` in the layout of degrees up to ``T + 1``, as have ``u`` and ``v``, (fields, wide), written.
    """
    for thread in prange(threads):
        # with sign: -m must not wrap
        for m in range(np.int64(thread), truncation + 1, threads):
            narrow = m * (truncation + 1) - m * (m - 1) // 2 - m
            wide = narrow + m
            for k in range(psi.shape[0]):
                for n in range(m, truncation + 2):
                    east_u = east_v = 0.0j
                    if n <= truncation:
                        c, p = chi[k, narrow + n], psi[k, narrow + n]
                        east_u = complex(-m * c.imag, m * c.real)
                        east_v = complex(-m * p.imag, m * p.real)
                    if n > m:
                        down = (n - 1.0) * eps[wide + n]
                        east_u += down * psi[k, narrow + n - 1]
                        east_v -= down * chi[k, narrow + n - 1]
                    if n < truncation:
                        up = (n + 2.0) * eps[wide + n + 1]
                        east_u -= up * psi[k, narrow + n + 1]
                        east_v += up * chi[k, narrow + n + 1]
                    u[k, wide + n] = east_u
                    v[k, wide + n] = east_v


@kernel(parallel=True)
def _scale(threads, truncation, factor, spectrum, out):
    """``out = factor[n] · spectrum``; complex128 (fields, ncoef), float64 (T + 1,)."""
    for thread in prange(threads):
        for m in range(np.int64(thread), truncation + 1, threads):
            first = m * (truncation + 1) - m * (m - 1) // 2 - m
            for k in range(spectrum.shape[0]):
                for n in range(m, truncation + 1):
                    out[k, first + n] = factor[n] * spectrum[k, first + n]


@kernel(parallel=True)
def _curl_and_divergence(threads, truncation, eps, radius, zonal, meridional, vor, div):
    """Vorticity and divergence from the wide spectra of ``u / cos φ`` and ``v / cos φ``.

    ``ζ_n = (im v_n + (n + 1) ε_n u_{n-1} - n ε_{n+1} u_{n+1}) / a``, ``D_n`` with ``im u_n`` and the opposite signs of
    ``v``; the spectra are ``zonal`` and ``meridional``, (fields, wide), ``vor`` and ``div``, (fields, ncoef), are
    written, ``radius`` is a in m, and ``eps`` as in ``_zonal_and_meridional``.
    """
    for thread in prange(threads):
        for m in range(np.int64(thread), truncation + 1, threads):
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

    def wind(self, vor, div, threads: int = 1):
        """Zonal and meridional wind from vorticity and divergence.

        ``u cos φ = (im χ - cos φ ∂ψ/∂φ) / a`` and ``v cos φ = (im ψ + cos φ ∂χ/∂φ) / a`` with
        ``∇²ψ = ζ``, ``∇²χ = D``; the means of ``ζ`` and ``D`` are ignored.  Shapes as in ``inverse``;
        units 1/s to m/s.
        """
        vor, div = self._spectra("vor", vor), self._spectra("div", div)
        if vor.shape != div.shape:
            raise ValueError(f"vor has shape {vor.shape} and div {div.shape}; give equal shapes")
        factor = np.zeros(self.truncation + 1)
        n = np.arange(1, self.truncation + 1)
        factor[1:] = -self.radius / (n * (n + 1.0))
        return self._vector(vor, div, factor, threads)

    @alone
    def vordiv(self, u, v, threads: int = 1):
        """Vorticity and divergence of a wind field, shapes as in ``direct``.

        ``ζ = (∂v/∂λ - ∂(u cos φ)/∂φ) / (a cos φ)``, ``D = (∂u/∂λ + ∂(v cos φ)/∂φ) / (a cos φ)``,
        the derivatives in latitude by parts, so that no value at a pole is needed.
        """
        u, v = self._values("u", u), self._values("v", v)
        if u.shape != v.shape:
            raise ValueError(f"u has shape {u.shape} and v {v.shape}; give equal shapes")
        shape, points = u.shape[:-1], self.grid.points
        u, v = u.reshape(-1, points), v.reshape(-1, points)
        vor, div = np.empty((2, len(u), self.ncoef), dtype=np.complex128)
        for group in _groups(len(u)):
            both = self._pair("wide", group, int(self._columns[1][-1]))
            self._transform(True, both[0], u[group], 1, threads)
            self._transform(True, both[1], v[group], 1, threads)
            with numba_threads(threads):
                inputs = self.truncation, self._epsilon(), self.radius, *both
                _curl_and_divergence(threads, *inputs, vor[group], div[group])
        return vor.reshape(*shape, self.ncoef), div.reshape(*shape, self.ncoef)

    def _epsilon(self):
        """``ε_n^m`` in the layout of degrees up to ``T + 1``, float64[wide]."""
        if "epsilon" not in self._workspace:
            columns = self._columns[1]
            m = np.repeat(np.arange(self.truncation + 1), np.diff(columns))
            self._workspace["epsilon"] = epsilon(np.arange(m.size) - columns[m] + m, m)
        return self._workspace["epsilon"]

    def _pair(self, key, group, size):
        """Work space for two sets of spectra, complex128 (2, fields of the group, size)."""
        fields = group.stop - group.start
        return self._space(key, 4 * fields * size).view(np.complex128).reshape(2, fields, size)

    @alone
    def _vector(self, psi, chi, factor, threads):
        """``(∂χ/∂λ - cos φ ∂ψ/∂φ) / cos φ`` and ``(∂ψ/∂λ + cos φ ∂χ/∂φ) / cos φ`` on the grid.

        ``psi`` and ``chi`` are multiplied by ``factor`` of their degree first.
        """
        shape, points = chi.shape[:-1], self.grid.points
        psi, chi = psi.reshape(-1, self.ncoef), chi.reshape(-1, self.ncoef)
        result = np.empty((2, len(chi), points))
        for group in _groups(len(chi)):
            scaled = self._pair("scaled", group, self.ncoef)
            both = self._pair("wide", group, int(self._columns[1][-1]))
            with numba_threads(threads):
                _scale(threads, self.truncation, factor, psi[group], scaled[0])
                _scale(threads, self.truncation, factor, chi[group], scaled[1])
                _zonal_and_meridional(threads, self.truncation, self._epsilon(), *scaled, *both)
            for spectrum, into in zip(both, result, strict=True):
                self._transform(False, spectrum, into[group], 1, threads)
        return result[0].reshape(*shape, points), result[1].reshape(*shape, points)


def _groups(fields):
    """Slices of eight fields, which the transforms take together anyway: work space stays small."""
    return [slice(i, min(i + LANES, fields)) for i in range(0, fields, LANES)]
