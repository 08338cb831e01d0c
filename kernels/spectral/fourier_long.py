"""Fourier transforms of long rows in two steps of columns that stay in the first-level cache.

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
"""

from kernels.runtime.jit import kernel
from kernels.runtime.vector import at, fma, fms, load, prefetch, spread, store_some, transpose
from kernels.spectral.fourier_passes import butterflies, element, multiply, put_element, root, stockham
from kernels.spectral.quads import SPAN, emit, emit4, load4
from kernels.spectral.tasks import ALL

GROUP = 16  # neighbouring k₁: 128 bytes of every row; single lines leave for memory at half the speed
ELEMENT = 16  # doubles
BLOCK = GROUP * ELEMENT


@kernel(inline=True)
def mirrored(fourier, o, even, odd):
    """``Z_k`` and ``Z_{n-k}`` of north + i south from the even and odd parts of wavenumber ``k``."""
    er, ei, dr, di = load4(fourier, o)
    dr, di = odd * dr, odd * di
    nr, ni = fma(even, er, dr), fma(even, ei, di)
    sr, si = fms(even, er, dr), fms(even, ei, di)
    return (nr - si, ni + sr), (nr + si, sr - ni)


@kernel(inline=True)
def mean(fourier, o, even, odd):
    """``Z_0``: the imaginary parts of wavenumber 0 do not count."""
    er, dr = load(fourier, o), odd * load(fourier, o + 16)
    return fma(even, er, dr), fms(even, er, dr)


@kernel(inline=True)
def parts(a, b, even, odd):
    """Even and odd parts, weights applied, from ``Z_k`` and ``Z_{n-k}`` of south + i north, transformed
    with its parts exchanged."""
    (ai, ar), (bi, br) = a, b
    nr, ni, sr, si = ar + br, ai - bi, ai + bi, br - ar
    return even * (nr + sr), even * (ni + si), odd * (nr - sr), odd * (ni - si)


@kernel(inline=True)
def _groups(n1):
    return (n1 + GROUP - 1) // GROUP


@kernel(inline=True)
def _begin(g, n1):
    """First ``k₁`` of a group."""
    return min(GROUP * g, n1 - GROUP)


@kernel(inline=True)
def _terms(count, j, stride):
    """How many of ``j, j + stride, …`` are below ``count``."""
    return max(count - j + stride - 1, 0) // stride


@kernel
def _build_pair(fourier, o, count, n1, n2, j, even, odd, work, x):
    """Columns ``j`` and ``n₂ - j`` of the input, interleaved."""
    i = n2 - j
    mine, other = _terms(count, j, n2), _terms(count, i, n2)
    for h in range(mine):
        a, b = mirrored(fourier, o + (j + n2 * h) * SPAN, even, odd)
        put_element(work, x + 32 * h, a)
        put_element(work, x + 32 * (n1 - 1 - h) + 16, b)
    for h in range(other):
        a, b = mirrored(fourier, o + (i + n2 * h) * SPAN, even, odd)
        put_element(work, x + 32 * h + 16, a)
        put_element(work, x + 32 * (n1 - 1 - h), b)
    zero = spread(0.0)
    for h in range(mine, n1 - other):
        put_element(work, x + 32 * h, (zero, zero))
    for h in range(other, n1 - mine):
        put_element(work, x + 32 * h + 16, (zero, zero))


@kernel
def build_lone(fourier, o, count, n1, n2, j, even, odd, work, x):
    """Column 0 or ``n₂ / 2``, which is its own mirror image; with ``n₂ = 1`` the whole row."""
    mine, last = _terms(count, j, n2), n1 - 1 if j else n1
    for h in range(mine):
        if j + h == 0:
            put_element(work, x, mean(fourier, o, even, odd))
        else:
            a, b = mirrored(fourier, o + (j + n2 * h) * SPAN, even, odd)
            put_element(work, x + 16 * h, a)
            put_element(work, x + 16 * (last - h), b)
    zero = spread(0.0)
    for h in range(mine, last - mine + 1):
        put_element(work, x + 16 * h, (zero, zero))


