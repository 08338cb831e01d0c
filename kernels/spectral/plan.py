"""Spherical-harmonic transforms between triangular spectra and Gaussian grids.

::

    inverse   spectra ─ Legendre (legendre_one, legendre_eight) ─▶ Fourier buffer ─ rows ─▶ grid
    direct    spectra ◀─ Legendre ─ Fourier buffer ◀─ rows ─ grid

Both parts are compiled code, each shared by the threads that there are: by wavenumber the Legendre part, by row the
Fourier part.  Fields travel in groups of six to eight, or alone.  ``call`` is what a plan has prepared, a :class:`Call`
as plain tuples; ``spectra`` are complex128 (fields, ncoef), ``values`` float64 (fields, points), both C-contiguous;
``group`` is a pair: the first field of those that are transformed, and the bits of the parts of the transform that are
done; ``thread`` of ``threads`` takes its share of a part.  Tables, buffers and scratch are kept between calls.

Where the time of one thread goes (Zen 4, full grids F80 and F320, inverse and direct; the bound is what the operations
of the Legendre part take at the measured peak, 58 Gflop/s)::

                     Legendre    bound    Fourier    of which transforms    Python and handing over
    T159, 1 field    112, 122       96     39,  39                    21                          7    µs
    T159, 8 fields   706, 725      578    345, 308                   170                          7    µs
    T639, 8 fields     34, 36       30    7.7, 7.8                   3.9                          –    ms

The rest of the Fourier part moves data: eight fields of T639 do not stay in the caches.

``book/peers.md`` has whole transforms.
"""

import threading
import warnings
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import carray

from supercomputers_rerun.kernels.contract import require_range
from supercomputers_rerun.kernels.runtime.arrays import aligned, require_array, zeros
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import alone, require_memory, require_threads
from supercomputers_rerun.kernels.runtime.team import run_parts, worthwhile
from supercomputers_rerun.kernels.runtime.vector import LANES, address
from supercomputers_rerun.kernels.spectral import legendre_eight, legendre_one, rows
from supercomputers_rerun.kernels.spectral.functions import LegendreTables, Share, Spectra
from supercomputers_rerun.kernels.spectral.grids import Grid, half_nodes
from supercomputers_rerun.kernels.spectral.grids import grid as named_grid
from supercomputers_rerun.kernels.spectral.legendre import blocks_of, legendre_tables, position, table_bytes
from supercomputers_rerun.kernels.spectral.winds import VectorTransforms

LARGEST_TRUNCATION = 8000
# as objects, since a comparison with numpy's classes costs 0.15 µs
COMPLEX = np.dtype(np.complex128)
REAL = np.dtype(np.float64)
#: Bytes from which the Fourier buffer of an inverse transform bypasses the caches on its way out: eight fields of T399
#: and T639 take 6 to 11 % longer otherwise (Zen 4).  A smaller one is read back from the cache immediately afterwards:
#: bypassing costs 5 to 12 % up to 4 MiB.  From there on grid values bypass them as well, where they can
#: (``rows.inverse``).
STREAM_FROM = 6 * 2**20
#: The same of a direct transform, whose buffer is written in scattered pieces: 6 to 10 % (T399, T639).
STREAM_DIRECT_FROM = 3 * 2**20
#: Fields from which on all travel in eight lanes, some of them idle, and not one after the other.  By the table above a
#: call of eight takes 6.2 (T159, direct) and 6.7 times (inverse) as long as one of one; of six, with a Fourier part in
#: proportion, lanes would take .96 and 1.03 times as long as six alone; that is no measurement.
FEWEST_TOGETHER = 6
#: Products of the Legendre part, coefficients times rows of a hemisphere times fields, that are worth a thread; two
#: threads start at twice as many.  One thread's time over that of two, inverse, at a good and at a bad hour of a shared
#: EPYC of Zen 3 with two CPUs: 1.01 and .86 with 100 000 products (T63, one field), 1.18 and .72 with 240 000 (T42,
#: eight), 1.41 and 1.11 with 460 000 (T106, one).
FEWEST_PRODUCTS = 2**17
#: Bits of the parts of a transform.  A single thread does both in one call, which takes 4 µs less than two; several
#: threads meet in between.
LEGENDRE = 1
FOURIER = 2
BOTH = LEGENDRE | FOURIER
#: Column of a task's ``end`` in ``rows.Rows.where``.
_END = rows.Task._fields.index("end")


