"""Tendencies of one row, compiled: momentum, temperature, tracer, surface pressure, diffusion; then the step.

Momentum in vector-invariant form with Sadourny's potential-enstrophy stencil (J. Atmos. Sci. 32, 1975), with
U = p̄_s u, V = p̄_s v cosφ, η = (f + ζ)/p̄_s:

    ∂u/∂t = +η̄ V̄/cosφ − [δ_λ(K + Φ) + R T̄ δ_λ ln p_s]/(a cosφ Δλ) − vertical advection
    ∂v/∂t = −η̄ Ū      − [δ_φ(K + Φ) + R T̄ δ_φ ln p_s]/(a Δφ)      − vertical advection

T and q in the advective form of the flux form; the conversion κ T ω/p takes the same T̄ δ ln p_s as the
pressure gradient, hence no spurious source of energy.  Diffusion is δ⁴ of X⁻ in both directions.

``plan`` is the ``plan.Plan`` of the run, ``room`` its ``rows.Room``; ``t`` is the number of the thread, ``j`` that of
a row from south to north.
"""

from kernels.gridpoint.helmholtz import filter_rows
from kernels.gridpoint.plan import (
    DAMP,
    DT,
    EPS,
    ET,
    FU,
    FV,
    HALO,
    KAP,
    LN,
    LU,
    MD,
    PH,
    PM,
    PS,
    PT,
    Q0,
    R_GAS,
    T0,
    U0,
    UM,
    V0,
    WT,
    YP,
    YU,
)
from kernels.gridpoint.record import HEADER
from kernels.gridpoint.rows import place, place_row
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.vector import LANES, address, load, store


@kernel(inline=True)
def _fourth(w, x, lh, ls, ln, dn, ds, damp):
    """Diffusion at one vector: δ⁴ in longitude, second difference of the second difference in latitude."""
    here = load(w, x)
    far = load(w, x - 2) + load(w, x + 2)
    near = load(w, x - 1) + load(w, x + 1)
    second = load(w, lh)
    lat = dn * (load(w, ln) - second) - ds * (second - load(w, ls))
    return -damp * ((far - 4.0 * near + 6.0 * here) + lat)


@kernel(fastmath=CONTRACT, inline=True)
def _zonal(plan, w, j, scratch):
    """N of u into the first field of ``scratch``."""
    size, rows, col = plan.size, plan.rows, plan.column
    pitch, last, per_ps = size.pitch, size.levels - 1, 4 * size.tendency * size.pitch
    north, south = min(j + 1, size.nj - 1), max(j - 1, 0)
    ps, log = place_row(size, j, PS), place_row(size, j, LN)
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / (load(w, ps + i) + load(w, ps + i + 1)))
    half_r, dx, turn = 0.5 * plan.scale[R_GAS], rows.dx[j], 0.125 * rows.inverse_cos[j]
    damp, dn, ds = plan.scale[DAMP], rows.damp_north[j], rows.damp_south[j]
    polar = 0.0 if j == size.nj - 1 else 1.0  # no flux through the pole
    for k in range(size.levels):
        o = k * pitch
        up, down = (pitch if k > 0 else 0), (pitch if k < last else 0)
        u, um, tt = place(size, j, U0) + o, place(size, j, UM) + o, place(size, j, T0) + o
        b, m = place(size, j, PH) + o, place(size, j, MD) + o
        e, en = place(size, j, ET) + o, place(size, j + 1, ET) + o
        fv, fvn = place(size, j, FV) + o, place(size, north, FV) + o
        lu, lus, lun = place(size, j, LU) + o, place(size, south, LU) + o, place(size, north, LU) + o
        per, gate, gate_below = col.half_per[k], (1.0 if k > 0 else 0.0), (1.0 if k < last else 0.0)
        for i in range(0, size.ni, LANES):
            eta = load(w, e + i) + load(w, en + i)
            across = (load(w, fv + i) + load(w, fv + i + 1)) + polar * (load(w, fvn + i) + load(w, fvn + i + 1))
            warmth = half_r * (load(w, tt + i) + load(w, tt + i + 1))
            force = (load(w, b + i + 1) - load(w, b + i)) + warmth * (load(w, log + i + 1) - load(w, log + i))
            here = load(w, u + i)
            lower, upper = load(w, m + i) + load(w, m + i + 1), load(w, m - up + i) + load(w, m - up + i + 1)
            lift = (gate_below * lower) * (load(w, u + down + i) - here) + (gate * upper) * (here - load(w, u - up + i))
            mix = _fourth(w, um + i, lu + i, lus + i, lun + i, dn, ds, damp)
            value = turn * (eta * across) - dx * force - (per * load(scratch, per_ps + i)) * lift + mix
            store(scratch, o + HALO + i, value)


