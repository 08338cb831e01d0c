"""A whole transform of one thread in one call of compiled code: the checks of values, and both parts.

numba takes some 0.2 µs to tell the type of an array in a tuple, and opening a parallel region takes 5 µs, of the 2 µs
that the sums of truncation 21 take.  So all that does not depend on the caller's arrays comes as one ``call``,
int64: of each array of the parts' arguments its address and its shape, of each number the number (``packed``), in
the order in which ``_given`` reads them.  The plan keeps the arrays.

``spectra`` are complex128 (fields, ncoef), ``values`` float64 (fields, points), both C-contiguous; ``first`` is the
first field of those that are transformed.  The answer is what was wrong: ``SHARED`` memory or ``UNREADY`` input,
seen before anything is written, or an ``INFINITE`` result, which one row or one mean tells: NaN and infinity
spread to every one of them.
"""

import numpy as np
from numba import carray

from kernels.runtime.jit import kernel
from kernels.runtime.pages import LINE
from kernels.runtime.vector import LANES, place_at
from kernels.spectral import fourier_rows, legendre_eight, legendre_one
from kernels.spectral.fourier import Tables as Lengths
from kernels.spectral.legendre import Tables
from kernels.spectral.spectra import Spectra
from kernels.spectral.tasks import Buffer, Rows

# code for vectors of two lanes transforms pairs of fields alone
_inverse_of_one = legendre_one._inverse_share if LANES > 2 else legendre_eight._inverse_share
_direct_of_one = legendre_one._direct_share if LANES > 2 else legendre_eight._direct_share
FINE, SHARED, UNREADY, INFINITE = range(4)


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
    return carray(place_at(call[i], like), (call[i + 1], call[i + 2])), i + 3


@kernel
def _given(call, reals, spectra, first):
    """Arguments of both parts; ``reals`` is an array of float64."""
    factors, i = _table(call, 0, reals)
    offset, i = _line(call, i, call)
    squares, i = _line(call, i, reals)
    rows, i = call[i], i + 1
    first_row, i = _line(call, i, call)
    begins, i = _table(call, i, call)
    seeds, i = carray(place_at(call[i], reals), (call[i + 1], call[i + 2], call[i + 3])), i + 4
    tables = Tables(factors, offset, squares, rows, first_row, begins, seeds)
    columns, i = _line(call, i, call)
    extra, i = call[i], i + 1
    lanes, i = _line(call, i, call)
    every = carray(place_at(spectra.ctypes.data, reals), (2 * spectra.size,))
    fields, i = Spectra(every[2 * first * spectra.shape[1] :], columns, extra, lanes, call[i]), i + 1
    where, i = _table(call, i, call)
    north, i = _table(call, i, call)
    south, i = _table(call, i, call)
    scales, i = _table(call, i, reals)
    info, i = _table(call, i, call)
    radices, i = _table(call, i, call)
    roots, i = _line(call, i, reals)
    lengths, i = Lengths(info, radices, roots, call[i], call[i + 1]), i + 2
    space, i = _line(call, i, reals)
    places, i = _line(call, i, call)
    counts, i = _line(call, i, call)
    buffer, i = Buffer(space, places, counts, call[i] != 0), i + 1
    scratch, i = _line(call, i, reals)
    work, i = _line(call, i, reals)
    return tables, fields, scratch, (Rows(where, north, south, scales), lengths, work), buffer, i


@kernel
def _apart(spectra, values):
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
def _means_infinite(spectra, columns, reals):
    """How many imaginary parts of wavenumber 0, which no transform reads, are not finite."""
    flat, found = carray(place_at(spectra.ctypes.data, reals), (2 * spectra.size,)), 0
    for field in range(spectra.shape[0]):
        begin = 2 * field * spectra.shape[1]
        found += _infinite(flat, begin + 1, begin + 2 * columns[1], 2)
    return found


@kernel
def _row_infinite(values, first, fields, begin, end):
    """How many values of a row, ``begin`` to ``end`` of each field, are not finite."""
    found = 0
    for field in range(first, first + fields):
        found += _infinite(values[field], begin, end, 1)
    return found


@kernel
def _streams(call, i, values):
    """Whether ``values`` are so large, and their rows begin at such places, that they are written past the caches."""
    return call[i] <= 8 * values.size and values.ctypes.data % LINE == 0


@kernel
def inverse(call, spectra, values, first):
    """Inverse transform of one field, or of up to eight; arguments and answer as above."""
    flat = values.reshape(-1)
    tables, fields, scratch, (rows, lengths, work), buffer, i = _given(call, flat, spectra, first)
    if not _apart(spectra, values):
        return SHARED
    if first == 0 and _means_infinite(spectra, fields.columns, flat):
        return UNREADY
    if fields.fields == 1:
        _inverse_of_one(0, 1, tables, fields, scratch, buffer)
    else:
        legendre_eight._inverse_share(0, 1, tables, fields, scratch, buffer)
    grid, streaming = flat[first * values.shape[1] :], _streams(call, i + 2, values)
    fourier_rows._inverse_share(0, 1, rows, lengths, work, buffer, grid, streaming)
    return INFINITE if _row_infinite(values, first, fields.fields, call[i], call[i + 1]) else FINE


@kernel
def direct(call, spectra, values, first):
    """Direct transform of one field, or of up to eight; arguments and answer as above."""
    flat = values.reshape(-1)
    tables, fields, scratch, (rows, lengths, work), buffer, _ = _given(call, flat, spectra, first)
    if not _apart(spectra, values):
        return SHARED
    fourier_rows._direct_share(0, 1, rows, lengths, work, flat[first * values.shape[1] :], buffer)
    if fields.fields == 1:
        _direct_of_one(0, 1, tables, fields, scratch, buffer)
    else:
        legendre_eight._direct_share(0, 1, tables, fields, scratch, buffer)
    for field in range(first, first + fields.fields):
        if not np.isfinite(spectra[field, 0]):
            return INFINITE
    return FINE
