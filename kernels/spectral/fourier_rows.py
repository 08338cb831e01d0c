"""Between Fourier buffers and grid rows: expand, transform, transpose, and back; long rows in two steps.

A row of ``n = n₁ n₂`` elements of eight lanes (128 bytes each) does not fit that cache, and every pass over
it waits for the second level.  So the sum is taken apart once, with ``j = j₁ n₂ + j₂``, ``k = k₁ + n₁ k₂``
and ``ω_n = exp(2πi / n)``:

    X_k = Σ_{j₂} ω_{n₂}^{j₂ k₂} ω_n^{j₂ k₁} Σ_{j₁} ω_{n₁}^{j₁ k₁} x_j .

Inverse transform: the columns ``j₂`` and ``n₂ - j₂`` take their input from the same wavenumbers of the
Fourier buffer, because ``Z_{n-k}`` mirrors ``Z_k``; they are built, transformed (length ``n₁``), turned and
laid down in groups of sixteen ``k₁``.  Each group is transformed (length ``n₂``), transposed from lanes to
points and written to the grid.  The direct transform runs the same way back, from a row that has been read.

A group holds ``[n₂, 16]`` elements; where ``n₁`` is no multiple of sixteen the last two groups overlap.

Source: D. H. Bailey, J. Supercomputing 4, 23 (1990), for the two steps.

``steps`` is the :class:`Steps` of a length and ``room`` the :class:`Room` of a thread, whose ``work`` has an element or
a column at ``x``; ``fourier`` is the address of the Fourier buffer, where ``count`` wavenumbers of a row begin at
``place``; ``scales`` as in ``fourier_ends``; ``roots`` is the address of the table of roots.
"""

from typing import Any, NamedTuple

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, address, at, distance, fence, load, prefetch, spread
from kernels.spectral.fourier import FACTORS, FIRST, GROUP, SECOND, START, TWIST, FourierTables, N, transform
from kernels.spectral.fourier_ends import (
    Scales,
    Waves,
    build_lone,
    emit_column,
    mirrored,
    places_of,
    read_rows,
    terms_of,
    write_rows,
    write_square,
)
from kernels.spectral.fourier_passes import (
    ELEMENT,
    LARGEST_RADIX,
    SPARE,
    Elements,
    Roots,
    butterflies,
    element,
    multiply,
    put_element,
    root,
    stockham,
)
from kernels.spectral.quads import SPAN

GROUP_SPAN = GROUP * ELEMENT  # doubles of a group of neighbouring k₁


class Steps(NamedTuple):
    """How a length n = n₁ n₂ is taken apart."""

    n1: int
    n2: int
    radices1: int  # place of the radices of n₁ in the table of radices
    radices2: int  # and of n₂
    roots1: int  # place of the roots of unity of order n₁ in the table of roots, doubles
    roots2: int  # and of order n₂
    twist: int  # place of the roots of order n between the steps, by columns, doubles


class Room(NamedTuple):
    """One thread's private work space."""

    work: Any  # address of float64; the places below are offsets in it, doubles
    row: int  # a row of eight lanes
    other_row: int
    column: int  # columns of the first step
    other_column: int
    group: int  # a group of outputs
    idle: int  # a row that idle lanes write to


class PassTables(NamedTuple):
    """Addresses of what the passes of all lengths read."""

    radices: Any  # int64
    roots: Any  # float64


@kernel(inline=True)
def _groups(n1):
    """Groups of sixteen ``k₁`` among so many as ``n1``."""
    return (n1 + GROUP - 1) // GROUP


@kernel(inline=True)
def _begin(g, n1):
    """First ``k₁`` of group ``g`` among so many as ``n1``."""
    return min(GROUP * g, n1 - GROUP)


@kernel
def _build_pair(fourier, place, count, steps, j, scales, work, x):
    """Columns ``j`` and ``n₂ - j`` of the input, interleaved."""
    n1, n2, pair = steps.n1, steps.n2, 2 * ELEMENT
    i = n2 - j
    mine, other = terms_of(count, j, n2), terms_of(count, i, n2)
    for h in range(mine):
        a, b = mirrored(fourier, place + (j + n2 * h) * SPAN, scales)
        put_element(work, x + pair * h, a)
        put_element(work, x + pair * (n1 - 1 - h) + ELEMENT, b)
    for h in range(other):
        a, b = mirrored(fourier, place + (i + n2 * h) * SPAN, scales)
        put_element(work, x + pair * h + ELEMENT, a)
        put_element(work, x + pair * (n1 - 1 - h), b)
    zero = spread(0.0)
    for h in range(mine, n1 - other):
        put_element(work, x + pair * h, (zero, zero))
    for h in range(other, n1 - mine):
        put_element(work, x + pair * h + ELEMENT, (zero, zero))


