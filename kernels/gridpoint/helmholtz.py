"""Fourier transforms of rows, the filter near the poles, and the Helmholtz equations of the vertical modes, compiled.

For every mode m:  (1 − Δt² c_m² ∇²) g = rhs, with ∇² the divergence of the gradient on the C grid.  In longitude
it is diagonal in wavenumber space (−(2 sin(sΔλ/2)/(a cosφ Δλ))²), in latitude tridiagonal and diagonally dominant,
so that elimination needs no pivoting.  Rows are eliminated from south to north as they come; then
substitution goes through them backwards.

Sixteen rows of longitude (levels, or modes) are transformed at once: eight in the real, eight in the
imaginary part of eight SIMD lanes.  In wavenumber space, ``spectra[row, s, group]`` has four vectors: real and
imaginary part of modes 0 … 7, then of modes 8 … 15 of the group.

Arguments ``plan``, ``arrays`` and ``j`` as in ``plan``.

``w`` is the address of the window or of the scratch, ``x`` and ``o`` are places in it, and ``pitch`` is the
distance of its rows of ``ni`` longitudes, all in doubles.
"""

from supercomputers_rerun.kernels.fft import stockham
from supercomputers_rerun.kernels.gridpoint.plan import HALO, PAIR, neighbours, record, record_row, window_row, wrap
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, HERE, STRICT, kernel
from supercomputers_rerun.kernels.runtime.vector import (
    LANES,
    address,
    at,
    fma,
    load,
    load_as,
    spread,
    store,
    transpose_block,
    wide,
)

PART = LANES if HERE.lanes >= LANES else LANES // 2  # points of a row whose sums of four modes fit into registers
_WIDTH = (0.0,) * PART


@kernel(fastmath=STRICT)
def _pack(w, o, pitch, ni, x):
    """Sixteen rows from ``o`` on to elements [ni, 2, 8] at ``x``."""
    for part in range(2):
        for i in range(0, ni, LANES):
            transpose_block(w, (o + LANES * part * pitch + i, pitch), w, (x + PAIR * i + LANES * part, PAIR))


@kernel(fastmath=STRICT)
def _unpack(w, x, o, pitch, ni):
    """Elements at ``x``, real and imaginary part exchanged, to sixteen rows from ``o`` on."""
    for part in range(2):
        for i in range(0, ni, LANES):
            transpose_block(w, (x + PAIR * i + LANES * (1 - part), PAIR), w, (o + LANES * part * pitch + i, pitch))


@kernel(inline=True)
def _transform(plan, w, x):
    """Place of the Fourier transform of the elements [ni, 2, 8] at ``x``, which it overwrites."""
    size = plan.size
    waves = plan.waves
    first = size.fourier
    second = size.fourier + PAIR * size.ni
    y = second if x == first else first
    return stockham(w, x, y, size.ni, address(waves.radices), address(waves.roots))


@kernel(fastmath=STRICT)
def _filter(plan, w, o, rows, factor):
    """Multiply ``rows`` rows from ``o`` on, in groups of sixteen, by the factors in wavenumber space at ``factor``."""
    size = plan.size
    ni = size.ni
    for empty in range(
        rows, (rows + PAIR - 1) // PAIR * PAIR
    ):  # rounding of a transform leaves traces in rows without a level
        for point in range(0, ni, LANES):
            store(w, o + empty * size.pitch + point, spread(0.0))
    for group in range(0, rows, PAIR):
        x = size.fourier
        _pack(w, o + group * size.pitch, size.pitch, ni, x)
        x = _transform(plan, w, x)
        for s in range(ni):
            f = spread(at(factor, s))
            re = f * load(w, x + PAIR * s)
            im = f * load(w, x + PAIR * s + LANES)
            store(w, x + PAIR * s, im)  # the transform back has the other sign: parts change places
            store(w, x + PAIR * s + LANES, re)
        _unpack(w, _transform(plan, w, x), o + group * size.pitch, size.pitch, ni)


