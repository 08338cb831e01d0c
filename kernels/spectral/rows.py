"""Between Fourier buffers and grid rows: expand, transform, turn lanes into points, and back.

A row north of the equator and its mirror image have the same length n, so they travel as real and imaginary part of one
complex row, z = north + i south; odd lengths then cost nothing extra.  With the even part E and the odd part O that the
Legendre transforms give for wavenumber k::

    N_k = E_k + O_k,  S_k = E_k − O_k        Z_k = N_k + i S_k,  Z_{n−k} = conj(N_k) + i conj(S_k)

A task is one transform of eight lanes: a row pair of eight fields, or those of eight neighbouring row pairs of one
field that have the same length.  Where eight lanes take two registers, one half of the lanes is transformed after the
other: a row of T159 with its scratch then fits the first-level cache.  A thread's space, float64, with a ``GAP`` behind
each x and y; the second pair is there for the direct transform where lanes are transformed by halves::

    | x of lanes 0 … 3 | y of lanes 0 … 3 | x of lanes 4 … 7 | y of lanes 4 … 7 | square |
      n elements: [ real: 4 lanes | imaginary: 4 lanes ], of which a transform uses x and y in turns

``fourier`` is the address of a Fourier buffer, where a wavenumber of a row has a quad (``functions``); ``scales``, two
vectors, what its even and its odd part are multiplied by; ``space`` a :class:`Space`, in which the row stands at ``x``
or ``z``; ``task`` a :class:`Task`.
"""

from typing import Any, NamedTuple

import numpy as np

from supercomputers_rerun.kernels import fft
from supercomputers_rerun.kernels.contract import ceil_div
from supercomputers_rerun.kernels.runtime.arrays import LINE
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
    prefetch,
    store,
    store_some,
    transpose_narrow,
    transpose_stream,
    wide,
)
from supercomputers_rerun.kernels.spectral.functions import SPAN, Ahead, write

#: Doubles of an element of as many lanes as are transformed at once.
ELEMENT = 2 * NARROW
#: How many times as many there are.
HALVES = LANES // NARROW
#: Doubles of a square of lanes and points.
SQUARE = LANES * LANES
#: Doubles left free behind each x and each y.  If these lie a multiple of 4 KiB apart, they compete for the same places
#: of the first-level cache: without a gap transforms of 1280, 2560 and 5120 points take 1.1 to 1.2 times as long
#: (Zen 4).
GAP = 128
#: Whether a narrow vector fills a cache line, as with registers of 512 bits: only then do grid rows bypass the caches.
NARROW_IS_LINE = 8 * NARROW == LINE
#: Bits of all lanes.
ALL = 2**LANES - 1
_WIDTH = (None,) * NARROW
#: Column of ``Lengths.info`` from which on radices stand.
_RADICES = 2


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


class Space(NamedTuple):
    """One thread's private work space; places in doubles."""

    values: Any  # address of float64
    line: int  # from x to y and from y to the x of the other lanes, doubles
    square: int  # place of a square