#: The module for a field alone; code for vectors of two lanes transforms pairs only, and does not compile
#: ``legendre_one``, which is written for eight.
single = legendre_one if LANES > 2 else legendre_eight


class Call(NamedTuple):
    """What a plan has prepared of a transform of so many fields in one direction."""

    tables: LegendreTables
    columns: np.ndarray  # int64, (T + 2,): first coefficient of each wavenumber, and the end
    extra: int  # 0 or 1: degrees go up to the truncation plus this
    lanes: np.ndarray  # int64, (8,): offset of the field in each lane, doubles; missing fields share the last one's
    fields: int  # 1 … 8
    tasks: rows.Rows
    lengths: rows.Lengths
    buffer: rows.Buffer
    legendre_work: np.ndarray  # float64, (threads, …)
    fourier_work: np.ndarray  # float64, (threads, …)


@kernel(inline=True)
def _named(call):
    """The ``Call`` that a plan passes as plain tuples, whose types numba finds in less time."""
    tables, columns, extra, lanes, fields, tasks, lengths, buffer, legendre_work, fourier_work = call
    return Call(
        tables=LegendreTables(*tables),
        columns=columns,
        extra=extra,
        lanes=lanes,
        fields=fields,
        tasks=rows.Rows(*tasks),
        lengths=rows.Lengths(*lengths),
        buffer=rows.Buffer(*buffer),
        legendre_work=legendre_work,
        fourier_work=fourier_work,
    )


@kernel(inline=True)
def _flat(fields, first):
    """``fields`` from ``first`` on in one row; numba's ``reshape`` calls what WebAssembly does not have."""
    return carray(address(fields[first]), ((fields.shape[0] - first) * fields.shape[1],))


@kernel(inline=True)
def _group_spectra(call, spectra, first):
    """The ``Spectra`` of the group."""
    return Spectra(_flat(spectra.view(np.float64), first), call.columns, call.extra, call.lanes, call.fields)


@kernel
def inverse_transform(call, spectra, values, group, threads, thread):
    """Spectra to the Fourier buffer, and that to the grid: the parts of an inverse transform."""
    call = _named(call)
    first, parts = group
    share = Share(thread, threads)
    fields = _group_spectra(call, spectra, first)
    work = call.legendre_work[thread]
    if parts & LEGENDRE:
        if call.fields == 1:
            single.inverse(share, call.tables, fields, work, call.buffer)
        else:
            legendre_eight.inverse(share, call.tables, fields, work, call.buffer)
    if parts & FOURIER:
        points = _flat(values, first)
        rows.inverse(share, call.tasks, call.lengths, call.fourier_work[thread], call.buffer, points)


@kernel
def direct_transform(call, spectra, values, group, threads, thread):
    """The grid to the Fourier buffer, and that to spectra: the parts of a direct transform."""
    call = _named(call)
    first, parts = group
    share = Share(thread, threads)
    if parts & FOURIER:
        points = _flat(values, first)
        rows.direct(share, call.tasks, call.lengths, call.fourier_work[thread], call.buffer, points)
    if parts & LEGENDRE:
        fields = _group_spectra(call, spectra, first)
        work = call.legendre_work[thread]
        if call.fields == 1:
            single.direct(share, call.tables, fields, work, call.buffer)
        else:
            legendre_eight.direct(share, call.tables, fields, work, call.buffer)


def _require_truncation(grid: Grid, truncation: int) -> int:
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


