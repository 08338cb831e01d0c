"""Wind, vorticity and divergence, gradients: scalar transforms with one degree more.

``cos φ ∂P_n/∂φ = (n + 1) ε_n P_{n-1} - n ε_{n+1} P_{n+1}`` turns derivatives in latitude into
combinations of neighbouring degrees, so ``u cos φ`` and ``v cos φ`` have spectra up to degree ``T + 1``;
the cosine is divided out (or in) with the factors that every row is scaled by anyway.
"""

import numpy as np

from .legendre import epsilon


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
        scale = np.zeros(self.truncation + 1)
        n = np.arange(1, self.truncation + 1)
        scale[1:] = -self.radius / (n * (n + 1.0))
        return self._vector(vor * scale[self.n], div * scale[self.n], threads)

    def gradient(self, spec, threads: int = 1):
        """Zonal and meridional derivative ``∂f/∂λ / (a cos φ)`` and ``∂f/∂φ / a`` of a spectrum."""
        spec = self._spectra("spec", spec)
        return self._vector(None, spec / self.radius, threads)

    def vordiv(self, u, v, threads: int = 1):
        """Vorticity and divergence of a wind field, shapes as in ``direct``.

        ``ζ = (∂v/∂λ - ∂(u cos φ)/∂φ) / (a cos φ)``, ``D = (∂u/∂λ + ∂(v cos φ)/∂φ) / (a cos φ)``,
        the derivatives in latitude by parts, so that no value at a pole is needed.
        """
        u, v = self._values("u", u), self._values("v", v)
        if u.shape != v.shape:
            raise ValueError(f"u has shape {u.shape} and v {v.shape}; give equal shapes")
        points, wide = self.grid.points, int(self._columns[1][-1])
        both = np.empty((2, *u.shape[:-1], wide), dtype=np.complex128)
        for field, into in ((u, both[0]), (v, both[1])):
            self._direct(field.reshape(-1, points), into.reshape(-1, wide), 1, 1, threads)
        up, down, here, im = self._derivative()
        vor = im * both[1][..., here] + down * _shifted(both[0], here) - up * both[0][..., here + 1]
        div = im * both[0][..., here] - down * _shifted(both[1], here) + up * both[1][..., here + 1]
        return vor / self.radius, div / self.radius

    def _derivative(self):
        """``n ε_{n+1}``, ``(n+1) ε_n``, index in the wider layout, ``im``, for every coefficient."""
        if "derivative" not in self._workspace:
            m, n = self.m, self.n
            here = self._columns[1][m] + n - m
            self._workspace["derivative"] = (n * epsilon(n + 1, m), (n + 1.0) * epsilon(n, m), here, 1j * m)
        return self._workspace["derivative"]

    def _vector(self, psi, chi, threads):
        """``(∂χ/∂λ - cos φ ∂ψ/∂φ) / cos φ`` and ``(∂ψ/∂λ + cos φ ∂χ/∂φ) / cos φ`` on the grid."""
        m, n = self.m, self.n
        _, _, here, im = self._derivative()
        u = np.zeros((*chi.shape[:-1], int(self._columns[1][-1])), dtype=np.complex128)
        v = np.zeros_like(u)
        # cos φ ∂P_n/∂φ = (n + 1) ε_n P_{n-1} - n ε_{n+1} P_{n+1}
        raised, lowered = n * epsilon(n + 1, m), (n + 1.0) * epsilon(n, m)
        u[..., here] = im * chi
        v[..., here + 1] -= raised * chi
        inner = n > m
        v[..., here[inner] - 1] += (lowered * chi)[..., inner]
        if psi is not None:
            v[..., here] += im * psi
            u[..., here + 1] += raised * psi
            u[..., here[inner] - 1] -= (lowered * psi)[..., inner]
        shape, points = chi.shape[:-1], self.grid.points
        result = np.empty((2, *shape, points))
        for spectrum, into in ((u, result[0]), (v, result[1])):
            self._inverse(spectrum.reshape(-1, u.shape[-1]), into.reshape(-1, points), 1, 1, threads)
        return result[0], result[1]


def _shifted(wide, here):
    """Coefficients of degree ``n - 1`` (of some finite number where there is none)."""
    return wide[..., np.maximum(here - 1, 0)]
