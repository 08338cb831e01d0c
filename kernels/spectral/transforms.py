"""Both parts of a transform in compiled code: all by one thread in one call, or each part shared by several.

``spectra`` are complex128 (fields, ncoef), ``values`` float64 (fields, points), both C-contiguous; ``first`` is the
first field of the group of up to eight that is transformed, and ``thread`` of ``threads`` takes its share of a part.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import carray

from kernels.runtime.jit import kernel
from kernels.runtime.pages import LINE
from kernels.runtime.vector import LANES, address, place_at
from kernels.spectral import legendre_eight, legendre_one, rows
from kernels.spectral.functions import LegendreTables, Spectra
from kernels.spectral.tasks import Buffer, Rows

# code for vectors of two lanes transforms pairs of fields alone
one = legendre_one if LANES > 2 else legendre_eight


class Call(NamedTuple):
    """What a plan has prepared of a transform of so many fields in one direction."""

    tables: LegendreTables
    columns: np.ndarray  # int64, (T + 2,): first coefficient of each wavenumber, and the end
    extra: int  # 0 or 1: degrees go up to the truncation plus this
    lanes: np.ndarray  # int64, (8,): offset of the field in each lane, doubles; missing fields share the last one's
    fields: int  # 1 … 8
    tasks: Rows
    lengths: rows.Lengths
    buffer: Buffer
    scratch: np.ndarray  # float64, (threads, …), of the Legendre part
    work: np.ndarray  # float64, (threads, …), of the Fourier part
    stream_from: int  # bytes of grid values that leave past the caches


@kernel
def named(call):
    """The ``Call`` that a plan passes as plain tuples, whose types numba finds in less time."""
    tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from = call
    factors, offset, squares, count, first_row, first, seeds = tables
    return Call(
        LegendreTables(factors, offset, squares, count, first_row, first, seeds),
        columns,
        extra,
        lanes,
        fields,
        Rows(tasks[0], tasks[1]),
        rows.Lengths(lengths[0], lengths[1], lengths[2]),
        Buffer(buffer[0], buffer[1], buffer[2], buffer[3]),
        scratch,
        work,
        stream_from,
    )


@kernel
def inverse_legendre(thread, threads, call, spectra, values, first):
    """Spectra to the Fourier buffer."""
    reals = carray(place_at(spectra.ctypes.data, values), (2 * spectra.size,))[2 * first * spectra.shape[1] :]
    fields = Spectra(reals, call.columns, call.extra, call.lanes, call.fields)
    if call.fields == 1:
        one.inverse(thread, threads, call.tables, fields, call.scratch[thread], call.buffer)
    else:
        legendre_eight.inverse(thread, threads, call.tables, fields, call.scratch[thread], call.buffer)


@kernel
def inverse_rows(thread, threads, call, spectra, values, first):
    """The Fourier buffer to the grid."""
    streaming = call.stream_from <= 8 * values.size and values.ctypes.data % LINE == 0
    grid = carray(address(values[first]), ((values.shape[0] - first) * values.shape[1],))
    rows.inverse(thread, threads, call.tasks, call.lengths, call.work[thread], call.buffer, grid, streaming)


@kernel
def direct_rows(thread, threads, call, spectra, values, first):
    """The grid to the Fourier buffer."""
    grid = carray(address(values[first]), ((values.shape[0] - first) * values.shape[1],))
    rows.direct(thread, threads, call.tasks, call.lengths, call.work[thread], call.buffer, grid)


@kernel
def direct_legendre(thread, threads, call, spectra, values, first):
    """The Fourier buffer to spectra."""
    reals = carray(place_at(spectra.ctypes.data, values), (2 * spectra.size,))[2 * first * spectra.shape[1] :]
    fields = Spectra(reals, call.columns, call.extra, call.lanes, call.fields)
    if call.fields == 1:
        one.direct(thread, threads, call.tables, fields, call.scratch[thread], call.buffer)
    else:
        legendre_eight.direct(thread, threads, call.tables, fields, call.scratch[thread], call.buffer)


@kernel
def inverse(call, spectra, values, first):
    """Inverse transform of one field, or of up to eight, by one thread."""
    inverse_legendre(np.int64(0), np.int64(1), named(call), spectra, values, first)
    inverse_rows(np.int64(0), np.int64(1), named(call), spectra, values, first)


@kernel
def direct(call, spectra, values, first):
    """Direct transform of one field, or of up to eight, by one thread."""
    direct_rows(np.int64(0), np.int64(1), named(call), spectra, values, first)
    direct_legendre(np.int64(0), np.int64(1), named(call), spectra, values, first)


@kernel(parallel=True)
def _shared_inverse_legendre(
    threads,
    tables,
    columns,
    extra,
    lanes,
    fields,
    tasks,
    lengths,
    buffer,
    scratch,
    work,
    stream_from,
    spectra,
    values,
    first,
):
    for thread in numba.prange(threads):
        call = Call(tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from)
        inverse_legendre(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def _shared_inverse_rows(
    threads,
    tables,
    columns,
    extra,
    lanes,
    fields,
    tasks,
    lengths,
    buffer,
    scratch,
    work,
    stream_from,
    spectra,
    values,
    first,
):
    for thread in numba.prange(threads):
        call = Call(tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from)
        inverse_rows(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def _shared_direct_rows(
    threads,
    tables,
    columns,
    extra,
    lanes,
    fields,
    tasks,
    lengths,
    buffer,
    scratch,
    work,
    stream_from,
    spectra,
    values,
    first,
):
    for thread in numba.prange(threads):
        call = Call(tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from)
        direct_rows(np.int64(thread), threads, call, spectra, values, first)


@kernel(parallel=True)
def _shared_direct_legendre(
    threads,
    tables,
    columns,
    extra,
    lanes,
    fields,
    tasks,
    lengths,
    buffer,
    scratch,
    work,
    stream_from,
    spectra,
    values,
    first,
):
    for thread in numba.prange(threads):
        call = Call(tables, columns, extra, lanes, fields, tasks, lengths, buffer, scratch, work, stream_from)
        direct_legendre(np.int64(thread), threads, call, spectra, values, first)


def shared(backward: bool, threads: int, call: Call, spectra, values, first: int) -> None:
    """A direct (``backward``) or an inverse transform by threads: a region for each part, since numba may fuse two.

    A region takes tuples, but none with tuples inside.
    """
    inverses, directs = (
        (_shared_inverse_legendre, _shared_inverse_rows),
        (_shared_direct_rows, _shared_direct_legendre),
    )
    for part in directs if backward else inverses:
        part(threads, *call, spectra, values, first)