@kernel(fastmath=CONTRACT, inline=True)
def _meridional(plan, w, j, scratch):
    """N of v into the second field of ``scratch``; zero on the pole, where v stays zero."""
    size, rows, col = plan.size, plan.rows, plan.column
    pitch, last, per_ps = size.pitch, size.levels - 1, 4 * size.tendency * size.pitch
    north, south, open_ = min(j + 1, size.nj - 1), max(j - 1, 0), (1.0 if j > 0 else 0.0)
    ps, pss = place_row(size, j, PS), place_row(size, south, PS)
    log, logs = place_row(size, j, LN), place_row(size, south, LN)
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / (load(w, ps + i) + load(w, pss + i)))
    half_r, face = 0.5 * plan.scale[R_GAS], rows.face[j]
    damp, dn, ds = plan.scale[DAMP], rows.damp_north_v[j], rows.damp_south_v[j]
    for k in range(size.levels):
        o = k * pitch
        up, down = (pitch if k > 0 else 0), (pitch if k < last else 0)
        v, vm, e = place(size, j, V0) + o, place(size, j, UM + 1) + o, place(size, j, ET) + o
        tt, ts = place(size, j, T0) + o, place(size, south, T0) + o
        b, bs = place(size, j, PH) + o, place(size, south, PH) + o
        m, ms = place(size, j, MD) + o, place(size, south, MD) + o
        fu, fus = place(size, j, FU) + o, place(size, south, FU) + o
        lv, lvs, lvn = place(size, j, LU + 1) + o, place(size, south, LU + 1) + o, place(size, north, LU + 1) + o
        per, gate, gate_below = col.half_per[k], (1.0 if k > 0 else 0.0), (1.0 if k < last else 0.0)
        for i in range(0, size.ni, LANES):
            eta = load(w, e + i) + load(w, e + i - 1)
            along = (load(w, fu + i) + load(w, fu + i - 1)) + (load(w, fus + i) + load(w, fus + i - 1))
            warmth = half_r * (load(w, tt + i) + load(w, ts + i))
            force = (load(w, b + i) - load(w, bs + i)) + warmth * (load(w, log + i) - load(w, logs + i))
            here = load(w, v + i)
            lower, upper = load(w, m + i) + load(w, ms + i), load(w, m - up + i) + load(w, ms - up + i)
            lift = (gate_below * lower) * (load(w, v + down + i) - here) + (gate * upper) * (here - load(w, v - up + i))
            mix = _fourth(w, vm + i, lv + i, lvs + i, lvn + i, dn, ds, damp)
            value = mix - 0.125 * (eta * along) - face * force - (per * load(scratch, per_ps + i)) * lift
            store(scratch, size.tendency * pitch + o + HALO + i, open_ * value)


