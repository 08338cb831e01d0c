"""Between Fourier buffers and grid rows: expand, transform, turn lanes into points, and back.

A row north of the equator and its mirror image have the same length, so they travel as real and imaginary part of one
complex row; odd lengths then cost nothing extra.  A task is one transform of eight lanes: a row pair of eight fields,
or those of eight neighbouring row pairs of one field that have the same length.

Where eight lanes take two registers, one half of the lanes is transformed after the other.  A row of T159 with its
scratch then fits the first-level cache.

``fourier`` is the address of a Fourier buffer, where a wavenumber of a row has a quad (``functions``); ``scales``, two
vectors, what its even and its odd part are multiplied by; ``room`` the ``fft.Elements`` of a thread's space, in which
the row stands at ``x`` or ``z``; ``task`` a :class:`Task`.
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels import fft
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    NARROW,
    address,
    at,
    fence,
    fma,
    fms,
    joined,
    load,
    load_narrow,
    store,
    store_some,
    transpose_narrow,
    wide,
)
from supercomputers_rerun.kernels.spectral.functions import ALL, BLOCK, SPAN, emit

ELEMENT = 2 * NARROW  # doubles
SQUARE = NARROW * NARROW
_WIDTH = (None,) * NARROW
_RADICES = 2  # column of ``Lengths.info`` from which on they stand


class Task(NamedTuple):
    """A row of ``Rows.where``; offsets and steps in doubles."""

    length: int  # number of the row's length
    count: int  # wavenumbers
    place: int  # of its first wavenumber in the latitude-major buffer
    row: int  # number of its row, or block of rows, in the wavenumber-major buffer
    active: int  # bits of the lanes that are wanted; another task may have the others of the same block
    begin: int  # first lane
    end: int  # behind the last lane
    north: int  # offset of the northern row of lane 0 in the grid-point values
    north_step: int  # to that of the next lane
    south: int  # the same of its mirror image
    south_step: int


class Rows(NamedTuple):
    """What compiled code is told of the tasks."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    scales: np.ndarray  # float64, (tasks, 16): of the even, then of the odd parts, lane by lane


class Buffer(NamedTuple):
    """A Fourier buffer: quads of every (latitude or block, wavenumber), in either order."""

    values: np.ndarray  # float64, flat
    places: np.ndarray  # int64: where each latitude or block starts, or where each wavenumber's first would, doubles
    counts: np.ndarray  # int64: wavenumbers of each latitude or block
    streaming: bool  # write past the caches


class Tasks(NamedTuple):
    """Tables of all tasks of one kind; buffers hold ``SPAN`` doubles for a wavenumber of a row or block."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    rows: np.ndarray  # int64, (tasks, 8): row pair of every lane
    counts: np.ndarray  # wavenumbers of a row, or of a block of eight
    places: np.ndarray  # where a row or block starts in the latitude-major buffer, doubles
    waves: np.ndarray  # where row or block 0 would stand for each wavenumber in the other buffer, doubles
    size: int  # doubles of the latitude-major buffer
    waves_size: int  # doubles of the wavenumber-major buffer


def _places(counts):
    """Where each of several pieces of ``counts`` times ``SPAN`` starts, and the end of the last."""
    places = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64) * SPAN
    return places[:-1], int(places[-1])


def of_eight_fields(ids, grid, counts, first_row) -> Tasks:
    """One task a row pair, of eight fields.

    ``ids`` and ``counts`` are the number of the length and that of wavenumbers of every row, ``first_row`` is the first
    row that carries each wavenumber.
    """
    row, north, south = np.arange(grid.N), grid.starts[: grid.N], grid.starts[::-1][: grid.N]
    places, size = _places(counts)
    starts, _ = _places(grid.N - first_row)
    parts = ids, counts, places, row, ALL, 0, LANES, north, grid.points, south, grid.points
    where = np.stack(np.broadcast_arrays(*parts), axis=1).astype(np.int64)
    return Tasks(where, np.repeat(row[:, None], LANES, 1), counts, places, starts - first_row * SPAN, size, size)


def of_one_field(ids, grid, counts, first_row) -> Tasks:
    """One task for each row length in a block of eight rows; arguments as above."""
    blocks, row = -(-grid.N // BLOCK) * BLOCK // LANES, np.arange(grid.N)
    north, south = grid.starts[: grid.N], grid.starts[::-1][: grid.N]
    most = np.zeros(blocks, dtype=np.int64)
    np.maximum.at(most, row // LANES, counts)
    places, size = _places(most)
    low = first_row // BLOCK * (BLOCK // LANES)
    starts, waves_size = _places(blocks - low)
    where, rows = [], []
    for first in np.flatnonzero(np.diff(ids, prepend=-1) | (row % LANES == 0)):  # of its length, or of its block
        block, lane = divmod(first, LANES)
        end = lane + int((ids[first : LANES * (block + 1)] == ids[first]).sum())
        step, active = grid.pl[first], 2**end - 2**lane
        most_waves = counts[first : first + end - lane].max()
        there = north[first] - lane * step, step, south[first] + lane * step, -step
        where.append([ids[first], most_waves, places[block], block, active, lane, end, *there])
        rows.append(np.clip(np.arange(LANES), lane, end - 1) + LANES * block)
    tables = (np.array(each, dtype=np.int64) for each in (where, rows))
    return Tasks(*tables, most, places, starts - low * SPAN, size, waves_size)


class Lengths(NamedTuple):
    """What the transforms of all row lengths need, in the order of the lengths."""

    info: np.ndarray  # int64, (lengths, 22): length, where its roots of unity begin, and its radices, 0-terminated
    roots: np.ndarray  # float64, flat
    longest: int  # points


def lengths_of(rows: np.ndarray) -> tuple[Lengths, np.ndarray]:
    """Tables of all lengths among those of some ``rows``, and the number of each row's length."""
    lengths, numbers = np.unique(rows, return_inverse=True)
    info = np.zeros((lengths.size, _RADICES + 20), dtype=np.int64)
    info[:, 0], info[:, 1] = lengths, 2 * (np.cumsum(lengths) - lengths)
    for row, n in zip(info, lengths, strict=True):
        found = fft.factorise(int(n))
        row[_RADICES : _RADICES + len(found)] = found
    return Lengths(info, np.concatenate([fft.roots(int(n)).ravel() for n in lengths]), int(lengths[-1])), numbers


