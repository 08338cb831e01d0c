"""Between Fourier buffers and grid rows: expand, transform, transpose, and back."""

import numba

from kernels.runtime.clock import monotonic
from kernels.runtime.jit import kernel
from kernels.runtime.vector import (
    LANES,
    address,
    at,
    distance,
    fence,
    high_of_two,
    load,
    low_of_two,
    put,
    store,
    transpose,
)
from kernels.spectral.fourier import FACTORS, FIRST, SECOND, START, TWIST, N, transform
from kernels.spectral.fourier import Tables as Lengths
from kernels.spectral.fourier_ends import Scales, Waves, build_lone, emit_column, write_eight
from kernels.spectral.fourier_long import (
    GROUP_SPAN,
    Room,
    Steps,
    Tables,
    direct_long,
    inverse_first_step,
    inverse_second_step,
)
from kernels.spectral.fourier_passes import ELEMENT, LARGEST_RADIX, SPARE
from kernels.spectral.tasks import Buffer


@kernel
def _write(work, z, n, out, north, south, streaming):
    """Real parts of ``[n, 2, 8]`` at ``work[z]`` to the northern rows, imaginary parts to the southern ones.

    ``streaming`` promises rows that start on cache lines.
    """
    body = n - n % LANES
    for j in range(0, body, LANES):
        write_eight(work, z + ELEMENT * j, out, j, north, south, streaming)
    for part in range(2):
        rows = south if part else north
        for lane in range(LANES - 1, -1, -1):
            for j in range(body, n):
                put(out, rows[lane] + j, at(work, z + ELEMENT * j + LANES * part + lane))


@kernel
def _read_eight(values, j, north, south, work, z):
    """Eight points of the southern (real parts) and northern rows to eight elements."""
    for part in range(2):
        p0, p1, p2, p3, p4, p5, p6, p7 = north if part else south
        r = transpose(
            load(values, p0 + j),
            load(values, p1 + j),
            load(values, p2 + j),
            load(values, p3 + j),
            load(values, p4 + j),
            load(values, p5 + j),
            load(values, p6 + j),
            load(values, p7 + j),
        )
        o = z + LANES * part
        store(work, o, r[0])
        store(work, o + ELEMENT, r[1])
        store(work, o + 2 * ELEMENT, r[2])
        store(work, o + 3 * ELEMENT, r[3])
        store(work, o + 4 * ELEMENT, r[4])
        store(work, o + 5 * ELEMENT, r[5])
        store(work, o + 6 * ELEMENT, r[6])
        store(work, o + 7 * ELEMENT, r[7])


@kernel
def _read_two(values, j, north, south, work, z):
    """``_read_eight`` of two lanes."""
    for part in range(2):
        p0, p1 = north if part else south
        first, second = load(values, p0 + j), load(values, p1 + j)
        store(work, z + LANES * part, low_of_two(first, second))
        store(work, z + LANES * part + ELEMENT, high_of_two(first, second))


@kernel
def _read(values, n, north, south, work, z):
    """South + i north of eight lanes."""
    body = n - n % LANES
    for j in range(0, body, LANES):
        _read_eight(values, j, north, south, work, z + ELEMENT * j)
    for part in range(2):
        rows = north if part else south
        for lane in range(LANES):
            for j in range(body, n):
                put(work, z + ELEMENT * j + LANES * part + lane, at(values, rows[lane] + j))


@kernel(inline=True)
def _row(rows, i, lane, idle):
    return rows[i, lane] if rows[i, lane] >= 0 else idle


@kernel(inline=True)
def _eight(rows, i, idle):
    """Offsets of the rows of a task; ``idle`` for the lanes without one."""
    return (
        _row(rows, i, 0, idle),
        _row(rows, i, 1, idle),
        _row(rows, i, 2, idle),
        _row(rows, i, 3, idle),
        _row(rows, i, 4, idle),
        _row(rows, i, 5, idle),
        _row(rows, i, 6, idle),
        _row(rows, i, 7, idle),
    )


@kernel(inline=True)
def _two(rows, i, idle):
    """``_eight`` of two lanes."""
    return _row(rows, i, 0, idle), _row(rows, i, 1, idle)


if LANES == 2:
    _read_eight, _eight = _read_two, _two


@kernel(inline=True)
def _two_steps(info, id):
    """``Steps`` of a length."""
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
    """``Room`` in one thread's work space; the row of idle lanes as an offset from ``grid``, an address."""
    row, line, column = SPARE, ELEMENT * lengths.largest, ELEMENT * lengths.columns
    columns = row + 2 * line
    group = columns + 2 * column
    idle = group + GROUP_SPAN * LARGEST_RADIX + distance(work, grid)
    return Room(work, row, row + line, columns, columns + column, group, idle)