@kernel(fastmath=CONTRACT, inline=True)
def _stencil(plan, j, k, field):
    """Places of a field of T or q at level ``k`` of row ``j`` and around it, and of the fluxes that move it."""
    size = plan.size
    o, south, north = k * size.pitch, max(j - 1, 0), min(j + 1, size.nj - 1)
    up, down = (size.pitch if k > 0 else 0), (size.pitch if k < size.levels - 1 else 0)
    here = place(size, j, field) + o
    fu, m = place(size, j, FU) + o, place(size, j, MD) + o
    fv, fvn = place(size, j, FV) + o, place(size, north, FV) + o
    return (here, place(size, south, field) + o, place(size, north, field) + o), (fu, fv, fvn, m), (up, down)


@kernel(fastmath=CONTRACT, inline=True)
def _moved(w, i, stencil, factors):
    """p_s times the advection of one vector; the vector and its neighbours; the fluxes to them."""
    (at, at_south, at_north), (fu, fv, fvn, m), (up, down) = stencil
    hx, hy, open_north, gate, gate_below, per = factors
    here, east, west = load(w, at + i), load(w, at + i + 1), load(w, at + i - 1)
    so, no = load(w, at_south + i), load(w, at_north + i)
    fe, fw = hx * load(w, fu + i), hx * load(w, fu + i - 1)
    fs, fn = hy * load(w, fv + i), (open_north * hy) * load(w, fvn + i)
    lower, upper = gate_below * load(w, m + i), gate * load(w, m - up + i)
    lift = lower * (load(w, at + down + i) - here) + upper * (here - load(w, at - up + i))
    moved = (fe * (east - here) + fw * (here - west)) + (fn * (no - here) + fs * (here - so)) + per * lift
    return moved, (here, east, west, so, no), (fe, fw, fs, fn)


@kernel(fastmath=CONTRACT, inline=True)
def _temperature(plan, w, j, scratch):
    """N of T into the third field of ``scratch``, that of p_s behind it; 1/p_s for ``_tracer``."""
    size, rows, col = plan.size, plan.rows, plan.column
    pitch, last, per_ps = size.pitch, size.levels - 1, 4 * size.tendency * size.pitch
    north, south, open_north = min(j + 1, size.nj - 1), max(j - 1, 0), (0.0 if j == size.nj - 1 else 1.0)
    log, logs, logn = place_row(size, j, LN), place_row(size, south, LN), place_row(size, north, LN)
    hx, hy, kap = 0.5 * rows.dx[j], 0.5 * rows.dy[j], 0.5 * plan.scale[KAP]
    damp, dn, ds = plan.scale[DAMP], rows.damp_north[j], rows.damp_south[j]
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / load(w, place_row(size, j, PS) + i))
        store(scratch, (2 * size.tendency + size.levels) * pitch + HALO + i, load(w, place_row(size, j, PT) + i))
    for k in range(size.levels):
        o = k * pitch
        stencil = _stencil(plan, j, k, T0)
        wt, x = place(size, j, WT) + o, place(size, j, UM + 2) + o
        lh, ls, ln = place(size, j, LU + 2) + o, place(size, south, LU + 2) + o, place(size, north, LU + 2) + o
        gate, gate_below = (1.0 if k > 0 else 0.0), (1.0 if k < last else 0.0)
        factors = (hx, hy, open_north, gate, gate_below, col.half_per[k])
        out = 2 * size.tendency * pitch + o + HALO
        for i in range(0, size.ni, LANES):
            moved, (here, east, west, so, no), (fe, fw, fs, fn) = _moved(w, i, stencil, factors)
            middle = load(w, log + i)
            to_east, to_west = load(w, log + i + 1) - middle, middle - load(w, log + i - 1)
            to_north, to_south = load(w, logn + i) - middle, middle - load(w, logs + i)
            work = fe * ((here + east) * to_east) + fw * ((here + west) * to_west)
            work = work + (fn * ((here + no) * to_north) + fs * ((here + so) * to_south))
            mix = _fourth(w, x + i, lh + i, ls + i, ln + i, dn, ds, damp)
            store(scratch, out + i, load(scratch, per_ps + i) * (kap * work - moved) + load(w, wt + i) + mix)