def _require_fields(name: str, array, dtype: np.dtype, length: int, what: str) -> np.ndarray:
    """``array``, or a copy that compiled code can read, of shape (length,) or (fields, length), else ``ValueError``."""
    flags = array.flags if isinstance(array, np.ndarray) else None
    if flags is None or not (flags.c_contiguous and flags.aligned and flags.writeable):
        array = np.array(array, order="C")  # a read-only one too: code would be compiled anew for its type
    if array.dtype != dtype or array.ndim not in (1, 2) or array.shape[-1] != length:
        raise ValueError(
            f"{name} is {array.dtype} of shape {array.shape}; {what} takes {dtype} of shape "
            f"({length},) or (fields, {length})"
        )
    return array


def _output(out, shape: tuple[int, ...], dtype: np.dtype, source: np.ndarray) -> np.ndarray:
    """``out`` if it fits and lies apart from the ``source``, a new array if it is None, else ``ValueError``."""
    if out is None:
        return aligned(shape, dtype)
    return require_array("out", out, dtype, shape, writable=True, apart=(source,))


def _name_not_finite(name: str, given: np.ndarray, shown: np.ndarray) -> None:
    """``RuntimeWarning`` that says where NaN or infinity stands in a field of ``given``, if its number in ``shown``, to
    which all of the field contributes, is not finite."""
    for field, number in enumerate(shown.tolist()):
        if number - number != 0:  # not finite, real or complex
            wrong = np.flatnonzero(~np.isfinite(given.reshape(len(shown), -1)[field]))
            what = f"NaN or infinity in {wrong.size} places, first in {wrong[0]}" if wrong.size else "too large numbers"
            warnings.warn(
                f"{name}: field {field} has {what}; its transform is not finite", RuntimeWarning, stacklevel=3
            )


@cache
def groups_of(fields: int) -> list[slice]:
    """Slices of eight fields, one of six or seven left over, else of one each; with two lanes none may be left over."""
    whole, left = divmod(fields, LANES)
    if left and LANES == 2:
        raise ValueError(f"{fields} fields: code for vectors of two lanes transforms pairs of them; give one more")
    groups = [slice(LANES * i, LANES * (i + 1)) for i in range(whole)]
    if left >= FEWEST_TOGETHER:
        return [*groups, slice(LANES * whole, fields)]
    return groups + [slice(i, i + 1) for i in range(LANES * whole, fields)]


