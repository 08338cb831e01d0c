"""Both parts of a transform in compiled code, with all that does not depend on the caller's arrays prepared.

numba takes some 0.2 µs to tell the type of an array in a tuple, and opening a parallel region takes 5 µs, of the 2 µs
that the sums of truncation 21 take.  So one thread does a whole transform in one call, with the checks of values
(``inverse``, ``direct``), and what is prepared comes as one ``call``, int64: of each array of the parts' arguments its
address and its shape, of each number the number (``packed``), in the order in which ``_unpacked`` reads them.  The plan
keeps the arrays.  Several threads take the parts apart, each a region of its own, since numba may fuse two.

``spectra`` are complex128 (fields, ncoef), ``values`` float64 (fields, points), both C-contiguous; ``first`` is the
first field of those that are transformed.  The answer of a whole transform is what was wrong: ``SHARED`` memory or
``UNREADY`` input, seen before anything is written, or an ``INFINITE`` result, which one row or one mean tells: NaN and
infinity spread to every one of them.

``thread`` of ``threads`` takes its share of a part.
"""

import numba
import numpy as np
from numba import carray

from kernels.runtime.jit import kernel
from kernels.runtime.pages import LINE
from kernels.runtime.vector import LANES, place_at
from kernels.spectral import fourier_rows, legendre_eight, legendre_one
from kernels.spectral.fourier import FourierTables
from kernels.spectral.functions import LegendreTables, Spectra
from kernels.spectral.tasks import Buffer, Rows

# code for vectors of two lanes transforms pairs of fields alone
_one = legendre_one if LANES > 2 else legendre_eight
FINE, SHARED, UNREADY, INFINITE = range(4)
#: The thread and the number of threads where there is one.  A plain 0 has a type of its own, as the variable of a
#: ``prange`` has: numba would compile every part anew for each.
ALONE, ONE = np.int64(0), np.int64(1)


def packed(*arguments) -> list[int]:
    """Addresses and shapes of arrays, and numbers, out of tuples of either."""
    found: list[int] = []
    for each in arguments:
        if isinstance(each, tuple):
            found += packed(*each)
        elif isinstance(each, np.ndarray):
            found += [each.ctypes.data, *each.shape]
        else:
            found.append(int(each))
    return found


@kernel(inline=True)
def _line(call, i, like):
    """The array of one dimension at place ``i`` of the call, of the type of ``like``; and the next place."""
    return carray(place_at(call[i], like), (call[i + 1],)), i + 2


@kernel(inline=True)
def _table(call, i, like):
    """The array of two dimensions at place ``i`` of the call, of the type of ``like``; and the next place."""
    return carray(place_at(call[i], like), (call[i + 1], call[i + 2])), i + 3


@kernel
def _unpacked(call, spectra, reals, first):
    """What both parts are told, and the place behind it in ``call``; ``reals`` is any array of float64."""
    factors, i = _table(call, 0, reals)
    offset, i = _line(call, i, call)
    squares, i = _line(call, i, reals)
    rows, i = call[i], i + 1
    first_row, i = _line(call, i, call)
    begins, i = _table(call, i, call)
    seeds, i = carray(place_at(call[i], reals), (call[i + 1], call[i + 2], call[i + 3])), i + 4
    tables = LegendreTables(factors, offset, squares, rows, first_row, begins, seeds)
    columns, i = _line(call, i, call)
    every = carray(place_at(spectra.ctypes.data, reals), (2 * spectra.size,))
    extra, i = call[i], i + 1
    lanes, i = _line(call, i, call)
    fields, i = Spectra(every[2 * first * spectra.shape[1] :], columns, extra, lanes, call[i]), i + 1
    where, i = _table(call, i, call)
    north, i = _table(call, i, call)
    south, i = _table(call, i, call)
    scales, i = _table(call, i, reals)
    info, i = _table(call, i, call)
    radices, i = _table(call, i, call)
    roots, i = _line(call, i, reals)
    lengths, i = FourierTables(info, radices, roots, call[i], call[i + 1]), i + 2
    space, i = _line(call, i, reals)
    places, i = _line(call, i, call)
    counts, i = _line(call, i, call)
    buffer, i = Buffer(space, places, counts, call[i] != 0), i + 1
    scratch, i = _table(call, i, reals)
    work, i = _table(call, i, reals)
    return (tables, fields, scratch), (Rows(where, north, south, scales), lengths, work), buffer, i


@kernel
def _disjoint(spectra, values):
    """Whether the arrays share no memory."""
    a, b = spectra.ctypes.data, values.ctypes.data
    return a + 16 * spectra.size <= b or b + 8 * values.size <= a


@kernel
def _infinite(values, begin, end, step):
    """How many of ``values[begin:end:step]`` are NaN or infinite."""
    found = 0
    for i in range(begin, end, step):
        found += values[i] - values[i] != 0.0
    return found