@kernel
def _lay_down(room, x, advance, column, steps, roots, fourier, ahead):
    """Turn one transformed ``column``, whose elements are ``advance`` apart, and put it into the groups; ask for the
    next row, from ``ahead`` on, meanwhile.  Returns where that has come to."""
    w = steps.twist + 2 * column * steps.n1
    for g in range(_groups(steps.n1)):
        k = _begin(g, steps.n1)
        o = room.row + (g * steps.n2 + column) * GROUP_SPAN
        for q in range(GROUP):
            z = element(room.work, x + (k + q) * advance)
            put_element(room.work, o + ELEMENT * q, multiply(z, root(roots, w + 2 * (k + q))))
            prefetch(fourier, ahead)
            prefetch(fourier, ahead + LANES)
            ahead += 2 * LANES
    return ahead


@kernel(inline=True)
def _two_radices(radices, i):
    """Radices of the second step, first and last pass, from place ``i`` of ``radices`` (address of int64); the
    first is 1 where one pass is enough."""
    first, last = at(radices, i), at(radices, i + 1)
    return (first, last) if last else (1, first)


@kernel
def _inverse_first_step(fourier, place, count, ahead, steps, tables, scales, room):
    """Columns of one row of eight lanes from the Fourier buffer to the groups, at ``room.row``.

    Parameters
    ----------
    fourier : address of float64
        Latitude-major Fourier buffer.
    place, count, ahead : int
        Where the row begins, doubles; its wavenumbers; the place that is read next.
    steps : Steps
    tables : PassTables
    scales : Scales
    room : Room
    """
    work, n1, n2 = room.work, steps.n1, steps.n2
    for j in range(n2 // 2 + 1):
        lone = j == 0 or 2 * j == n2
        batch = 1 if lone else 2
        if lone:
            build_lone(fourier, place, count, n1, n2, j, scales, work, room.column)
        else:
            _build_pair(fourier, place, count, steps, j, scales, work, room.column)
        z = stockham(
            work, room.column, room.other_column, n1, batch, tables.radices, steps.radices1, tables.roots, steps.roots1
        )
        ahead = _lay_down(room, z, ELEMENT * batch, j, steps, tables.roots, fourier, ahead)
        if not lone:
            ahead = _lay_down(room, z + ELEMENT, 2 * ELEMENT, n2 - j, steps, tables.roots, fourier, ahead)


@kernel
def _inverse_second_step(steps, tables, room, out, north, south, streaming):
    """Groups to the grid if ``streaming``, else in natural order to ``room.other_row``.

    It works in place: the first pass leaves part ``p`` of the results to the slice ``p`` of the last.
    Streamed slices leave while they are in the first-level cache; ordinary stores want whole rows in order,
    because each fetches the line that it writes to.

    Parameters
    ----------
    steps : Steps
    tables : PassTables
    room : Room
    out : address of float64
        Grid-point values.
    north, south : tuple of 8 int
        Offset of the row of each lane, doubles.
    streaming : bool
    """
    work, n1, n2 = room.work, steps.n1, steps.n2
    radix, last = _two_radices(tables.radices, steps.radices2)
    unturned = Roots(tables.roots, steps.roots2, 0, 0, radix)
    for g in range(_groups(n1)):
        point, group, part = _begin(g, n1), room.row + g * n2 * GROUP_SPAN, GROUP_SPAN * last
        if radix > 1:
            elements = Elements(group, GROUP_SPAN, part)
            butterflies(radix, work, elements, elements, last, GROUP, Roots(tables.roots, steps.roots2, 0, 1, last))
        if not streaming:
            elements = Elements(group, part, GROUP_SPAN)
            outputs = Elements(room.other_row + ELEMENT * point, ELEMENT * n1, ELEMENT * n1 * radix)
            butterflies(last, work, elements, outputs, radix, GROUP, unturned)
            continue
        for p in range(radix):
            elements = Elements(group + part * p, 0, GROUP_SPAN)
            butterflies(last, work, elements, Elements(room.group, 0, GROUP_SPAN), 1, GROUP, unturned)
            for k in range(last):
                j, z = point + n1 * (p + radix * k), room.group + GROUP_SPAN * k
                for q in range(0, GROUP, LANES):
                    write_square(work, z + ELEMENT * q, out, j + q, north, south, True)


@kernel
def _take_up(work, place, column, steps, roots, x, advance):
    """One ``column`` out of the groups, turned, to elements ``advance`` apart."""
    w = steps.twist + 2 * column * steps.n1
    for g in range(_groups(steps.n1)):
        k = _begin(g, steps.n1)
        o = place + g * steps.n2 * GROUP_SPAN
        for q in range(GROUP):
            z = multiply(element(work, o + ELEMENT * q), root(roots, w + 2 * (k + q)))
            put_element(work, x + (k + q) * advance, z)


@kernel
def _direct_groups(steps, tables, room, radix, last):
    """The row at ``room.other_row`` to groups at ``room.row``, transformed over n₂ = ``radix`` · ``last``: a pass of
    each, or one if ``radix`` is 1.

    ``tables`` is :class:`PassTables`.
    """
    part, line, work = GROUP_SPAN * last, ELEMENT * steps.n1, room.work
    turned = Roots(tables.roots, steps.roots2, 0, 1, last)
    unturned = Roots(tables.roots, steps.roots2, 0, 0, radix)
    for g in range(_groups(steps.n1)):
        group, source = room.row + g * steps.n2 * GROUP_SPAN, room.other_row + ELEMENT * _begin(g, steps.n1)
        if radix == 1:
            butterflies(last, work, Elements(source, 0, line), Elements(group, 0, GROUP_SPAN), 1, GROUP, unturned)
            continue
        inputs, elements = Elements(source, line, line * last), Elements(group, GROUP_SPAN, part)
        butterflies(radix, work, inputs, elements, last, GROUP, turned)
        elements = Elements(group, part, GROUP_SPAN)
        butterflies(last, work, elements, elements, radix, GROUP, unturned)


@kernel
def _direct_long(steps, tables, scales, room, waves):
    """One row of eight lanes at ``room.other_row`` to the wavenumber-major Fourier buffer.

    ``steps`` (``Steps``), ``tables`` (``PassTables``), ``scales`` (``Scales``) and ``room`` (``Room``) as for the
    inverse; ``waves`` (``Waves``) says where to write.
    """
    work, n1, n2 = room.work, steps.n1, steps.n2
    radix, last = _two_radices(tables.radices, steps.radices2)
    _direct_groups(steps, tables, room, radix, last)
    x = room.column
    for j in range(n2 // 2 + 1):
        lone, i = j == 0 or 2 * j == n2, n2 - j
        batch = 1 if lone else 2
        advance = ELEMENT * batch
        # result k of a group stands where the last pass of its k % radix left it
        place = room.row + GROUP_SPAN * (j % radix * last + j // radix)
        _take_up(work, place, j, steps, tables.roots, x, advance)
        if not lone:
            place = room.row + GROUP_SPAN * (i % radix * last + i // radix)
            _take_up(work, place, i, steps, tables.roots, x + ELEMENT, advance)
        z = stockham(work, x, room.other_column, n1, batch, tables.radices, steps.radices1, tables.roots, steps.roots1)
        end = z + advance * (n1 - 1 if j else n1)
        if lone:
            emit_column(work, z, end, advance, j, n2, scales, waves)
        else:
            emit_column(work, z, end + ELEMENT, advance, j, n2, scales, waves)
            emit_column(work, z + ELEMENT, end, advance, i, n2, scales, waves)


@kernel(inline=True)
def _two_steps(info, id):
    """``Steps`` of the length number ``id`` of ``info``, the table of ``fourier.FourierTables``."""
    first, second = info[id, FIRST], info[id, SECOND]
    return Steps(
        info[first, N],
        info[second, N],
        FACTORS * first,
        FACTORS * second,
        info[first, START],
        info[second, START],
        info[id, TWIST],
    )


@kernel(inline=True)
def _room(work, lengths, grid):
    """``Room`` in one thread's work space for all ``lengths`` (``FourierTables``); the row of idle lanes as an offset
    from ``grid``, an address."""
    row, line, column = SPARE, ELEMENT * lengths.largest, ELEMENT * lengths.columns
    columns = row + 2 * line
    group = columns + 2 * column
    idle = group + GROUP_SPAN * LARGEST_RADIX + distance(work, grid)
    return Room(work, row, row + line, columns, columns + column, group, idle)


def scratch_size(lengths: FourierTables) -> int:
    """Doubles of private work space a thread needs."""
    two = 2 * ELEMENT * (lengths.largest + lengths.columns)
    return SPARE + two + GROUP_SPAN * LARGEST_RADIX + LANES * lengths.largest


@kernel
def _expand(fourier, place, count, n, scales, work, x):
    """A whole row of ``n`` points as one column.  A function of its own: inlined into the loop over tasks it took
    longer."""
    build_lone(fourier, place, count, n, 1, 0, scales, work, x)


@kernel
def inverse(thread, threads, rows, lengths, work, buffer, values, streaming):
    """Fourier part of the inverse transform: one thread's share.

    Parameters
    ----------
    thread, threads : int
        Each takes every ``threads``-th task.
    rows : tasks.Rows
    lengths : FourierTables
    work : float64, (scratch_size(lengths),)
    buffer : tasks.Buffer
        Latitude-major Fourier buffer.
    values : float64, flat
        Grid-point values of all fields, written.
    streaming : bool
        Write past the caches; every row must begin a cache line.
    """
    where, norths, souths, factors = rows
    tables = PassTables(address(lengths.radices), address(lengths.table))
    fourier, out = address(buffer.values), address(values)
    room, info = _room(address(work), lengths, out), lengths.info
    last = where.shape[0] - 1
    for i in range(thread, last + 1, threads):
        id, count, place = where[i, 0], where[i, 1], where[i, 2]
        scales = Scales(load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES))
        n = info[id, N]
        if info[id, FIRST] >= 0:
            steps, following = _two_steps(info, id), where[min(i + threads, last), 2]
            _inverse_first_step(fourier, place, count, following, steps, tables, scales, room)
            written, z = streaming and steps.n1 % LANES == 0, room.other_row
            north, south = places_of(norths, i, room.idle), places_of(souths, i, room.idle)
            _inverse_second_step(steps, tables, room, out, north, south, written)
        else:
            _expand(fourier, place, count, n, scales, room.work, room.row)
            z = transform(room.work, room.row, room.other_row, id, info, tables.radices, tables.roots)
            written = False
        if not written:
            north, south = places_of(norths, i, room.idle), places_of(souths, i, room.idle)
            write_rows(room.work, z, n, out, north, south, streaming)
    fence()


@kernel
def direct(thread, threads, rows, lengths, work, buffer, values):
    """Fourier part of the direct transform: one thread's share.

    ``thread``, ``threads``, ``rows``, ``lengths`` and ``work`` as for the inverse; ``values`` (float64, flat) are
    the grid-point values, ``buffer`` (``tasks.Buffer``) is the wavenumber-major Fourier buffer, written.
    """
    where, norths, souths, factors = rows
    tables = PassTables(address(lengths.radices), address(lengths.table))
    source, fourier, places = address(values), address(buffer.values), buffer.places
    room, info = _room(address(work), lengths, source), lengths.info
    for i in range(thread, where.shape[0], threads):
        id = where[i, 0]
        scales = Scales(load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES))
        waves = Waves(fourier, places, where[i, 3], where[i, 1], where[i, 4], buffer.streaming)
        n = info[id, N]
        north, south = places_of(norths, i, room.idle), places_of(souths, i, room.idle)
        read_rows(source, n, north, south, room.work, room.other_row)
        if info[id, FIRST] >= 0:
            _direct_long(_two_steps(info, id), tables, scales, room, waves)
        else:
            z = transform(room.work, room.other_row, room.row, id, info, tables.radices, tables.roots)
            emit_column(room.work, z, z + ELEMENT * n, ELEMENT, 0, 1, scales, waves)
    fence()
