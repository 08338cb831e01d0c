"""Between Fourier buffers and grid rows: expand, transform, transpose, and back.

Task tables (one row each, see ``tasks``):

``where[task] = (length id, number of wavenumbers, offset in the latitude-major buffer, row or block
number in the wavenumber-major buffer, bits of the active lanes)``.
``north[task, lane]`` and ``south[task, lane]`` are offsets of the rows in the grid-point array, negative
for an idle lane, which then works on a row that nobody reads; ``factors[task, 16]`` scale the even and odd
parts lane by lane.
"""

import numba

from kernels.runtime.jit import kernel
from kernels.runtime.vector import address, at, distance, fence, load, put, store, transpose
from kernels.spectral.fourier import FACTORS, FIRST, SECOND, START, TWIST, N, transform
from kernels.spectral.fourier_long import (
    BLOCK,
    build_lone,
    direct_long,
    emit_column,
    inverse_first_step,
    inverse_second_step,
    write_eight,
)
from kernels.spectral.fourier_passes import LARGEST_RADIX, SPARE


@kernel
def _write(work, z, n, out, north, south, streaming):
    """Real parts of ``[n, 2, 8]`` at ``work[z]`` to the northern rows, imaginary parts to the southern ones.

    ``streaming`` promises rows that start on cache lines.
    """
    body = n - n % 8
    for j in range(0, body, 8):
        write_eight(work, z + 16 * j, out, j, north, south, streaming)
    for part in range(2):
        rows = south if part else north
        for lane in range(7, -1, -1):
            for j in range(body, n):
                put(out, rows[lane] + j, at(work, z + 16 * j + 8 * part + lane))


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
        o = z + 8 * part
        store(work, o, r[0])
        store(work, o + 16, r[1])
        store(work, o + 32, r[2])
        store(work, o + 48, r[3])
        store(work, o + 64, r[4])
        store(work, o + 80, r[5])
        store(work, o + 96, r[6])
        store(work, o + 112, r[7])


@kernel
def _read(values, n, north, south, work, z):
    """South + i north of eight lanes."""
    body = n - n % 8
    for j in range(0, body, 8):
        _read_eight(values, j, north, south, work, z + 16 * j)
    for part in range(2):
        rows = north if part else south
        for lane in range(8):
            for j in range(body, n):
                put(work, z + 16 * j + 8 * part + lane, at(values, rows[lane] + j))


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
def _two_steps(info, id):
    """What ``long`` needs to know of a length: both factors, their radices and roots, the roots between."""
    first, second = info[id, FIRST], info[id, SECOND]
    return (
        info[first, N],
        info[second, N],
        FACTORS * first,
        FACTORS * second,
        info[first, START],
        info[second, START],
        info[id, TWIST],
    )


@kernel(inline=True)
def _places(largest, columns):
    """Where two rows, two columns, a group of outputs and a row of idle lanes stand in the work space."""
    x = SPARE
    a = x + 32 * largest
    spare = a + 32 * columns
    return x, x + 16 * largest, a, a + 16 * columns, spare, spare + BLOCK * LARGEST_RADIX


def scratch_size(lengths) -> int:
    """Doubles of private work space a thread needs."""
    return SPARE + 32 * (lengths.largest + lengths.columns) + BLOCK * LARGEST_RADIX + 8 * lengths.largest


@kernel
def _inverse_share(
    t, threads, where, north, south, factors, info, radices, table, work, largest, columns, fourier, out, streaming
):
    work, radices, table = address(work), address(radices), address(table)
    fourier, out = address(fourier), address(out)
    x, y, a, b, spare, idle = _places(largest, columns)
    idle += distance(work, out)
    last = where.shape[0] - 1
    for i in range(t, last + 1, threads):
        id, count, o = where[i, 0], where[i, 1], where[i, 2]
        even, odd = load(factors, 16 * i), load(factors, 16 * i + 8)
        n = info[id, N]
        if info[id, FIRST] >= 0:
            steps, following, places = _two_steps(info, id), min(i + threads, last), (x, a, b, spare)
            inverse_first_step(fourier, o, count, where[following, 2], steps, radices, table, even, odd, work, places)
            sliced, z = streaming and steps[0] % 8 == 0, y
            inverse_second_step(
                steps, radices, table, work, places, z, out, _eight(north, i, idle), _eight(south, i, idle), sliced
            )
        else:
            build_lone(fourier, o, count, n, 1, 0, even, odd, work, x)
            z, sliced = transform(work, x, y, id, info, radices, table), False
        if not sliced:
            _write(work, z, n, out, _eight(north, i, idle), _eight(south, i, idle), streaming)
    fence()


@kernel(parallel=True)
def inverse_rows(
    threads, where, north, south, factors, info, radices, table, scratch, largest, columns, fourier, out, streaming
):
    """Fourier part of the inverse transform: ``out`` (flat) from the latitude-major buffer."""
    for t in numba.prange(threads):
        _inverse_share(
            t,
            threads,
            where,
            north,
            south,
            factors,
            info,
            radices,
            table,
            scratch[t],
            largest,
            columns,
            fourier,
            out,
            streaming,
        )


@kernel
def _direct_share(
    t,
    threads,
    where,
    north,
    south,
    factors,
    info,
    radices,
    table,
    work,
    largest,
    columns,
    values,
    fourier,
    places,
    streaming,
):
    work, radices, table = address(work), address(radices), address(table)
    fourier, values = address(fourier), address(values)
    x, y, a, b, spare, idle = _places(largest, columns)
    idle += distance(work, values)
    last = where.shape[0] - 1
    for i in range(t, last + 1, threads):
        id, count, column, active = where[i, 0], where[i, 1], where[i, 3], where[i, 4]
        even, odd = load(factors, 16 * i), load(factors, 16 * i + 8)
        n = info[id, N]
        _read(values, n, _eight(north, i, idle), _eight(south, i, idle), work, y)
        if info[id, FIRST] >= 0:
            direct_long(
                y,
                _two_steps(info, id),
                radices,
                table,
                even,
                odd,
                work,
                (x, a, b, spare),
                fourier,
                places,
                column,
                count,
                active,
                streaming,
            )
        else:
            z = transform(work, y, x, id, info, radices, table)
            emit_column(work, z, z + 16 * n, 16, 0, 1, even, odd, fourier, places, column, count, active, streaming)
    fence()


@kernel(parallel=True)
def direct_rows(
    threads,
    where,
    north,
    south,
    factors,
    info,
    radices,
    table,
    scratch,
    largest,
    columns,
    values,
    fourier,
    places,
    streaming,
):
    """Fourier part of the direct transform: the wavenumber-major buffer from ``values`` (flat)."""
    for t in numba.prange(threads):
        _direct_share(
            t,
            threads,
            where,
            north,
            south,
            factors,
            info,
            radices,
            table,
            scratch[t],
            largest,
            columns,
            values,
            fourier,
            places,
            streaming,
        )