class Plan(VectorTransforms):
    """Transforms of triangular truncation ``T`` on one Gaussian grid.

    A real field is

        f(λ, μ) = Σ_{m=-T}^{T} Σ_{n=|m|}^{T} s_n^m P_n^{|m|}(μ) exp(imλ),    s_n^{-m} = conj(s_n^m),

    at longitude λ and μ = sin φ of latitude φ, with ``½ ∫ P² dμ = 1`` and no Condon–Shortley sign, the
    convention of IFS: ``s_0^0`` is the mean and ``Σ_n (|s_n^0|² + 2 Σ_{m>0} |s_n^m|²)`` the mean square of
    the field over the sphere.  Coefficients are complex128, ``m`` by ``m``: all ``n = m … T`` of ``m = 0``,
    then of ``m = 1``, …; the coefficient ``(m, n)`` stands at ``index(m, n)``.  A spectrum has shape
    ``(ncoef,)`` or ``(fields, ncoef)``, a grid-point field ``(points,)`` or ``(fields, points)`` float64,
    rows from north to south.

    On a row of ``L`` points the wavenumbers above ``(L - 1) // 2`` are left out in both directions.
    Several fields at once are faster than one after the other: eight travel together.  A plan owns work
    space and serves one call at a time: calls of other threads wait.  Results do not depend on ``threads``,
    of which small transforms take fewer: ``team`` says how many.

    Parameters
    ----------
    grid : Grid or str
        Grid or its name, see ``grid``.
    truncation : int
        ``T``; full rows must satisfy ``L >= 2T + 1`` next to the equator.
    radius : float
        Radius of the sphere, used by ``wind`` and ``vordiv`` (1 by default), m.

    Raises
    ------
    ValueError
        If the truncation needs longer rows, or more of them, than the grid has.
    MemoryError
        If tables or work space do not fit into the available memory.
    """

    def __init__(self, grid: Grid | str, truncation: int, radius: float = 1.0):
        if not isinstance(grid, (Grid, str)):
            raise ValueError(f"grid = {grid!r} must be a Grid or the name of one, such as 'F32'")
        self.grid = named_grid(grid) if isinstance(grid, str) else grid
        self.radius = float(radius)
        T = _require_truncation(self.grid, truncation)
        self.truncation = T
        self.ncoef = (T + 1) * (T + 2) // 2
        self.nlat = self.grid.N
        require_memory(table_bytes(T, self.nlat), f"a plan of truncation {T} on {self.grid.name}")
        self._columns = [self._offsets(T), self._offsets(T + 1)]
        self._tables, counts = legendre_tables(self.grid, T)
        self._mu, _, self._cosine, _, self._weight = half_nodes(2 * self.nlat)
        self._lengths, ids = rows.lengths_of(self.grid.pl[: self.nlat])
        self._many = rows.of_eight_fields(ids, self.grid, counts, self._tables.first_row)
        self._single = rows.of_one_field(ids, self.grid, counts, self._tables.first_row)
        self._workspace: dict = {}
        self._calls: dict = {}
        self._teams: dict[tuple[int, int], int] = {}
        self.lock = threading.RLock()

    # --- tables -------------------------------------------------------------------------------

    def _offsets(self, top):
        """First coefficient of each wavenumber 0 … T, and the end, for degrees up to ``top``: m has top + 1 − m."""
        return np.concatenate([[0], np.cumsum(top + 1 - np.arange(self.truncation + 1))]).astype(np.int64)

    def _scales(self, direct, tasks, power):
        """Even and odd scale of every lane of some ``tasks``; ``power`` of ``cos φ`` is divided out.

        The odd one has the factor μ that the Legendre part leaves out (``functions``), the direct ones the weight of
        the row in the quadrature.
        """
        even = 1.0 / self._cosine**power
        if direct:
            # 1/L of the mean over longitudes; a half from ½ ∫ dμ, another since ``rows`` gives twice north ± south
            even = even * self._weight / (4.0 * self.grid.pl[: self.nlat])
        odd = even * self._mu
        return np.ascontiguousarray(np.concatenate([even[tasks.rows], odd[tasks.rows]], axis=1))

    def _space(self, key, size, shape=None):
        """``size`` doubles of work space named ``key``, of a ``shape`` if given; kept between calls."""
        if key not in self._workspace or self._workspace[key].size < size:
            self._workspace[key] = zeros(size)
            self._calls.clear()  # they hold what was there before
        space = self._workspace[key][:size]
        return space.reshape(shape) if shape else space

    # --- indexing -----------------------------------------------------------------------------

    def index(self, m: int, n: int) -> int:
        """Position of the coefficient of zonal wavenumber ``m`` and degree ``n``."""
        require_range("m", int(m), 0, self.truncation)
        require_range("n", int(n), int(m), self.truncation)
        return int(position(m, n, self.truncation))

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
        threads : int
            At most so many, see ``team``.

        Returns
        -------
        ndarray
            ``out``, or a new array.

        Raises
        ------
        ValueError
            If a shape or dtype does not fit, or for more threads than usable CPUs.
        """
        spec = self._spectra("spec", spec)
        out = _output(out, (*spec.shape[:-1], self.grid.points), REAL, spec)
        values = out.reshape(-1, self.grid.points)
        self._transform(False, spec.reshape(-1, self.ncoef), values, 0, threads)
        # a row beside the equator has all waves, and each of its points all of these
        _name_not_finite("spec", spec, values[:, self.grid.points // 2])
        return out

    def direct(self, values, out=None, threads: int = 1):
        """Spectrum of grid-point values (analysis by Gaussian quadrature).

        Parameters
        ----------
        values : float64, (points,) or (fields, points)
        out : complex128, (ncoef,) or (fields, ncoef), C-contiguous, optional
            Where to write.
        threads : int
            At most so many, see ``team``.

        Returns
        -------
        ndarray
            ``out``, or a new array.

        Raises
        ------
        ValueError
            If a shape or dtype does not fit, or for more threads than usable CPUs.
        """
        values = self._values("values", values)
        out = _output(out, (*values.shape[:-1], self.ncoef), COMPLEX, values)
        spectra = out.reshape(-1, self.ncoef)
        self._transform(True, spectra, values.reshape(-1, self.grid.points), 0, threads)
        _name_not_finite("values", values, spectra[:, 0])  # the mean has all points
        return out

    # --- drivers ------------------------------------------------------------------------------

    def team(self, fields: int, threads: int) -> int:
        """How many of ``threads`` transform so many fields: fewer, down to one, where the work is too small for them.

        ``ValueError``: more threads than usable CPUs.
        """
        key = fields, threads
        if key not in self._teams:  # the system is asked once: that takes 10 µs
            first = groups_of(fields)[0]
            products = (first.stop - first.start) * self.ncoef * self.nlat
            self._teams[key] = worthwhile(require_threads(threads), products, FEWEST_PRODUCTS)
        return self._teams[key]

    @alone
    def _transform(self, direct, spectra, values, power, threads):
        """All fields in one direction, by group; divided by cos φ to the ``power`` (0 or 1), 1 with a degree more."""
        transform = direct_transform if direct else inverse_transform
        order = [FOURIER, LEGENDRE] if direct else [LEGENDRE, FOURIER]
        for group in groups_of(len(values)):
            fields = group.stop - group.start
            team = self.team(fields, threads)
            call = self._call(direct, fields, power, team)
            for parts in [BOTH] if team == 1 else order:
                run_parts(transform, team, call, spectra, values, (group.start, parts), team)

    def _call(self, direct, fields, power, threads):
        """What compiled code is told of a transform of so many fields, kept between calls until work space grows."""
        key = direct, fields, power, threads
        if key not in self._calls:
            tasks = self._single if fields == 1 else self._many
            legendre = single if fields == 1 else legendre_eight
            where = tasks.where.copy()
            if fields > 1:
                where[:, _END] = fields  # lanes without a field are left out
            columns = self._columns[power]
            size = legendre.scratch_size(self.truncation, blocks_of(self.grid))
            width = rows.scratch_size(self._lengths)
            call = Call(
                tables=self._tables,
                columns=columns,
                extra=power,  # a power of cos φ takes one degree more
                lanes=np.minimum(np.arange(LANES), fields - 1) * 2 * int(columns[-1]),  # missing ones share the last's
                fields=fields,
                tasks=rows.Rows(where, self._scales(direct, tasks, power)),
                lengths=self._lengths,
                buffer=self._buffer(direct, fields, tasks),
                legendre_work=self._space((legendre.__name__, threads), threads * size, (threads, size)),
                fourier_work=self._space(("rows", threads), threads * width, (threads, width)),
            )
            # numba takes microseconds to find the type of a named tuple
            self._calls[key] = tuple(tuple(part) if isinstance(part, tuple) else part for part in call)
        return self._calls[key]

    def _buffer(self, direct, fields, tasks):
        """The Fourier buffer of one direction: latitude-major for the inverse, wavenumber-major for the direct."""
        if direct:
            # the buffer of one field is its own: idle lanes are zero from the start, and nothing else writes there
            values = self._space("waves" if fields == 1 else "fourier", tasks.waves_size)
            return rows.Buffer(values, tasks.waves, 8 * values.size >= STREAM_DIRECT_FROM)
        values = self._space("fourier", tasks.size)
        return rows.Buffer(values, tasks.places, 8 * values.size >= STREAM_FROM)

    # --- arguments ----------------------------------------------------------------------------

    def _spectra(self, name, spec):
        return _require_fields(name, spec, COMPLEX, self.ncoef, f"truncation {self.truncation}")

    def _values(self, name, values):
        return _require_fields(name, values, REAL, self.grid.points, f"grid {self.grid.name}")