@kernel
def _lay_down(work, x, advance, column, n1, n2, table, twist, middle, fourier, ahead):
    """Turn one transformed column and put it into the groups; ask for the next row meanwhile."""
    w = twist + 2 * column * n1
    for g in range(_groups(n1)):
        k = _begin(g, n1)
        o = middle + (g * n2 + column) * BLOCK
        for q in range(GROUP):
            z = element(work, x + (k + q) * advance)
            r = root(table, w + 2 * (k + q))
            put_element(work, o + ELEMENT * q, multiply(z[0], z[1], r[0], r[1]))
            prefetch(fourier, ahead)
            prefetch(fourier, ahead + 8)
            ahead += 16
    return ahead


@kernel
def write_eight(work, z, out, j, north, south, streaming):
    """Eight elements to eight points of the northern (real parts) and southern rows."""
    for part in range(2):
        p0, p1, p2, p3, p4, p5, p6, p7 = south if part else north
        o = z + 8 * part
        r = transpose(
            load(work, o),
            load(work, o + 16),
            load(work, o + 32),
            load(work, o + 48),
            load(work, o + 64),
            load(work, o + 80),
            load(work, o + 96),
            load(work, o + 112),
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


@kernel(inline=True)
def two_radices(radices, i):
    """Radices of the second step, first and last pass; the first is 1 where one pass is enough."""
    first, last = at(radices, i), at(radices, i + 1)
    return (first, last) if last else (1, first)


@kernel
def inverse_first_step(fourier, o, count, ahead, steps, radices, table, even, odd, work, places):
    """Columns of one row of eight lanes from the Fourier buffer at ``o`` to the groups.

    ``ahead`` is the place that is read next; ``steps`` and ``places`` are what ``rows`` cuts out of its
    tables and work space; ``even`` and ``odd`` scale the parts.
    """
    n1, n2, passes, _, start, _, twist = steps
    middle, x, y, _ = places
    for j in range(n2 // 2 + 1):
        lone = j == 0 or 2 * j == n2
        batch = 1 if lone else 2
        if lone:
            build_lone(fourier, o, count, n1, n2, j, even, odd, work, x)
        else:
            _build_pair(fourier, o, count, n1, n2, j, even, odd, work, x)
        z = stockham(work, x, y, n1, batch, radices, passes, table, start)
        ahead = _lay_down(work, z, 16 * batch, j, n1, n2, table, twist, middle, fourier, ahead)
        if not lone:
            ahead = _lay_down(work, z + 16, 32, n2 - j, n1, n2, table, twist, middle, fourier, ahead)


@kernel
def inverse_second_step(steps, radices, table, work, places, row, out, north, south, streaming):
    """Groups to the grid if ``streaming``, else in natural order to ``work[row]``.

    It works in place: the first pass leaves part ``p`` of the results to the slice ``p`` of the last.
    Streamed slices leave while they are in the first-level cache; ordinary stores want whole rows in order,
    because each fetches the line that it writes to.
    """
    n1, n2, _, passes, _, start, _ = steps
    middle, _, _, spare = places
    radix, last = two_radices(radices, passes)
    for g in range(_groups(n1)):
        point, group, part = _begin(g, n1), middle + g * n2 * BLOCK, BLOCK * last
        if radix > 1:
            butterflies(radix, work, group, BLOCK, part, group, BLOCK, part, last, GROUP, table, start, 0, 1, last)
        if not streaming:
            butterflies(
                last,
                work,
                group,
                part,
                BLOCK,
                row + ELEMENT * point,
                ELEMENT * n1,
                ELEMENT * n1 * radix,
                radix,
                GROUP,
                table,
                start,
                0,
                0,
                radix,
            )
            continue
        for p in range(radix):
            butterflies(last, work, group + part * p, 0, BLOCK, spare, 0, BLOCK, 1, GROUP, table, start, 0, 0, radix)
            for k in range(last):
                j, z = point + n1 * (p + radix * k), spare + BLOCK * k
                write_eight(work, z, out, j, north, south, True)
                write_eight(work, z + BLOCK // 2, out, j + 8, north, south, True)


@kernel
def _take_up(work, place, column, n1, n2, table, twist, x, advance):
    """One column out of the groups, turned."""
    w = twist + 2 * column * n1
    for g in range(_groups(n1)):
        k = _begin(g, n1)
        o = place + g * n2 * BLOCK
        for q in range(GROUP):
            z = element(work, o + ELEMENT * q)
            r = root(table, w + 2 * (k + q))
            put_element(work, x + (k + q) * advance, multiply(z[0], z[1], r[0], r[1]))


@kernel(inline=True)
def emit_some(fourier, o, v, active, streaming):
    """Write the active lanes of four vectors; other lanes may be written by another thread."""
    if active == ALL:
        emit4(fourier, o, v, streaming)
    else:
        store_some(fourier, o, v[0], active)
        store_some(fourier, o + 8, v[1], active)
        store_some(fourier, o + 16, v[2], active)
        store_some(fourier, o + 24, v[3], active)


@kernel
def emit_column(work, a, b, advance, j, n2, even, odd, fourier, rows, column, count, active, streaming):
    """Wavenumbers ``j, j + n₂, …`` below ``count`` of a transformed row to the Fourier buffer.

    ``Z_j`` stands at ``work[a]``, further ones ``advance`` after another, their mirror images from ``work[b]``
    backwards; ``Z_0`` is its own.  ``rows[k] + 32 column`` is the place of wavenumber ``k``.
    """
    for h in range(_terms(count, j, n2)):
        k = j + n2 * h
        z = element(work, a + advance * h)
        mirror = element(work, b - advance * h if k else a)
        emit_some(fourier, rows[k] + column * SPAN, parts(z, mirror, even, odd), active, streaming)


@kernel
def direct_long(row, steps, radices, table, even, odd, work, places, fourier, rows, column, count, active, streaming):
    """One row of eight lanes at ``work[row]`` to the wavenumber-major Fourier buffer.

    Bits of ``active`` stand for the lanes that are wanted; see ``emit_column`` and the inverse for the others.
    """
    n1, n2, passes1, passes2, start1, start2, twist = steps
    middle, x, y, _ = places
    radix, last = two_radices(radices, passes2)
    part, line = BLOCK * last, ELEMENT * n1
    for g in range(_groups(n1)):
        group, source = middle + g * n2 * BLOCK, row + ELEMENT * _begin(g, n1)
        if radix == 1:
            butterflies(last, work, source, 0, line, group, 0, BLOCK, 1, GROUP, table, start2, 0, 0, 1)
            continue
        butterflies(radix, work, source, line, line * last, group, BLOCK, part, last, GROUP, table, start2, 0, 1, last)
        butterflies(last, work, group, part, BLOCK, group, part, BLOCK, radix, GROUP, table, start2, 0, 0, radix)
    for j in range(n2 // 2 + 1):
        lone, i = j == 0 or 2 * j == n2, n2 - j
        advance = 16 if lone else 32
        # result k of a group stands where the last pass of its k % radix left it
        place = middle + BLOCK * (j % radix * last + j // radix)
        _take_up(work, place, j, n1, n2, table, twist, x, advance)
        if not lone:
            place = middle + BLOCK * (i % radix * last + i // radix)
            _take_up(work, place, i, n1, n2, table, twist, x + 16, 32)
        z = stockham(work, x, y, n1, advance // 16, radices, passes1, table, start1)
        end = z + advance * (n1 - 1 if j else n1)
        if lone:
            emit_column(work, z, end, advance, j, n2, even, odd, fourier, rows, column, count, active, streaming)
        else:
            emit_column(work, z, end + 16, advance, j, n2, even, odd, fourier, rows, column, count, active, streaming)
            emit_column(work, z + 16, end, advance, i, n2, even, odd, fourier, rows, column, count, active, streaming)