def scratch_size(lengths: Lengths) -> int:
    """Doubles of private work space a thread needs: a row twice for each part of the lanes, and a square."""
    return 2 * (LANES // NARROW) * ELEMENT * lengths.longest + SQUARE


@kernel(inline=True)
def _task(where, i):
    """Number ``i`` of ``Rows.where``."""
    w = where[i]
    return Task(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10])


@kernel(inline=True)
def _part(task, lane):
    """The ``task`` of as many lanes as a narrow vector has from ``lane`` on, which count from 0 there."""
    return Task(
        task.length,
        task.count,
        task.place + lane,
        task.row,
        task.active,
        max(task.begin - lane, 0),
        min(task.end - lane, NARROW),
        task.north + lane * task.north_step,
        task.north_step,
        task.south + lane * task.south_step,
        task.south_step,
    )


@kernel
def _expand(fourier, task, n, scales, room, x):
    """``Z_k`` and ``Z_{n-k}`` of north + i south from the wavenumbers that there are, and zeros between them.

    Imaginary parts of wavenumber 0 do not count.
    """
    even, odd = scales
    work = room.values
    count = task.count
    er = load_narrow(fourier, task.place)
    dr = odd * load_narrow(fourier, task.place + 2 * LANES)
    zero = wide(0.0, er)
    store(work, x, (fma(even, er, dr), fms(even, er, dr)))
    for k in range(1, count):
        place = task.place + k * SPAN
        er = load_narrow(fourier, place)
        ei = load_narrow(fourier, place + LANES)
        dr = odd * load_narrow(fourier, place + 2 * LANES)
        di = odd * load_narrow(fourier, place + 3 * LANES)
        nr = fma(even, er, dr)
        ni = fma(even, ei, di)
        sr = fms(even, er, dr)
        si = fms(even, ei, di)
        store(work, x + ELEMENT * k, (nr - si, ni + sr))
        store(work, x + ELEMENT * (n - k), (nr + si, sr - ni))
    for k in range(count, n - count + 1):
        store(work, x + ELEMENT * k, (zero, zero))


@kernel(inline=True)
def _whole(work, place, apart):
    """The real and the imaginary parts of all lanes of an element whose parts of the lanes lie ``apart``."""
    low = place
    high = place + apart
    return (
        joined(load_narrow(work, low), load_narrow(work, high)),
        joined(load_narrow(work, low + NARROW), load_narrow(work, high + NARROW)),
    )


@kernel
def _collect(room, z, apart, scales, buffer, task):
    """Even and odd parts from ``Z_k`` and ``Z_{n-k}`` of south + i north, transformed with its parts exchanged, to the
    wavenumber-major buffer; of lanes that other tasks have too only the active ones."""
    fourier = address(buffer.values)
    places = address(buffer.places)
    (z, n), (even, odd) = z, scales
    for k in range(task.count):
        ai, ar = _whole(room.values, z + ELEMENT * k, apart)
        bi, br = _whole(room.values, z + ELEMENT * (n - k if k else 0), apart)
        nr = ar + br
        ni = ai - bi
        sr = ai + bi
        si = br - ar
        quad = even * (nr + sr), even * (ni + si), odd * (nr - sr), odd * (ni - si)
        place = at(places, k) + task.row * SPAN
        if task.active == ALL:
            emit(fourier, place, quad, buffer.streaming)
        else:
            store_some(fourier, place, quad[0], task.active)
            store_some(fourier, place + LANES, quad[1], task.active)
            store_some(fourier, place + 2 * LANES, quad[2], task.active)
            store_some(fourier, place + 3 * LANES, quad[3], task.active)