class Rows(NamedTuple):
    """What compiled code is told of the tasks."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    scales: np.ndarray  # float64, (tasks, 16): of the even, then of the odd parts, lane by lane


class Buffer(NamedTuple):
    """A Fourier buffer: quads of every (latitude or block, wavenumber), in either order."""

    values: np.ndarray  # float64, flat
    places: np.ndarray  # int64: where each latitude or block starts, or where each wavenumber's first would, doubles
    streaming: bool  # write past the caches


class Tasks(NamedTuple):
    """Tables of all tasks of one kind; buffers hold ``SPAN`` doubles for a wavenumber of a row or block."""

    where: np.ndarray  # int64, (tasks, 11), see ``Task``
    rows: np.ndarray  # int64, (tasks, 8): row pair of every lane
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
    row = np.arange(grid.N)
    north = grid.starts[: grid.N]
    south = grid.starts[::-1][: grid.N]
    places, size = _places(counts)
    starts, _ = _places(grid.N - first_row)
    task = Task(ids, counts, places, row, ALL, 0, LANES, north, grid.points, south, grid.points)
    where = np.stack(np.broadcast_arrays(*task), axis=1).astype(np.int64)
    return Tasks(where, np.repeat(row[:, None], LANES, 1), places, starts - first_row * SPAN, size, size)


def of_one_field(ids, grid, counts, first_row) -> Tasks:
    """One task for each row length in a block of eight rows; arguments as above."""
    blocks = ceil_div(grid.N, LANES)
    row = np.arange(grid.N)
    north = grid.starts[: grid.N]
    south = grid.starts[::-1][: grid.N]
    most = np.zeros(blocks, dtype=np.int64)
    np.maximum.at(most, row // LANES, counts)
    places, size = _places(most)
    low = first_row // LANES
    starts, waves_size = _places(blocks - low)
    where = []
    rows = []
    for first in np.flatnonzero(np.diff(ids, prepend=-1) | (row % LANES == 0)):  # of its length, or of its block
        block, lane = divmod(first, LANES)
        end = lane + int((ids[first : LANES * (block + 1)] == ids[first]).sum())
        step = grid.pl[first]
        task = Task(
            length=ids[first],
            count=counts[first : first + end - lane].max(),
            place=places[block],
            row=block,
            active=2**end - 2**lane,
            begin=lane,
            end=end,
            north=north[first] - lane * step,
            north_step=step,
            south=south[first] + lane * step,
            south_step=-step,
        )
        where.append(task)
        rows.append(np.clip(np.arange(LANES), lane, end - 1) + LANES * block)
    tables = (np.array(table, dtype=np.int64) for table in (where, rows))
    return Tasks(*tables, places, starts - low * SPAN, size, waves_size)


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
    """Doubles of private work space a thread needs (:class:`Space`)."""
    return 2 * HALVES * (ELEMENT * lengths.longest + GAP) + SQUARE


@kernel(inline=True)
def _space(lengths, work):
    """The ``Space`` that a thread's scratch ``work`` gives."""
    return Space(address(work), ELEMENT * lengths.longest + GAP, work.size - SQUARE)


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


@kernel(inline=True)
def _transform(space, x, lengths, number):
    """The transform of the row at ``x``, whose length has this ``number``; where it is."""
    row = lengths.info[number]
    elements = fft.Elements(space.values, _WIDTH)
    return fft.transform(elements, x, x + space.line, row[0], address(row[_RADICES:]), address(lengths.roots[row[1] :]))


# Inverse


@kernel
def _expand(fourier, task, n, scales, space):
    """``Z_k`` and ``Z_{n-k}`` from the wavenumbers that there are, and zeros between them.

    Imaginary parts of wavenumber 0 do not count.
    """
    even, odd = scales
    work = space.values
    even_re = load_narrow(fourier, task.place)
    odd_re = odd * load_narrow(fourier, task.place + 2 * LANES)
    store(work, 0, (fma(even, even_re, odd_re), fms(even, even_re, odd_re)))
    for k in range(1, task.count):
        place = task.place + k * SPAN
        even_re = load_narrow(fourier, place)
        even_im = load_narrow(fourier, place + LANES)
        odd_re = odd * load_narrow(fourier, place + 2 * LANES)
        odd_im = odd * load_narrow(fourier, place + 3 * LANES)
        north_re = fma(even, even_re, odd_re)
        north_im = fma(even, even_im, odd_im)
        south_re = fms(even, even_re, odd_re)
        south_im = fms(even, even_im, odd_im)
        store(work, ELEMENT * k, (north_re - south_im, north_im + south_re))
        store(work, ELEMENT * (n - k), (north_re + south_im, south_re - north_im))
    zero = wide(0.0, even_re)
    for k in range(task.count, n - task.count + 1):
        store(work, ELEMENT * k, (zero, zero))


class GridValues(NamedTuple):
    """Where grid-point values go."""

    values: Any  # address of float64
    streaming: bool  # past the caches: only if all rows of a task are wanted and begin cache lines


