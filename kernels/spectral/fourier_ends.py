"""What goes into the Fourier transforms and comes out: quads of the Fourier buffers, points of the grid rows."""

from typing import Any, NamedTuple

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, at, fma, fms, load, put, spread, store_some
from kernels.spectral.fourier_passes import ELEMENT, element, put_element
from kernels.spectral.quads import ALL, SPAN, emit4, emit_rows, load4, load_columns, strided


class Scales(NamedTuple):
    """What the even and the odd parts are multiplied by, lane by lane; vectors, 1."""

    even: Any
    odd: Any


class Waves(NamedTuple):
    """Where the direct transform writes one row of eight lanes."""

    values: Any  # address of the wavenumber-major Fourier buffer
    places: Any  # int64, (T + 1,): place of row 0 of each wavenumber, doubles
    row: int  # number of the row, or of the block of eight rows
    count: int  # wavenumbers
    active: int  # bits of the lanes that are wanted; another thread may write the others
    streaming: bool  # write past the caches


@kernel(inline=True)
def mirrored(fourier, place, scales):
    """``Z_k`` and ``Z_{n-k}`` of north + i south from the parts of wavenumber ``k`` at ``place`` of ``fourier``
    (address of float64), times ``scales`` (``Scales``)."""
    er, ei, dr, di = load4(fourier, place)
    dr, di = scales.odd * dr, scales.odd * di
    nr, ni = fma(scales.even, er, dr), fma(scales.even, ei, di)
    sr, si = fms(scales.even, er, dr), fms(scales.even, ei, di)
    return (nr - si, ni + sr), (nr + si, sr - ni)


@kernel(inline=True)
def mean(fourier, place, scales):
    """``Z_0``; ``fourier``, ``place`` and ``scales`` as in ``mirrored``.  Imaginary parts of wavenumber 0 do not
    count."""
    er, dr = load(fourier, place), scales.odd * load(fourier, place + 2 * LANES)
    return fma(scales.even, er, dr), fms(scales.even, er, dr)


@kernel(inline=True)
def parts(a, b, scales):
    """Even and odd parts, times ``scales`` (``Scales``), from ``Z_k`` = ``a`` and ``Z_{n-k}`` = ``b`` of south +
    i north, transformed with its parts exchanged."""
    (ai, ar), (bi, br) = a, b
    nr, ni, sr, si = ar + br, ai - bi, ai + bi, br - ar
    return scales.even * (nr + sr), scales.even * (ni + si), scales.odd * (nr - sr), scales.odd * (ni - si)


@kernel(inline=True)
def terms_of(count, j, stride):
    """How many of ``j, j + stride, …`` are below ``count``."""
    return max(count - j + stride - 1, 0) // stride


@kernel(inline=True)
def build_lone(fourier, place, count, n1, n2, j, scales, work, x):
    """Column 0 or ``n₂ / 2``, which is its own mirror image; with ``n₂ = 1`` the whole row.

    Parameters
    ----------
    fourier : address of float64
        Latitude-major Fourier buffer; the row begins at ``place``, doubles.
    place, count : int
        ``count`` is the number of wavenumbers of the row.
    n1, n2, j : int
        Column ``j``, elements j, j + n₂, …, of which there are n₁.
    scales : Scales
    work : address of float64
        The column goes to ``work[x:]``.
    x : int
    """
    mine, last = terms_of(count, j, n2), n1 - 1 if j else n1
    for h in range(mine):
        if j + h == 0:
            put_element(work, x, mean(fourier, place, scales))
        else:
            a, b = mirrored(fourier, place + (j + n2 * h) * SPAN, scales)
            put_element(work, x + ELEMENT * h, a)
            put_element(work, x + ELEMENT * (last - h), b)
    zero = spread(0.0)
    for h in range(mine, last - mine + 1):
        put_element(work, x + ELEMENT * h, (zero, zero))


