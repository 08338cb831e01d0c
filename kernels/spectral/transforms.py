"""Both parts of a transform in compiled code, each shared by the threads that there are.

``call`` is what a plan has prepared, a :class:`Call` as plain tuples; ``spectra`` are complex128 (fields, ncoef),
``values`` float64 (fields, points), both C-contiguous; ``first`` is the first field of the group of up to eight that is
transformed, and ``thread`` of ``threads`` takes its share of a part.
"""

from typing import NamedTuple

import numpy as np
from numba import carray

from kernels.runtime.arrays import LINE
from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address
from kernels.spectral import legendre_eight, legendre_one, rows
from kernels.spectral.functions import LegendreTables, Spectra

# code for vectors of two lanes transforms pairs of fields alone
one = legendre_one if LANES > 2 else legendre_eight


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
    scratch: np.ndarray  # float64, (threads, …), of the Legendre part
    work: np.ndarray  # float64, (threads, …), of the Fourier part
    stream_from: int  # bytes of grid values that leave past the caches


@kernel(inline=True)
def _named(call):
    """The ``Call`` that a plan passes as plain tuples, whose types numba finds in less time."""
    tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from = call
    tasks, lengths, buffer = rows.Rows(*tasks), rows.Lengths(*lengths), rows.Buffer(*buffer)
    given = LegendreTables(*tables), columns, extra, lanes, fields
    return Call(*given, tasks, lengths, buffer, scratch, work, stream_from)


@kernel(inline=True)
def _flat(fields, first):
    """``fields`` from ``first`` on in one row; numba's ``reshape`` calls what WebAssembly does not have."""
    return carray(address(fields[first]), ((fields.shape[0] - first) * fields.shape[1],))


@kernel(inline=True)
def _spectra(call, spectra, first):
    """The ``Spectra`` of the group."""
    return Spectra(_flat(spectra.view(np.float64), first), call.columns, call.extra, call.lanes, call.fields)


@kernel
def inverse_legendre(call, spectra, values, first, threads, thread):
    """Spectra to the Fourier buffer."""
    call = _named(call)
    fields, scratch = _spectra(call, spectra, first), call.scratch[thread]
    if call.fields == 1:
        one.inverse(thread, threads, call.tables, fields, scratch, call.buffer)
    else:
        legendre_eight.inverse(thread, threads, call.tables, fields, scratch, call.buffer)


@kernel
def inverse_rows(call, spectra, values, first, threads, thread):
    """The Fourier buffer to the grid."""
    call = _named(call)
    streaming = call.stream_from <= 8 * values.size and values.ctypes.data % LINE == 0
    grid, work = _flat(values, first), call.work[thread]
    rows.inverse(thread, threads, call.tasks, call.lengths, work, call.buffer, grid, streaming)


@kernel
def direct_rows(call, spectra, values, first, threads, thread):
    """The grid to the Fourier buffer."""
    call = _named(call)
    grid, work = _flat(values, first), call.work[thread]
    rows.direct(thread, threads, call.tasks, call.lengths, work, call.buffer, grid)


@kernel
def direct_legendre(call, spectra, values, first, threads, thread):
    """The Fourier buffer to spectra."""
    call = _named(call)
    fields, scratch = _spectra(call, spectra, first), call.scratch[thread]
    if call.fields == 1:
        one.direct(thread, threads, call.tables, fields, scratch, call.buffer)
    else:
        legendre_eight.direct(thread, threads, call.tables, fields, scratch, call.buffer)


#: The two parts of an inverse transform.
INVERSE = inverse_legendre, inverse_rows
#: Those of a direct one.
DIRECT = direct_rows, direct_legendre