@kernel(inline=True)
def _write_square(space, source, out, place, step, task):
    """Real, or imaginary, parts of ``NARROW`` elements to as many points of each row; that of lane j begins at
    ``place`` + j · ``step``.  Where lanes are missing, through the square of the ``space``."""
    if out.streaming:
        transpose_stream(space.values, (source, ELEMENT), out.values, (place, step))
    elif task.begin == 0 and task.end == NARROW:
        transpose_narrow(space.values, (source, ELEMENT), out.values, (place, step))
    else:
        transpose_narrow(space.values, (source, ELEMENT), space.values, (space.square, NARROW))
        for lane in range(task.begin, task.end):
            store(out.values, place + lane * step, load_narrow(space.values, space.square + NARROW * lane))


@kernel
def _write_rows(space, z, n, out, task, ahead):
    """Real parts to the northern rows, imaginary ones to the southern; meanwhile what is ``ahead`` is prefetched."""
    body = n - n % NARROW
    wanted = ahead.place
    for j in range(0, body, NARROW):
        source = z + ELEMENT * j
        for line in range(0, ahead.pace, LANES):
            prefetch(ahead.values, wanted + line)
        wanted += ahead.pace
        _write_square(space, source, out, task.north + j, task.north_step, task)
        _write_square(space, source + NARROW, out, task.south + j, task.south_step, task)
    for lane in range(task.begin, task.end):
        north = task.north + lane * task.north_step
        south = task.south + lane * task.south_step
        for j in range(body, n):
            store(out.values, north + j, at(space.values, z + ELEMENT * j + lane))
            store(out.values, south + j, at(space.values, z + ELEMENT * j + NARROW + lane))


@kernel(inline=True)
def _starts_lines(task):
    """Whether all rows of a ``task`` begin cache lines, where the values do."""
    return (task.north | task.north_step | task.south | task.south_step) % LANES == 0