@kernel(inline=True)
def emit_some(waves, place, quad):
    """Write the active lanes of a ``quad`` (four vectors) to ``place`` of ``waves`` (``Waves``)."""
    if waves.active == ALL:
        emit4(waves.values, place, quad, waves.streaming)
    else:
        store_some(waves.values, place, quad[0], waves.active)
        store_some(waves.values, place + LANES, quad[1], waves.active)
        store_some(waves.values, place + 2 * LANES, quad[2], waves.active)
        store_some(waves.values, place + 3 * LANES, quad[3], waves.active)


@kernel
def emit_column(work, a, b, advance, j, n2, scales, waves):
    """Wavenumbers ``j, j + n₂, …`` of a transformed row to the Fourier buffer.

    Parameters
    ----------
    work : address of float64
        ``Z_j`` stands at ``work[a]``, further ones ``advance`` after another, their mirror images from
        ``work[b]`` backwards; ``Z_0`` is its own.
    a, b, advance : int
        Doubles.
    j, n2 : int
    scales : Scales
    waves : Waves
    """
    for h in range(terms_of(waves.count, j, n2)):
        k = j + n2 * h
        z = element(work, a + advance * h)
        mirror = element(work, b - advance * h if k else a)
        emit_some(waves, waves.places[k] + waves.row * SPAN, parts(z, mirror, scales))


@kernel
def write_square(work, z, out, j, north, south, streaming):
    """As many elements as there are lanes to points of the northern (real parts) and southern rows.

    Parameters
    ----------
    work : address of float64
        The elements stand at ``work[z:]``.
    z, j : int
        ``j`` is the number of the first point.
    out : address of float64
        Grid-point values.
    north, south : tuple of int
        Offset of the row of each lane, doubles.
    streaming : bool
        Write past the caches.
    """
    for part in range(2):
        columns = load_columns(work, strided(z + LANES * part, ELEMENT), 0)
        emit_rows(out, south if part else north, j, columns, streaming)


@kernel
def write_rows(work, z, n, out, north, south, streaming):
    """Real parts of ``[n, 2, 8]`` at ``work[z]`` to the northern rows, imaginary parts to the southern ones.

    ``work``, ``z``, ``out``, ``north``, ``south`` and ``streaming`` as in ``write_square``; ``streaming`` promises
    rows that start on cache lines.
    """
    body = n - n % LANES
    for j in range(0, body, LANES):
        write_square(work, z + ELEMENT * j, out, j, north, south, streaming)
    for part in range(2):
        rows = south if part else north
        for lane in range(LANES - 1, -1, -1):
            for j in range(body, n):
                put(out, rows[lane] + j, at(work, z + ELEMENT * j + LANES * part + lane))


@kernel
def read_rows(values, n, north, south, work, z):
    """South + i north of eight lanes, ``n`` points of rows of ``values`` (address of float64) to ``work[z:]``.

    ``north``, ``south``, ``work`` and ``z`` as in ``write_square``.
    """
    body = n - n % LANES
    for j in range(0, body, LANES):
        for part in range(2):
            columns = load_columns(values, north if part else south, j)
            emit_rows(work, strided(z + ELEMENT * j + LANES * part, ELEMENT), 0, columns, False)
    for part in range(2):
        rows = north if part else south
        for lane in range(LANES):
            for j in range(body, n):
                put(work, z + ELEMENT * j + LANES * part + lane, at(values, rows[lane] + j))


@kernel(inline=True)
def _row(rows, i, lane, idle):
    """Entry (``i``, ``lane``) of ``rows``, ``idle`` where it is negative."""
    return rows[i, lane] if rows[i, lane] >= 0 else idle


@kernel(inline=True)
def places_of(rows, i, idle):
    """Offsets that ``rows`` (int64, (tasks, 8)) give of the rows of task ``i``; ``idle`` for the lanes without one."""
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
def _places_of_two(rows, i, idle):
    """:func:`places_of` for vectors of two lanes: ``rows``, ``i`` and ``idle`` are the same."""
    return _row(rows, i, 0, idle), _row(rows, i, 1, idle)


if LANES == 2:
    places_of = _places_of_two