@kernel(fastmath=STRICT)
def filter_tendencies(plan, arrays, j):
    """Short waves out of N of row ``j`` in the scratch, where the row is near a pole."""
    size = plan.size
    scratch = address(arrays.scratch)
    for field in range(4):
        if plan.rows.filtered[j] & (2 if field == 1 else 1):
            rows = size.levels + 1 if field == 2 else size.levels  # p_s is behind T
            factor = address(plan.waves.filter[1 if field == 1 else 0, j])
            _filter(plan, scratch, field * size.tendency * size.pitch + HALO, rows, factor)


@kernel(fastmath=STRICT)
def _product(matrix, shape, x, y, pitch, ni):
    """Rows of longitude y = matrix · rows x, fused from the first column to the last.

    ``matrix``: address of its numbers, row by row; ``shape``: its rows, a multiple of four, and columns; ``x``, ``y``:
    address and place of the first row each.  Four rows of two vectors of ``PART`` points are eight sums, which stay in
    the registers; the columns of as many points stay in the first-level cache.
    """
    rows, columns = shape
    source, first = x
    target, place = y
    for i in range(0, ni, 2 * PART):
        for m in range(0, rows, 4):
            zero = wide(0.0, load_as(source, first, _WIDTH))
            a = b = c = d = e = f = g = h = zero
            for q in range(columns):
                u = load_as(source, first + q * pitch + i, _WIDTH)
                v = load_as(source, first + q * pitch + i + PART, _WIDTH)
                r = m * columns + q
                p = wide(at(matrix, r), u)
                a = fma(p, u, a)
                b = fma(p, v, b)
                p = wide(at(matrix, r + columns), u)
                c = fma(p, u, c)
                d = fma(p, v, d)
                p = wide(at(matrix, r + 2 * columns), u)
                e = fma(p, u, e)
                f = fma(p, v, f)
                p = wide(at(matrix, r + 3 * columns), u)
                g = fma(p, u, g)
                h = fma(p, v, h)
            o = place + m * pitch + i
            store(target, o, (a, b))
            store(target, o + pitch, (c, d))
            store(target, o + 2 * pitch, (e, f))
            store(target, o + 3 * pitch, (g, h))