@kernel
def _means_infinite(spectra, degrees, reals):
    """How many imaginary parts of wavenumber 0, so many ``degrees`` that no transform reads, are not finite; ``reals``
    is any array of float64."""
    flat, found = carray(place_at(spectra.ctypes.data, reals), (2 * spectra.size,)), 0
    for field in range(spectra.shape[0]):
        begin = 2 * field * spectra.shape[1]
        found += _infinite(flat, begin + 1, begin + 2 * degrees, 2)
    return found


@kernel
def _inverse_legendre(thread, threads, call, spectra, values, first):
    """Spectra to the Fourier buffer."""
    (tables, fields, scratch), _, buffer, _ = _unpacked(call, spectra, values, first)
    if fields.fields == 1:
        _one.inverse(thread, threads, tables, fields, scratch[thread], buffer)
    else:
        legendre_eight.inverse(thread, threads, tables, fields, scratch[thread], buffer)


@kernel
def _inverse_rows(thread, threads, call, spectra, values, first):
    """The Fourier buffer to the grid; past the caches where the call says that the grid is large enough."""
    _, (rows, lengths, work), buffer, i = _unpacked(call, spectra, values, first)
    streaming = call[i + 2] <= 8 * values.size and values.ctypes.data % LINE == 0
    grid = values.reshape(-1)[first * values.shape[1] :]
    fourier_rows.inverse(thread, threads, rows, lengths, work[thread], buffer, grid, streaming)


@kernel
def _direct_rows(thread, threads, call, spectra, values, first):
    """The grid to the Fourier buffer."""
    _, (rows, lengths, work), buffer, _ = _unpacked(call, spectra, values, first)
    grid = values.reshape(-1)[first * values.shape[1] :]
    fourier_rows.direct(thread, threads, rows, lengths, work[thread], buffer, grid)


@kernel
def _direct_legendre(thread, threads, call, spectra, values, first):
    """The Fourier buffer to spectra."""
    (tables, fields, scratch), _, buffer, _ = _unpacked(call, spectra, values, first)
    if fields.fields == 1:
        _one.direct(thread, threads, tables, fields, scratch[thread], buffer)
    else:
        legendre_eight.direct(thread, threads, tables, fields, scratch[thread], buffer)


@kernel
def inverse(call, spectra, values, first):
    """Inverse transform of one field, or of up to eight, by one thread; arguments (``call``, ``spectra``, ``values``,
    ``first``) and answer as above."""
    (_, fields, _), _, _, i = _unpacked(call, spectra, values, first)
    if not _disjoint(spectra, values):
        return SHARED
    if first == 0 and _means_infinite(spectra, fields.columns[1], values):
        return UNREADY
    _inverse_legendre(ALONE, ONE, call, spectra, values, first)
    _inverse_rows(ALONE, ONE, call, spectra, values, first)
    for field in range(first, first + fields.fields):
        if _infinite(values[field], call[i], call[i + 1], 1):
            return INFINITE
    return FINE


@kernel
def direct(call, spectra, values, first):
    """Direct transform of one field, or of up to eight, by one thread; arguments (``call``, ``spectra``, ``values``,
    ``first``) and answer as above."""
    (_, fields, _), _, _, _ = _unpacked(call, spectra, values, first)
    if not _disjoint(spectra, values):
        return SHARED
    _direct_rows(ALONE, ONE, call, spectra, values, first)
    _direct_legendre(ALONE, ONE, call, spectra, values, first)
    for field in range(first, first + fields.fields):
        if not np.isfinite(spectra[field, 0]):
            return INFINITE
    return FINE


@kernel(parallel=True)
def inverse_legendre(threads, call, spectra, values, first):
    """Legendre part of the inverse transform.

    ``call``, ``spectra``, ``values`` and ``first`` as above, of as many ``threads``.
    """
    for thread in numba.prange(threads):
        _inverse_legendre(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def inverse_rows(threads, call, spectra, values, first):
    """Fourier part of the inverse transform; ``threads``, ``call``, ``spectra``, ``values`` and ``first`` as in
    ``inverse_legendre``."""
    for thread in numba.prange(threads):
        _inverse_rows(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def direct_rows(threads, call, spectra, values, first):
    """Fourier part of the direct transform; ``threads``, ``call``, ``spectra``, ``values`` and ``first`` as in
    ``inverse_legendre``."""
    for thread in numba.prange(threads):
        _direct_rows(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def direct_legendre(threads, call, spectra, values, first):
    """Legendre part of the direct transform; ``threads``, ``call``, ``spectra``, ``values`` and ``first`` as in
    ``inverse_legendre``."""
    for thread in numba.prange(threads):
        _direct_legendre(np.int64(thread), threads, call, spectra, values, first)
