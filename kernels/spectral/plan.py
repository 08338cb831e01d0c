"""Spherical-harmonic transforms between triangular spectra and Gaussian grids."""

import numpy as np

from kernels.contract import require_range
from kernels.runtime.pages import LINE, aligned, zeros
from kernels.runtime.resources import require_memory
from kernels.runtime.threads import numba_threads
from kernels.spectral import fourier_rows, legendre_eight, legendre_one, tasks
from kernels.spectral.fourier import Lengths
from kernels.spectral.gauss import half_nodes
from kernels.spectral.grids import Grid
from kernels.spectral.grids import grid as named_grid
from kernels.spectral.legendre import BLOCK, coefficients, plan_seeds
from kernels.spectral.winds import VectorTransforms

LARGEST_TRUNCATION = 8000
STREAM_FROM = 16 * 2**20  # bytes from which arrays bypass the caches on their way out
STREAM_BUFFER_FROM = 2 * 2**20  # the same for Fourier buffers, except that of the inverse of one field


class Plan(VectorTransforms):
    """Transforms of triangular truncation ``T`` on one Gaussian grid.

    A real field is

        f(λ, μ) = Σ_{m=-T}^{T} Σ_{n=|m|}^{T} s_n^m P_n^{|m|}(μ) exp(imλ),    s_n^{-m} = conj(s_n^m),

    with ``½ ∫ P² dμ = 1`` and no Condon–Shortley sign, the convention of IFS: ``s_0^0`` is the mean and
    ``Σ_n (|s_n^0|² + 2 Σ_{m>0} |s_n^m|²)`` the mean square of the field over the sphere.  Coefficients
    are complex128, ``m`` by ``m``: all ``n = m … T`` of ``m = 0``, then of ``m = 1``, …; the coefficient
    ``(m, n)`` stands at ``index(m, n)``.  A spectrum has shape ``(ncoef,)`` or ``(fields, ncoef)``, a
    grid-point field ``(points,)`` or ``(fields, points)`` float64, rows from north to south.

    On a row of ``L`` points the wavenumbers above ``(L - 1) // 2`` are left out in both directions.
    Several fields at once are faster than one after the other: eight travel together.  A plan owns work
    space and serves one call at a time.  Results do not depend on ``threads``.

    Parameters
    ----------
    grid : Grid or str
        Grid or its name, see ``grid``.
    truncation : int
        ``T``; full rows must satisfy ``L >= 2T + 1`` next to the equator.
    radius : float
        Radius of the sphere, used by ``wind``, ``vordiv``, ``gradient`` (1 by default), m.

    Raises
    ------
    ValueError
        If the truncation needs longer rows, or more of them, than the grid has.
    MemoryError
        If tables or work space do not fit into the available memory.
    """

    def __init__(self, grid: Grid | str, truncation: int, radius: float = 1.0):
        self.grid = named_grid(grid) if isinstance(grid, str) else grid
        self.radius = float(radius)
        T = self.truncation = _checked(self.grid, truncation)
        self.ncoef = (T + 1) * (T + 2) // 2
        self.nlat = self.grid.N
        self._padded = -(-self.nlat // BLOCK) * BLOCK
        blocks = self._padded // BLOCK
        terms = _terms(T)
        require_memory(table_bytes(T, self.nlat), f"a plan of truncation {T} on {self.grid.name}")
        self._columns = [self._offsets(T), self._offsets(T + 1)]
        self._legendre(terms, blocks)
        self._fourier_tables()
        self._workspace: dict = {}

    # --- tables -------------------------------------------------------------------------------

    def _offsets(self, top):
        """First coefficient of each wavenumber 0 … T, and the end, for degrees up to ``top``."""
        return np.concatenate([[0], np.cumsum(top + 1 - np.arange(self.truncation + 1))]).astype(np.int64)

    def _legendre(self, terms, blocks):
        T, pl = self.truncation, self.grid.pl[: self.nlat]
        count = (T + 1 - np.arange(T + 1)) // 2 + 1
        self._offset = np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int64)
        self._table = np.zeros((5, terms))
        coefficients(T, self._offset, *self._table)
        mu, low, cosine, cosine_low, weight = half_nodes(2 * self.nlat)
        self._mu, self._cosine, self._weight = mu, cosine, weight
        pad = self._padded - self.nlat
        self._x = np.pad(mu * mu + 2 * mu * low, (0, pad))
        self._first = np.zeros((T + 1, blocks), dtype=np.int64)
        self._seeds = np.zeros((T + 1, blocks, 2 * BLOCK))
        capped = np.minimum(T, (pl - 1) // 2) + 1
        a, b, _, _, odd = self._table
        plan_seeds(
            T,
            self._offset,
            a,
            b,
            odd,
            self._x,
            np.pad(cosine, (0, pad)),
            np.pad(cosine_low, (0, pad)),
            np.searchsorted(capped, np.arange(T + 1), side="right"),
            self._first,
            self._seeds,
        )
        # wavenumbers that never exceed TINY in a block are not carried by its rows
        alive = [int(np.flatnonzero(self._first[:, g] < count).max(initial=0)) + 1 for g in range(blocks)]
        alive = np.maximum.accumulate(alive)
        self._counts = np.minimum(capped, alive[np.arange(self.nlat) // BLOCK]).astype(np.int64)
        self._first_row = np.searchsorted(self._counts, np.arange(T + 1), side="right").astype(np.int64)

    def _fourier_tables(self):
        nlat, pl = self.nlat, self.grid.pl[: self.nlat]
        self._lengths = Lengths(pl)
        ids = np.array([self._lengths.id[int(n)] for n in pl])
        starts = self.grid.starts
        self._equator = slice(int(starts[nlat - 1]), int(starts[nlat]))
        north, south = starts[:nlat], starts[::-1][:nlat]
        rows_ = ids, north, south, self._counts, self._first_row
        self._many, self._single = tasks.of_eight_fields(*rows_), tasks.of_one_field(*rows_, self._padded)
        self._streamed = 8 * self._many.size >= STREAM_BUFFER_FROM
        self._streamed_one = (8 * self._single.size >= STREAM_FROM, 8 * self._single.waves_size >= STREAM_BUFFER_FROM)

    def _factors(self, direct, chosen, power):
        """Even and odd scale of every lane of some tasks; ``power`` of ``cos φ`` is divided out."""
        key = "factors", direct, chosen is self._many, power
        if key not in self._workspace:
            even = 1.0 / self._cosine**power
            if direct:
                even = even * self._weight / (4.0 * self.grid.pl[: self.nlat])
            scales = even[chosen.rows], (even * self._mu)[chosen.rows]
            self._workspace[key] = np.ascontiguousarray(np.concatenate(scales, axis=1))
        return self._workspace[key]

    def _space(self, key, size, shape=None):
        """Work space that is kept between calls."""
        if key not in self._workspace or self._workspace[key].size < size:
            require_memory(8 * size, f"a transform of truncation {self.truncation} on {self.grid.name}")
            self._workspace[key] = zeros(size)
        found = self._workspace[key]
        return found[:size].reshape(shape) if shape else found[:size]

    # --- indexing -----------------------------------------------------------------------------

    def index(self, m: int, n: int) -> int:
        """Position of the coefficient of zonal wavenumber ``m`` and degree ``n``."""
        require_range("m", int(m), 0, self.truncation)
        require_range("n", int(n), int(m), self.truncation)
        return int(self._columns[0][m] + n - m)

    @property
    def m(self) -> np.ndarray:
        """Zonal wavenumber of every coefficient, int64[ncoef]."""
        T = self.truncation
        return np.repeat(np.arange(T + 1), T + 1 - np.arange(T + 1))

    @property
    def n(self) -> np.ndarray:
        """Degree of every coefficient, int64[ncoef]."""
        return np.arange(self.ncoef) - self._columns[0][self.m] + self.m

    # --- scalar transforms --------------------------------------------------------------------

    def inverse(self, spec, out=None, threads: int = 1):
        """Grid-point values of a spectrum (synthesis).

        Parameters
        ----------
        spec : complex128, (ncoef,) or (fields, ncoef)
            Coefficients; the imaginary parts of ``m = 0`` are ignored.
        out : float64, (points,) or (fields, points), C-contiguous, optional
            Where to write.

        Raises
        ------
        ValueError
            If a shape or dtype does not fit, or a coefficient is not finite.
        """
        spec = self._spectra("spec", spec)
        out = self._output(out, spec, self.grid.points, np.float64)
        self._inverse(spec.reshape(-1, self.ncoef), out.reshape(-1, self.grid.points), 0, 0, threads)
        return out

    def direct(self, values, out=None, threads: int = 1):
        """Spectrum of grid-point values (analysis by Gaussian quadrature).

        Parameters
        ----------
        values : float64, (points,) or (fields, points)
        out : complex128, (ncoef,) or (fields, ncoef), C-contiguous, optional
            Where to write.

        Raises
        ------
        ValueError
            If a shape or dtype does not fit, or a value is not finite.
        """
        values = self._values("values", values)
        out = self._output(out, values, self.ncoef, np.complex128)
        self._direct(values.reshape(-1, self.grid.points), out.reshape(-1, self.ncoef), 0, 0, threads)
        return out

    # --- drivers ------------------------------------------------------------------------------

    def _groups(self, fields):
        """Slices of eight fields, or of one where few are left over."""
        whole, left = divmod(fields, 8)
        groups = [slice(8 * i, 8 * i + 8) for i in range(whole)]
        if left > 3:
            return [*groups, slice(8 * whole, fields)]
        return groups + [slice(i, i + 1) for i in range(8 * whole, fields)]

    def _inverse(self, spec, out, extra, power, threads):
        with numba_threads(threads):
            for group in self._groups(len(spec)):
                step = self._inverse_one if group.stop - group.start == 1 else self._inverse_many
                step(spec[group], out[group], extra, power, threads)
        self._require_finite(out[:, self._equator], "a coefficient of field")

    def _direct(self, values, out, extra, power, threads):
        with numba_threads(threads):
            for group in self._groups(len(values)):
                step = self._direct_one if group.stop - group.start == 1 else self._direct_many
                step(values[group], out[group], extra, power, threads)
        self._require_finite(out[:, :1], "a value of field")

    @staticmethod
    def _require_finite(found, what):
        """NaN and infinity spread to every row (every mean): looking at one is enough."""
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if bad.size:
            raise ValueError(f"{what} {bad[0]} is not finite; remove NaN and infinity before the transform")

    def _lanes(self, fields, stride):
        """Offset of the field in each lane; missing fields share the place of the last."""
        return np.minimum(np.arange(8), fields - 1) * stride

    def _many_rows(self, fields):
        """Offsets of the rows of every task in as many fields."""
        key = "rows of fields", fields
        if key not in self._workspace:
            lanes = self._lanes(fields, self.grid.points)
            self._workspace[key] = self._many.north + lanes, self._many.south + lanes
        return self._workspace[key]

    def _row_tables(self, threads):
        L, size = self._lengths, fourier_rows.scratch_size(self._lengths)
        scratch = self._space(("rows", threads), threads * size, (threads, size))
        return L.info, L.radix, L.table, scratch, L.largest, L.columns

    def _legendre_tables(self):
        return self._table, self._offset, self._x, self._first_row

    def _legendre_scratch(self, module, threads):
        """Private work space of every thread for the Legendre part of ``many`` or ``single``."""
        size = module.scratch_size(self.truncation, self._first.shape[1])
        return self._space((module.__name__, threads), threads * size, (threads, size))

    def _streams_to(self, out):
        """Whether every row of every field starts on a cache line, and the array is large."""
        return out.nbytes >= STREAM_FROM and out.ctypes.data % LINE == 0 and not (self.grid.pl % 8).any()

    def _inverse_many(self, spec, out, extra, power, threads):
        chosen, scratch = self._many, self._legendre_scratch(legendre_eight, threads)
        fourier = self._space("fourier", chosen.size)
        legendre_eight.inverse_legendre(
            threads,
            extra,
            _flat(spec),
            self._columns[extra],
            self._lanes(len(spec), 2 * spec.shape[1]),
            *self._legendre_tables(),
            self.nlat,
            self._first,
            self._seeds,
            scratch,
            fourier,
            chosen.places,
            self._streamed,
        )
        fourier_rows.inverse_rows(
            threads,
            chosen.where,
            *self._many_rows(len(spec)),
            self._factors(False, chosen, power),
            *self._row_tables(threads),
            fourier,
            out.reshape(-1),
            self._streams_to(out),
        )

    def _direct_many(self, values, out, extra, power, threads):
        chosen, scratch = self._many, self._legendre_scratch(legendre_eight, threads)
        fourier = self._space("fourier", chosen.size)
        fourier_rows.direct_rows(
            threads,
            chosen.where,
            *self._many_rows(len(values)),
            self._factors(True, chosen, power),
            *self._row_tables(threads),
            values.reshape(-1),
            fourier,
            chosen.waves,
            self._streamed,
        )
        legendre_eight.direct_legendre(
            threads,
            extra,
            _flat(out),
            self._columns[extra],
            self._lanes(len(out), 2 * out.shape[1]),
            len(out),
            *self._legendre_tables(),
            self.nlat,
            self._first,
            self._seeds,
            scratch,
            fourier,
            chosen.waves,
        )

    def _inverse_one(self, spec, out, extra, power, threads):
        chosen, scratch = self._single, self._legendre_scratch(legendre_one, threads)
        fourier = self._space("fourier", chosen.size)
        legendre_one.inverse_legendre(
            threads,
            extra,
            _flat(spec),
            self._columns[extra],
            *self._legendre_tables(),
            self._first,
            self._seeds,
            scratch,
            fourier,
            chosen.places,
            chosen.counts,
            self._streamed_one[0],
        )
        fourier_rows.inverse_rows(
            threads,
            *chosen[:3],
            self._factors(False, chosen, power),
            *self._row_tables(threads),
            fourier,
            out.reshape(-1),
            self._streams_to(out),
        )

    def _direct_one(self, values, out, extra, power, threads):
        chosen, scratch = self._single, self._legendre_scratch(legendre_one, threads)
        fourier = self._space("single waves", chosen.waves_size)  # idle lanes stay zero
        fourier_rows.direct_rows(
            threads,
            *chosen[:3],
            self._factors(True, chosen, power),
            *self._row_tables(threads),
            values.reshape(-1),
            fourier,
            chosen.waves,
            self._streamed_one[1],
        )
        legendre_one.direct_legendre(
            threads,
            extra,
            _flat(out),
            self._columns[extra],
            *self._legendre_tables(),
            self._first,
            self._seeds,
            scratch,
            fourier,
            chosen.waves,
        )

    # --- arguments ----------------------------------------------------------------------------

    def _spectra(self, name, spec):
        spec = np.ascontiguousarray(spec)
        if spec.dtype != np.complex128 or spec.ndim not in (1, 2) or spec.shape[-1] != self.ncoef:
            raise ValueError(
                f"{name} is {spec.dtype} of shape {spec.shape}; truncation {self.truncation} takes "
                f"complex128 of shape ({self.ncoef},) or (fields, {self.ncoef})"
            )
        return spec

    def _values(self, name, values):
        values = np.ascontiguousarray(values)
        points = self.grid.points
        if values.dtype != np.float64 or values.ndim not in (1, 2) or values.shape[-1] != points:
            raise ValueError(
                f"{name} is {values.dtype} of shape {values.shape}; grid {self.grid.name} takes float64 of "
                f"shape ({points},) or (fields, {points})"
            )
        return values

    def _output(self, out, like, last, dtype):
        shape = (*like.shape[:-1], last)
        if out is None:
            require_memory(int(np.prod(shape)) * np.dtype(dtype).itemsize, f"a result of shape {shape}")
            return aligned(shape, dtype)
        if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
            raise ValueError(
                f"out is {out.dtype} of shape {out.shape}; give C-contiguous {np.dtype(dtype)} of shape {shape}"
            )
        return out


def _terms(truncation: int) -> int:
    """Terms of the Legendre recurrences of all wavenumbers, two degrees at a time."""
    return sum((truncation + 1 - m) // 2 + 1 for m in range(truncation + 1))


def table_bytes(truncation: int, rows: int) -> int:
    """Bytes of the Legendre tables of a plan with so many rows between pole and equator."""
    return 8 * (5 * _terms(truncation) + (truncation + 1) * -(-rows // BLOCK) * (2 * BLOCK + 1))


def _flat(spectra):
    """Complex array as a flat float64 view, real and imaginary parts in turn."""
    return spectra.view(np.float64).reshape(-1)


def _checked(grid, truncation):
    """``truncation`` if the grid carries it, else ``ValueError``."""
    require_range("truncation", truncation, 1, LARGEST_TRUNCATION)
    longest = int(grid.pl.max())
    if longest < 2 * truncation + 1:
        raise ValueError(
            f"truncation {truncation} needs rows of at least {2 * truncation + 1} points, the longest row of "
            f"{grid.name} has {longest}; choose truncation {(longest - 1) // 2} or lower, or a finer grid"
        )
    if 2 * grid.N < truncation + 1:
        raise ValueError(
            f"truncation {truncation} needs at least {truncation + 1} rows, {grid.name} has {2 * grid.N}; "
            f"choose a finer grid"
        )
    return truncation
