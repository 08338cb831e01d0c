"""Legendre transforms of eight fields at once: SIMD lanes are fields.

For each wavenumber a panel of functions ``p_l`` is built on the fly, small enough for the first-level
cache, and a register-blocked product combines it with eight fields.  The inverse transform builds 24
latitudes and many ``ell``, so that its sums stay in registers while coefficients stream from the
second-level cache.  The direct transform builds twelve ``ell`` and a slice of the latitudes, whose data
two products then find in the first-level cache.

Layouts (all float64): coefficient scratch ``c[ell, 4, 8]`` with the four rows even-real, even-imaginary,
odd-real, odd-imaginary and the last axis fields; Fourier buffers hold the same 32 numbers for every
(latitude, wavenumber), latitude-major for the inverse and wavenumber-major for the direct transform,
so that each stage writes scattered blocks and reads contiguous ones.

Functions share ``functions`` (:class:`kernels.spectral.functions.Functions`) and ``column``, the ``Column``, of a
wavenumber; the ``room`` of a thread, a ``panel``, what to ask for ``ahead`` and the ``target`` (classes below);
``block``, the number of one; ``count``, so many terms; ``place``, an offset in ``c`` or ``data``, the addresses of what
is multiplied.
"""

from typing import Any, NamedTuple

from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, at, fence, load_as, prefetch, spread
from supercomputers_rerun.kernels.spectral.functions import (
    BLOCK,
    ONE_STRIP,
    SPAN,
    STRIP,
    add_scaled,
    any_wave,
    begin,
    build,
    build_or_zero,
    emit,
    first_of,
    from_functions,
    load6,
    store6,
    to_functions,
    wave_at,
    zero6,
)

CHUNK = 96  # most values of ell in a panel of the inverse transform: 18 KiB
SLICE = 3  # blocks of latitudes in a panel of the direct transform: 7 KiB, 25 with the latitudes
SIX = 6  # latitudes, or values of ell, whose sums are in registers at once, those of a strip of a quad
STEP = 2 * SIX  # values of ell in a panel of the direct transform: two products
_WIDTH = SLICE * BLOCK
_EDGE = LANES * LANES  # doubles


class Room(NamedTuple):
    """One thread's private work space; addresses of float64."""

    coefficients: Any  # of p_l, (ell, 4, 8)
    edge: Any  # (8, 8), for the last few degrees
    sums: Any  # (BLOCK, 4, 8): of latitudes whose ell come in several panels
    state: Any  # (blocks, 2, BLOCK): where the recurrences are
    panel: Any  # p_l of some ell and latitudes


class Panel(NamedTuple):
    """``p_l`` of some ell and latitudes: the factors of a product."""

    values: Any  # address of float64
    place: int  # of the first factor, doubles
    across: int  # from one of the six sums to the next, doubles
    along: int  # from one term of a sum to the next, doubles


class Ahead(NamedTuple):
    """What is asked for while a product is computed, so that it arrives from memory meanwhile."""

    values: Any  # address of float64
    place: int  # where it begins, doubles
    pace: int  # doubles a term


class Target(NamedTuple):
    """Where the inverse transform writes one wavenumber of all latitudes."""

    values: Any  # address of the Fourier buffer
    places: Any  # address, int64: where each latitude starts in it, doubles
    wave: int  # place of the wavenumber within a latitude, doubles
    first: int  # first latitude that carries it
    end: int  # latitudes
    streaming: bool  # write past the caches


@kernel(inline=True)
def _six(panel, c, place, count, ahead, r):
    """``r_j += Σ_i panel[j, i] c[i]`` for six j and ``count`` terms; ``c[i]`` and ``r_j``, six in ``r``, are strips."""
    r0, r1, r2, r3, r4, r5 = r
    for i in range(count):
        strip = load_as(c, place + i * SPAN, ONE_STRIP)
        k = panel.place + i * panel.along
        prefetch(ahead.values, ahead.place + i * ahead.pace)
        r0 = add_scaled(spread(at(panel.values, k)), strip, r0)
        r1 = add_scaled(spread(at(panel.values, k + panel.across)), strip, r1)
        r2 = add_scaled(spread(at(panel.values, k + 2 * panel.across)), strip, r2)
        r3 = add_scaled(spread(at(panel.values, k + 3 * panel.across)), strip, r3)
        r4 = add_scaled(spread(at(panel.values, k + 4 * panel.across)), strip, r4)
        r5 = add_scaled(spread(at(panel.values, k + 5 * panel.across)), strip, r5)
    return r0, r1, r2, r3, r4, r5