@kernel
def inverse(share, rows, lengths, work, buffer, values):
    """Fourier part of the inverse transform: a ``share`` (``Share``) of the tasks of ``rows`` (:class:`Rows`).

    ``work`` is the thread's scratch, float64 (scratch_size(lengths),), ``buffer`` latitude-major; ``values``, of
    all fields, are written.

    A buffer that went past the caches comes back from memory: that of the next row is prefetched while one is written.
    Where registers have 512 bits and rows begin cache lines, the values pass the caches as well, so that no line of
    them is read before it is overwritten.  Both together save 0.6 of 3.5 ms (eight fields of T399, Zen 4), prefetches
    alone 0.1 ms, stores past the caches alone nothing.
    """
    fourier = address(buffer.values)
    points = address(values)
    factors = address(rows.scales)
    space = _space(lengths, work)
    tasks = rows.where.shape[0]
    streaming = NARROW_IS_LINE and buffer.streaming and values.ctypes.data % LINE == 0
    for i in range(share.thread, tasks, share.threads):
        task = _task(rows.where, i)
        n = lengths.info[task.length, 0]
        later = _task(rows.where, min(i + share.threads, tasks - 1))
        # each half of the lanes asks for half of the next row, in whole lines
        pace = LANES * (1 + later.count * SPAN // LANES * NARROW // (HALVES * n)) if buffer.streaming else 0
        whole = task.begin == 0 and task.end == LANES
        out = GridValues(points, streaming and whole and _starts_lines(task))
        for lane in range(task.begin // NARROW * NARROW, task.end, NARROW):
            part = _part(task, lane)
            first = 2 * LANES * i + lane
            scales = load_narrow(factors, first), load_narrow(factors, first + LANES)
            _expand(fourier, part, n, scales, space)
            z = _transform(space, 0, lengths, task.length)
            ahead = Ahead(fourier, later.place + lane // NARROW * (n // NARROW) * pace, pace)
            _write_rows(space, z, n, out, part, ahead)
    fence()


# Direct


@kernel(inline=True)
def _read_square(values, source, step, space, target, task):
    """The way back of :func:`_write_square`."""
    if task.begin == 0 and task.end == NARROW:
        transpose_narrow(values, (source, step), space.values, (target, ELEMENT))
    else:
        for lane in range(task.begin, task.end):
            store(space.values, space.square + NARROW * lane, load_narrow(values, source + lane * step))
        transpose_narrow(space.values, (space.square, NARROW), space.values, (target, ELEMENT))


@kernel
def _read_rows(values, n, space, x, task):
    """South + i north to ``x``.  A transform with real and imaginary parts exchanged has the other sign."""
    body = n - n % NARROW
    for j in range(0, body, NARROW):
        target = x + ELEMENT * j
        _read_square(values, task.south + j, task.south_step, space, target, task)
        _read_square(values, task.north + j, task.north_step, space, target + NARROW, task)
    for lane in range(task.begin, task.end):
        north = task.north + lane * task.north_step
        south = task.south + lane * task.south_step
        for j in range(body, n):
            store(space.values, x + ELEMENT * j + lane, at(values, south + j))
            store(space.values, x + ELEMENT * j + NARROW + lane, at(values, north + j))


@kernel(inline=True)
def _all_lanes(space, place):
    """The element at ``place`` with the lanes that were transformed apart: real and imaginary parts."""
    work = space.values
    other = place + 2 * space.line * (HALVES - 1)
    return (
        joined(load_narrow(work, place), load_narrow(work, other)),
        joined(load_narrow(work, place + NARROW), load_narrow(work, other + NARROW)),
    )


@kernel(inline=True)
def _store_masked(fourier, place, quad, task, space):
    """Write the active lanes of a ``quad``; another thread may write the others."""
    store_some(fourier, place, quad[0], task.active)
    store_some(fourier, place + LANES, quad[1], task.active)
    store_some(fourier, place + 2 * LANES, quad[2], task.active)
    store_some(fourier, place + 3 * LANES, quad[3], task.active)


@kernel(inline=True)
def _store_one_by_one(fourier, place, quad, task, space):
    """The same number by number."""
    square = space.square
    store(space.values, square, quad)
    for lane in range(task.begin, task.end):
        store(fourier, place + lane, at(space.values, square + lane))
        store(fourier, place + LANES + lane, at(space.values, square + LANES + lane))
        store(fourier, place + 2 * LANES + lane, at(space.values, square + 2 * LANES + lane))
        store(fourier, place + 3 * LANES + lane, at(space.values, square + 3 * LANES + lane))


# masked stores are slow without mask registers: with them one field of T159 on N80 takes 1.3 times as long here (Zen 3)
_store_active = _store_masked if HALVES == 1 else _store_one_by_one


@kernel
def _collect(space, z, n, scales, buffer, task):
    """Even and odd parts from ``Z_k`` and ``Z_{n-k}`` of south + i north to the wavenumber-major buffer; of lanes that
    other tasks have too only the active ones."""
    fourier = address(buffer.values)
    places = address(buffer.places)
    even, odd = scales
    for k in range(task.count):
        here_im, here_re = _all_lanes(space, z + ELEMENT * k)
        there_im, there_re = _all_lanes(space, z + ELEMENT * (n - k if k else 0))
        north_re = here_re + there_re
        north_im = here_im - there_im
        south_re = here_im + there_im
        south_im = there_re - here_re
        quad = (
            even * (north_re + south_re),
            even * (north_im + south_im),
            odd * (north_re - south_re),
            odd * (north_im - south_im),
        )
        place = at(places, k) + task.row * SPAN
        if task.active == ALL:
            write(fourier, place, quad, buffer.streaming)
        else:
            _store_active(fourier, place, quad, task, space)


@kernel
def direct(share, rows, lengths, work, buffer, values):
    """Fourier part of the direct transform, as the inverse; ``buffer``, which is written, is wavenumber-major.

    Its quads are written whole, after both halves of the lanes: halves of a cache line that go past the caches one by
    one would each take the time of a whole line.
    """
    source = address(values)
    factors = address(rows.scales)
    space = _space(lengths, work)
    for i in range(share.thread, rows.where.shape[0], share.threads):
        task = _task(rows.where, i)
        n = lengths.info[task.length, 0]
        z = 0
        for lane in range(task.begin // NARROW * NARROW, task.end, NARROW):
            x = 2 * space.line * (lane // NARROW)
            _read_rows(source, n, space, x, _part(task, lane))
            z = _transform(space, x, lengths, task.length) - x
        scales = load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES)
        _collect(space, z, n, scales, buffer, task)
    fence()