@kernel(inline=True)
def _write_square(source, edge, out, target, step, task):
    """As many elements as there are lanes, one part of them, to points of the rows that begin at ``target``, ``step``
    apart; through the square at ``edge`` unless all rows are there."""
    work, first = source
    if task.begin == 0 and task.end == NARROW:
        transpose_narrow(work, first, ELEMENT, out, target, step)
    else:
        transpose_narrow(work, first, ELEMENT, work, edge, NARROW)
        for lane in range(task.begin, task.end):
            store(out, target + lane * step, load_narrow(work, edge + NARROW * lane))


@kernel
def _write_rows(work, z, n, edge, out, task):
    """Real parts to the northern rows, imaginary ones to the southern."""
    body = n - n % NARROW
    for j in range(0, body, NARROW):
        source = z + ELEMENT * j
        _write_square((work, source), edge, out, task.north + j, task.north_step, task)
        _write_square((work, source + NARROW), edge, out, task.south + j, task.south_step, task)
    for lane in range(task.begin, task.end):
        north = task.north + lane * task.north_step
        south = task.south + lane * task.south_step
        for j in range(body, n):
            store(out, north + j, at(work, z + ELEMENT * j + lane))
            store(out, south + j, at(work, z + ELEMENT * j + NARROW + lane))


@kernel(inline=True)
def _read_square(values, source, step, edge, target, task):
    """The way back of :func:`_write_square`."""
    work, first = target
    if task.begin == 0 and task.end == NARROW:
        transpose_narrow(values, source, step, work, first, ELEMENT)
    else:
        for lane in range(task.begin, task.end):
            store(work, edge + NARROW * lane, load_narrow(values, source + lane * step))
        transpose_narrow(work, edge, NARROW, work, first, ELEMENT)


@kernel
def _read_rows(values, n, edge, work, z, task):
    """South + i north."""
    body = n - n % NARROW
    for j in range(0, body, NARROW):
        target = z + ELEMENT * j
        _read_square(values, task.south + j, task.south_step, edge, (work, target), task)
        _read_square(values, task.north + j, task.north_step, edge, (work, target + NARROW), task)
    for lane in range(task.begin, task.end):
        north = task.north + lane * task.north_step
        south = task.south + lane * task.south_step
        for j in range(body, n):
            store(work, z + ELEMENT * j + lane, at(values, south + j))
            store(work, z + ELEMENT * j + NARROW + lane, at(values, north + j))


@kernel(inline=True)
def _transform(room, x, y, lengths, number):
    """The transform of the row at ``x``, with scratch at ``y``; where it is."""
    row = lengths.info[number]
    return fft.transform(room, x, y, row[0], address(row[_RADICES:]), address(lengths.roots[row[1] :]))


@kernel
def inverse(share, rows, lengths, work, buffer, values):
    """Fourier part of the inverse transform: a ``share`` of the tasks of ``rows`` (:class:`Rows`).

    ``work`` is the thread's scratch, float64 (scratch_size(lengths),), ``buffer`` latitude-major; ``values``, of
    all fields, are written.
    """
    fourier = address(buffer.values)
    out = address(values)
    factors = address(rows.scales)
    room = fft.Elements(address(work), _WIDTH)
    line = ELEMENT * lengths.longest
    for i in range(share.thread, rows.where.shape[0], share.threads):
        task = _task(rows.where, i)
        n = lengths.info[task.length, 0]
        for lane in range(task.begin // NARROW * NARROW, task.end, NARROW):
            part = _part(task, lane)
            first = 2 * LANES * i + lane
            scales = load_narrow(factors, first), load_narrow(factors, first + LANES)
            _expand(fourier, part, n, scales, room, 0)
            z = _transform(room, 0, line, lengths, task.length)
            _write_rows(room.values, z, n, work.size - SQUARE, out, part)


@kernel
def direct(share, rows, lengths, work, buffer, values):
    """Fourier part of the direct transform, as the inverse; ``buffer``, which is written, is wavenumber-major."""
    source = address(values)
    factors = address(rows.scales)
    room = fft.Elements(address(work), _WIDTH)
    line = ELEMENT * lengths.longest
    for i in range(share.thread, rows.where.shape[0], share.threads):
        task = _task(rows.where, i)
        n = lengths.info[task.length, 0]
        z = 0
        for lane in range(task.begin // NARROW * NARROW, task.end, NARROW):
            x = 2 * line * (lane // NARROW)
            _read_rows(source, n, work.size - SQUARE, room.values, x, _part(task, lane))
            z = _transform(room, x, x + line, lengths, task.length) - x
        scales = load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES)
        _collect(room, (z, n), 2 * line * (LANES // NARROW - 1), scales, buffer, task)
    fence()