@kernel(inline=True)
def _emit_row(target, row, part, strip):
    """Write the ``strip`` that begins ``part`` of latitude number ``row`` if it carries the wavenumber."""
    if target.first <= row < target.end:
        emit(target.values, at(target.places, row) + target.wave + part, strip, target.streaming)


@kernel
def _sum_degrees(block, start, count, resumed, finished, room, column, near, target):
    """The values of ell from ``start`` on for 24 latitudes, six at a time, from zero or, if ``resumed``, from the sums
    so far, to these or, if ``finished``, to the buffer.

    Streamed stores drain while the next six latitudes are computed.  Meanwhile coefficients, ``near`` in each field,
    are fetched: six latitudes take one of the fields, and each strip goes on where the last one ended.
    """
    for j in range(0, BLOCK, SIX):
        row = block * BLOCK + j
        if row + SIX <= target.first or row >= target.end:
            continue
        for part in range(0, SPAN, STRIP):
            r = zero6()
            if resumed:
                r = load6(room.sums, j * SPAN + part)
            ahead = Ahead(column.values, at(column.lanes, row // SIX % LANES) + near + part // STRIP * count, 1)
            r = _six(Panel(room.panel, j, 1, BLOCK), room.coefficients, start * SPAN + part, count, ahead, r)
            if finished:
                _emit_row(target, row, part, r[0])
                _emit_row(target, row + 1, part, r[1])
                _emit_row(target, row + 2, part, r[2])
                _emit_row(target, row + 3, part, r[3])
                _emit_row(target, row + 4, part, r[4])
                _emit_row(target, row + 5, part, r[5])
            else:
                store6(room.sums, j * SPAN + part, r)


@kernel
def _inverse_block(block, functions, room, column, near, target):
    """Sums over degree of 24 latitudes into the Fourier buffer.

    Meanwhile a part of the next coefficients, ``near`` in each field, is fetched.
    """
    low = first_of(functions, block)
    parts = max((functions.count - low + CHUNK - 1) // CHUNK, 1)
    size = (functions.count - low + parts - 1) // parts
    begin(functions, block, room.state, 0)
    for part in range(parts):
        start = low + part * size
        count = min(size, functions.count - start)
        build(functions, block, start, count, (room.panel, 0), BLOCK, (room.state, 0))
        last = part == parts - 1
        _sum_degrees(block, start, count, part > 0, last, room, column, near + part * size, target)


@kernel
def _sum_latitudes(panel, data, place, count, ahead, resumed, c, ell):
    """Projections of ``count`` latitudes on six ``p_l`` from ``ell`` on, from zero or, if ``resumed``, added to
    ``c``."""
    for part in range(0, SPAN, STRIP):
        r, o = zero6(), ell * SPAN + part
        if resumed:
            r = load6(c, o)
        store6(c, o, _six(panel, data, place + part, count, ahead, r))


@kernel(inline=True)
def _north_of(functions, polar, active, end):
    """First block that any ell below ``end`` matters to, of those from ``polar`` to ``active``."""
    for block in range(active - 1, polar - 1, -1):
        if first_of(functions, block) < end:
            active = block
    return active


@kernel
def _direct_wavenumber(functions, rows, room, data, place, near, column):
    """Projections on ``p_l`` of one wavenumber, summed over latitudes, into ``room.coefficients``.

    ``rows`` are the first latitude and the end; ``data`` is the wavenumber-major buffer, ``place`` the offset
    that row 0 would have in it.  Meanwhile the next wavenumber, at ``near``, is fetched, and the part of the
    spectrum that will be written: products take turns, for each of the eight fields.
    """
    row0, end_row = rows
    polar, active = row0 // BLOCK, functions.blocks  # blocks north of ``active`` are zero so far
    count, height = functions.count, end_row - row0
    turns = max(count // (LANES * STEP), 1)
    pace = min(1 + SPAN * STEP // count, LANES), min(1 + 4 * count // (turns * height), LANES)
    for start in range(0, count, STEP):
        end = min(start + STEP, count)
        active = _north_of(functions, polar, active, end)
        turn = start // STEP
        written = at(column.lanes, turn % LANES) + column.place + turn // LANES * pace[1] * height
        for north in range(active, functions.blocks, SLICE):
            south, resumed = min(north + SLICE, functions.blocks), north > active
            for block in range(north, south):
                panel = (room.panel, (block - north) * BLOCK)
                build_or_zero(functions, block, start, end, panel, _WIDTH, room.state)
            row = max(row0, north * BLOCK)
            first, p, n = row - north * BLOCK, place + row * SPAN, min(south * BLOCK, end_row) - row
            ahead = Ahead(data, near, pace[0])
            panel = Panel(room.panel, first, _WIDTH, 1)
            _sum_latitudes(panel, data, p, n, ahead, resumed, room.coefficients, start)
            near += pace[0] * n
            if start + SIX < end:
                ahead = Ahead(column.values, written, pace[1])
                panel = Panel(room.panel, first + SIX * _WIDTH, _WIDTH, 1)
                _sum_latitudes(panel, data, p, n, ahead, resumed, room.coefficients, start + SIX)
                written += pace[1] * n


@kernel
def _cut(work, truncation, blocks):
    """``Room`` from one thread's work space ``work`` for a ``truncation`` and so many ``blocks`` of latitudes."""
    edge = _line(truncation)
    sums = edge + _EDGE
    state = sums + BLOCK * SPAN
    panel = state + 2 * BLOCK * blocks
    return Room(address(work), address(work[edge:]), address(work[sums:]), address(work[state:]), address(work[panel:]))


@kernel
def inverse(thread, threads, tables, spectra, work, buffer):
    """Legendre part of the inverse transform of up to eight fields: every ``threads``-th wavenumber.

    ``work`` is the thread's scratch, float64 (scratch_size(T, blocks),); ``buffer``, latitude-major, is written.
    """
    top, blocks = tables.offset.size - 1, tables.first.shape[1]
    wave, room = any_wave(tables, spectra, threads), _cut(work, top, blocks)
    fourier, places = address(buffer.values), address(buffer.places)
    for m in range(thread, top + 1, threads):
        functions, weights, column = wave_at(wave, m, tables, spectra)
        to_functions(column, weights, room.edge, room.coefficients)
        target = Target(fourier, places, m * SPAN, tables.first_row[m], tables.rows, buffer.streaming)
        polar, later = tables.first_row[m] // BLOCK, 2 * spectra.columns[min(m + threads, top)]
        share = 4 * functions.count // max((blocks - polar) // 2, 1)  # two blocks fetch it of every field
        for block in range(polar, blocks):
            _inverse_block(block, functions, room, column, later + (block - polar) // 2 * share, target)
    fence()


@kernel
def direct(thread, threads, tables, spectra, work, buffer):
    """Legendre part of the direct transform of up to eight fields, as the inverse; ``buffer`` is wavenumber-major."""
    top, first_row = tables.offset.size - 1, tables.first_row
    wave, room = any_wave(tables, spectra, threads), _cut(work, top, tables.first.shape[1])
    data, places = address(buffer.values), buffer.places
    for m in range(thread, top + 1, threads):
        functions, weights, column = wave_at(wave, m, tables, spectra)
        later = min(m + threads, top)
        near = places[later] + first_row[later] * SPAN
        _direct_wavenumber(functions, (first_row[m], tables.rows), room, data, places[m], near, column)
        from_functions(room.coefficients, weights, room.edge, column)


@kernel
def _line(truncation):
    """Doubles of the coefficients of one wavenumber of a ``truncation``, with room for a last panel of the direct
    transform."""
    return (truncation // 2 + 16) * SPAN


def scratch_size(truncation: int, blocks: int) -> int:
    """Doubles of private work space a thread needs, for both directions."""
    panel = max(CHUNK, STEP * SLICE) * BLOCK
    return _line(truncation) + _EDGE + BLOCK * SPAN + panel + 2 * BLOCK * blocks