@kernel(fastmath=CONTRACT)
def implicit(plan, arrays, j):
    """Divergence of Yᵉ at row ``j`` into its record, and its right-hand sides in wavenumber space."""
    size = plan.size
    rows = plan.rows
    ni = size.ni
    pitch = size.pitch
    w = address(arrays.window)
    scratch = address(arrays.scratch)
    rec = record(arrays, size, j)
    _, north = neighbours(size, j)
    cn = 0.0 if j == size.nj - 1 else rows.north[j] * rows.per_dy[j]
    cs = rows.south[j] * rows.per_dy[j]
    per_dx = rows.per_dx[j]
    for k in range(size.levels):
        y = window_row(size, j, k)
        vn = window_row(size, north, k).v_change
        d = record_row(size, k).D
        wrap(w, y.u_change, ni)
        for i in range(0, ni, LANES):
            div = per_dx * (load(w, y.u_change + i) - load(w, y.u_change + i - 1))
            div = div + (cn * load(w, vn + i) - cs * load(w, y.v_change + i))
            store(w, y.divergence + i, div)
            store(rec, d + i, div)
    base = 4 * size.tendency * pitch + HALO
    shape = PAIR * size.groups, 2 * size.levels + 1
    given = w, window_row(size, j, 0).T_change
    _product(address(plan.waves.forward), shape, given, (scratch, base), pitch, ni)
    x = size.fourier
    hat = address(arrays.spectra[j % size.spectra])
    for group in range(size.groups):
        _pack(scratch, base + PAIR * group * pitch, pitch, ni, x)
        z = _transform(plan, scratch, x)
        half = 0.5 / ni
        for s in range(ni // 2 + 1):
            p = z + PAIR * s
            q = z + PAIR * ((ni - s) % ni)
            pr = load(scratch, p)
            pi = load(scratch, p + LANES)
            qr = load(scratch, q)
            qi = load(scratch, q + LANES)
            h = (s * size.groups + group) * 2 * PAIR
            store(hat, h, half * (pr + qr))
            store(hat, h + LANES, half * (pi - qi))
            store(hat, h + PAIR, half * (pi + qi))
            store(hat, h + 3 * LANES, half * (qr - pr))


@kernel(fastmath=CONTRACT)
def eliminate(plan, arrays, j, low, high):
    """Wavenumbers ``low`` to ``high`` − 1 of row ``j``: x_j = (rhs_j + Δt²c² a_j x_{j−1}) / pivot (``plan.pivots``)."""
    size = plan.size
    waves = plan.waves
    weight = plan.rows.laplace_south[j]
    x = address(arrays.spectra[j % size.spectra])
    before = address(arrays.spectra[max(j - 1, 0) % size.spectra])
    inverse = address(waves.inverse[j])
    speed2 = address(waves.speed2)
    for n in range(low * size.groups, high * size.groups):
        for part in range(2):
            c = weight * load(speed2, PAIR * (n % size.groups) + LANES * part)
            p = load(inverse, PAIR * n + LANES * part)
            o = 2 * PAIR * n + PAIR * part
            store(x, o, (load(x, o) + c * load(before, o)) * p)
            store(x, o + LANES, (load(x, o + LANES) + c * load(before, o + LANES)) * p)


@kernel(fastmath=CONTRACT)
def substitute(plan, arrays, j, low, high):
    """The same, backwards: g_j = x_j + Δt²c² b_j/pivot g_{j+1}; row nj − 1 is done as it is."""
    size = plan.size
    waves = plan.waves
    weight = plan.rows.laplace_north[j]
    x = address(arrays.spectra[j % size.spectra])
    after = address(arrays.spectra[min(j + 1, size.nj - 1) % size.spectra])
    inverse = address(waves.inverse[j])
    speed2 = address(waves.speed2)
    for n in range(low * size.groups, high * size.groups):
        for part in range(2):
            p = load(inverse, PAIR * n + LANES * part)
            c = (weight * load(speed2, PAIR * (n % size.groups) + LANES * part)) * p
            o = 2 * PAIR * n + PAIR * part
            store(x, o, load(x, o) + c * load(after, o))
            store(x, o + LANES, load(x, o + LANES) + c * load(after, o + LANES))


@kernel(fastmath=STRICT)
def restore(plan, arrays, j):
    """G of row ``j`` from its modes in wavenumber space."""
    size = plan.size
    ni = size.ni
    pitch = size.pitch
    scratch = address(arrays.scratch)
    hat = address(arrays.spectra[j % size.spectra])
    g = address(arrays.G)
    x = size.fourier
    for group in range(size.groups):
        for s in range(ni // 2 + 1):
            p = x + PAIR * s
            q = x + PAIR * ((ni - s) % ni)
            h = (s * size.groups + group) * 2 * PAIR
            ar = load(hat, h)
            ai = load(hat, h + LANES)
            br = load(hat, h + PAIR)
            bi = load(hat, h + 3 * LANES)
            if 0 < s < ni // 2:
                store(scratch, q + LANES, ar + bi)
                store(scratch, q, br - ai)
            store(scratch, p + LANES, ar - bi)  # parts exchanged, for the other sign
            store(scratch, p, ai + br)
        z = _transform(plan, scratch, x)
        _unpack(scratch, z, HALO + PAIR * group * pitch, pitch, ni)
    out = j * size.depth + HALO
    shape = size.depth // pitch, PAIR * size.groups
    _product(address(plan.waves.backward), shape, (scratch, HALO), (g, out), pitch, ni)
    for k in range(size.levels):
        wrap(g, out + k * pitch, ni)