def scratch_size(lengths) -> int:
    """Doubles of private work space a thread needs."""
    two = 2 * ELEMENT * (lengths.largest + lengths.columns)
    return SPARE + two + GROUP_SPAN * LARGEST_RADIX + LANES * lengths.largest


@kernel
def _expand(fourier, place, count, n, scales, work, x):
    """A whole row as one column.  A function of its own: inlined into the loop over tasks it took longer."""
    build_lone(fourier, place, count, n, 1, 0, scales, work, x)


@kernel
def _inverse_share(thread, threads, rows, lengths, work, buffer, values, streaming):
    lengths, buffer = Lengths(*lengths), Buffer(*buffer)
    where, norths, souths, factors = rows
    tables = Tables(address(lengths.radices), address(lengths.table))
    fourier, out = address(buffer.values), address(values)
    room, info = _room(address(work), lengths, out), lengths.info
    last = where.shape[0] - 1
    for i in range(thread, last + 1, threads):
        id, count, place = where[i, 0], where[i, 1], where[i, 2]
        scales = Scales(load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES))
        n = info[id, N]
        if info[id, FIRST] >= 0:
            steps, following = _two_steps(info, id), where[min(i + threads, last), 2]
            inverse_first_step(fourier, place, count, following, steps, tables, scales, room)
            written, z = streaming and steps.n1 % LANES == 0, room.other_row
            north, south = _eight(norths, i, room.idle), _eight(souths, i, room.idle)
            inverse_second_step(steps, tables, room, out, north, south, written)
        else:
            _expand(fourier, place, count, n, scales, room.work, room.row)
            z = transform(room.work, room.row, room.other_row, id, info, tables.radices, tables.roots)
            written = False
        if not written:
            north, south = _eight(norths, i, room.idle), _eight(souths, i, room.idle)
            _write(room.work, z, n, out, north, south, streaming)
    fence()


@kernel(parallel=True)
def inverse_rows(threads, rows, lengths, scratch, buffer, values, streaming, stamps):
    """Fourier part of the inverse transform.

    Parameters
    ----------
    threads : int
        Each takes every ``threads``-th task.
    rows : tasks.Rows
    lengths : fourier.Tables
    scratch : float64, (threads, scratch_size(lengths))
    buffer : tasks.Buffer
        Latitude-major Fourier buffer.
    values : float64, flat
        Grid-point values of all fields, written.
    streaming : bool
        Write past the caches; every row must begin a cache line.
    stamps : float64, (threads, 2)
        Receives the clock of each thread before and after its share, s.
    """
    for thread in numba.prange(threads):
        stamps[thread, 0] = monotonic()
        _inverse_share(thread, threads, rows, lengths, scratch[thread], buffer, values, streaming)
        stamps[thread, 1] = monotonic()


@kernel
def _direct_share(thread, threads, rows, lengths, work, values, buffer):
    lengths, buffer = Lengths(*lengths), Buffer(*buffer)
    where, norths, souths, factors = rows
    tables = Tables(address(lengths.radices), address(lengths.table))
    source, fourier, places = address(values), address(buffer.values), buffer.places
    room, info = _room(address(work), lengths, source), lengths.info
    for i in range(thread, where.shape[0], threads):
        id = where[i, 0]
        scales = Scales(load(factors, 2 * LANES * i), load(factors, 2 * LANES * i + LANES))
        waves = Waves(fourier, places, where[i, 3], where[i, 1], where[i, 4], buffer.streaming)
        n = info[id, N]
        north, south = _eight(norths, i, room.idle), _eight(souths, i, room.idle)
        _read(source, n, north, south, room.work, room.other_row)
        if info[id, FIRST] >= 0:
            direct_long(_two_steps(info, id), tables, scales, room, waves)
        else:
            z = transform(room.work, room.other_row, room.row, id, info, tables.radices, tables.roots)
            emit_column(room.work, z, z + ELEMENT * n, ELEMENT, 0, 1, scales, waves)
    fence()


@kernel(parallel=True)
def direct_rows(threads, rows, lengths, scratch, values, buffer, stamps):
    """Fourier part of the direct transform.

    ``threads``, ``rows``, ``lengths``, ``scratch`` and ``stamps`` as for the inverse; ``values`` (float64, flat) are
    the grid-point values, ``buffer`` (``tasks.Buffer``) is the wavenumber-major Fourier buffer, written.
    """
    for thread in numba.prange(threads):
        stamps[thread, 0] = monotonic()
        _direct_share(thread, threads, rows, lengths, scratch[thread], values, buffer)
        stamps[thread, 1] = monotonic()
