"""What goes into the Fourier transforms and comes out: quads of the Fourier buffers, points of the grid rows."""

from typing import Any, NamedTuple

from kernels.runtime.jit import kernel
from kernels.runtime.vector import LANES, fma, fms, high_of_two, load, low_of_two, spread, store_some, transpose
from kernels.spectral.fourier_passes import ELEMENT, element, put_element
from kernels.spectral.quads import SPAN, emit, emit4, load4
from kernels.spectral.tasks import ALL


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
def write_eight(work, z, out, j, north, south, streaming):
    """Eight elements to eight points of the northern (real parts) and southern rows.

    Parameters
    ----------
    work : address of float64
        The elements stand at ``work[z:]``.
    z, j : int
        ``j`` is the number of the first point.
    out : address of float64
        Grid-point values.
    north, south : tuple of 8 int
        Offset of the row of each lane, doubles.
    streaming : bool
        Write past the caches.
    """
    for part in range(2):
        p0, p1, p2, p3, p4, p5, p6, p7 = south if part else north
        o = z + LANES * part
        r = transpose(
            load(work, o),
            load(work, o + ELEMENT),
            load(work, o + 2 * ELEMENT),
            load(work, o + 3 * ELEMENT),
            load(work, o + 4 * ELEMENT),
            load(work, o + 5 * ELEMENT),
            load(work, o + 6 * ELEMENT),
            load(work, o + 7 * ELEMENT),
        )
        # a missing field has the place of the last one, which is written after it
        emit(out, p7 + j, r[7], streaming)
        emit(out, p6 + j, r[6], streaming)
        emit(out, p5 + j, r[5], streaming)
        emit(out, p4 + j, r[4], streaming)
        emit(out, p3 + j, r[3], streaming)
        emit(out, p2 + j, r[2], streaming)
        emit(out, p1 + j, r[1], streaming)
        emit(out, p0 + j, r[0], streaming)


@kernel
def _write_two(work, z, out, j, north, south, streaming):
    """``write_eight`` of two lanes."""
    for part in range(2):
        p0, p1 = south if part else north
        first, second = load(work, z + LANES * part), load(work, z + LANES * part + ELEMENT)
        emit(out, p1 + j, high_of_two(first, second), streaming)
        emit(out, p0 + j, low_of_two(first, second), streaming)


if LANES == 2:
    write_eight = _write_two