@kernel(fastmath=CONTRACT, inline=True)
def _tracer(plan, w, j, scratch):
    """N of q into the last field of ``scratch``, after ``_temperature``."""
    size, rows, col = plan.size, plan.rows, plan.column
    pitch, last, per_ps = size.pitch, size.levels - 1, 4 * size.tendency * size.pitch
    north, south, open_north = min(j + 1, size.nj - 1), max(j - 1, 0), (0.0 if j == size.nj - 1 else 1.0)
    hx, hy, damp = 0.5 * rows.dx[j], 0.5 * rows.dy[j], plan.scale[DAMP]
    dn, ds = rows.damp_north[j], rows.damp_south[j]
    for k in range(size.levels):
        o = k * pitch
        stencil, x = _stencil(plan, j, k, Q0), place(size, j, UM + 3) + o
        lh, ls, ln = place(size, j, LU + 3) + o, place(size, south, LU + 3) + o, place(size, north, LU + 3) + o
        gate, gate_below = (1.0 if k > 0 else 0.0), (1.0 if k < last else 0.0)
        factors = (hx, hy, open_north, gate, gate_below, col.half_per[k])
        out = 3 * size.tendency * pitch + o + HALO
        for i in range(0, size.ni, LANES):
            moved, _, _ = _moved(w, i, stencil, factors)
            mix = _fourth(w, x + i, lh + i, ls + i, ln + i, dn, ds, damp)
            store(scratch, out + i, mix - load(scratch, per_ps + i) * moved)


@kernel(fastmath=CONTRACT)
def tendency(plan, room, j, t):
    """N of row ``j`` before the filter, into the thread's scratch."""
    w, scratch = address(room.window), address(room.scratch[t])
    _zonal(plan, w, j, scratch)
    _meridional(plan, w, j, scratch)
    _temperature(plan, w, j, scratch)
    _tracer(plan, w, j, scratch)


@kernel(fastmath=CONTRACT)
def advance(plan, room, j, t, first):
    """Filter N of row ``j``; write P and Q into its record, Yᵉ into the window; ``first`` is Euler's step."""
    size = plan.size
    ni, levels, pitch = size.ni, size.levels, size.pitch
    w, scratch = address(room.window), address(room.scratch[t])
    rec = address(room.records[j % size.slots])
    for field in range(4):
        if plan.rows.filtered[j] & (2 if field == 1 else 1):
            rows = levels + 1 if field == 2 else levels
            filter_rows(plan, scratch, field * size.tendency * pitch + HALO, rows, 1 if field == 1 else 0, j)
    fld, dt, eps = levels * ni, plan.scale[DT], plan.scale[EPS]
    step = 2.0 * dt
    if first:
        step, eps = dt, 0.0
    for field in range(4):
        for k in range(levels):
            n = (field * size.tendency + k) * pitch + HALO
            a, b = HEADER + field * fld + k * ni, size.half + field * fld + k * ni
            x0, xm = place(size, j, U0 + field) + k * pitch, place(size, j, UM + field) + k * pitch
            y = place(size, j, YU + field) + k * pitch  # that of q is overwritten by the divergence
            for i in range(0, ni, LANES):
                now, before = load(w, x0 + i), load(w, xm + i)
                new = before + step * load(scratch, n + i)
                explicit = (new - now) + (before - now)
                store(rec, a + i, new)
                store(rec, b + i, now + eps * explicit)
                store(w, y + i, explicit)
    n, ps, pm, yp = (
        (2 * size.tendency + levels) * pitch + HALO,
        place_row(size, j, PS),
        place_row(size, j, PM),
        place_row(size, j, YP),
    )
    a, b = HEADER + 6 * fld, size.half + 6 * fld
    for i in range(0, ni, LANES):
        now, before = load(w, ps + i), load(w, pm + i)
        new = before + step * load(scratch, n + i)
        explicit = (new - now) + (before - now)
        store(rec, a + i, new)
        store(rec, b + i, now + eps * explicit)
        store(w, yp + i, explicit)
