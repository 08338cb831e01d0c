"""Stages of one row of latitude, compiled: complete the step, mass fluxes, tendencies and the explicit step.

A row passes four stages, each one row behind the one before (``helmholtz`` has the last):

=========  ==========================  ==========================================================================
stage      reads                       gives
=========  ==========================  ==========================================================================
complete   record j; G of j−1, j, j+1  X⁰ = P + c, X⁻ = Q + ε c, with c = −Δt ∇G and so on
flow       X⁰ of j−1, j, j+1           p_s u, p_s v cosφ, ṁ, K + Φ, η of the south face, conversion, −Σ D Δσ
tendency   X⁰, X⁻, flow of j−1 … j+1   N, filtered; P = X⁻ + 2Δt N, Q = X⁰ + ε Yᵉ, Yᵉ = 2(X⁻ − X⁰) + 2Δt N
implicit   Yᵉ of j, j+1                D; right-hand sides; elimination from row j−1
=========  ==========================  ==========================================================================

All rows lie in a window; ``plan``, ``arrays`` and ``j`` as in ``plan``.  Every stage is the same compiled
function whatever calls it, works on whole vectors of eight longitudes, and reads nothing that depends on how many rows
are in memory: answers are the same bit for bit.

Momentum is in vector-invariant form with Sadourny's potential-enstrophy stencil (J. Atmos. Sci. 32, 1975), with
U = p̄_s u, V = p̄_s v cosφ, η = (f + ζ)/p̄_s:

    ∂u/∂t = +η̄ V̄/cosφ − [δ_λ(K + Φ) + R T̄ δ_λ ln p_s]/(a cosφ Δλ) − vertical advection
    ∂v/∂t = −η̄ Ū      − [δ_φ(K + Φ) + R T̄ δ_φ ln p_s]/(a Δφ)      − vertical advection

T and q in the advective form of the flux form; the conversion κ T ω/p takes the same T̄ δ ln p_s as the
pressure gradient, hence no spurious source of energy.  Diffusion is δ⁴ of X⁻ in both directions.

N of u, v, T, q lie in the scratch, ``size.tendency`` rows of longitude each; that of p_s is behind that of T.
``w`` is the address of the window and ``scratch`` that of the scratch.
"""

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import EPSILON, KAPPA, P_REF, T_REF, R
from supercomputers_rerun.kernels.gridpoint.plan import HALO, neighbours, record_row, window_row, wrap
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, at, load, spread, store


@kernel(fastmath=CONTRACT, inline=True)
def _surface(plan, arrays, j):
    """p_s of both time levels and its logarithm; ``complete`` leaves the sum of Δσ D in the scratch."""
    size = plan.size
    ni, rate = size.ni, -plan.dt * P_REF
    w, scratch, rec = address(arrays.window), address(arrays.scratch), address(arrays.records[j % size.slots])
    here, r = window_row(size, j, 0), record_row(size, 0)
    for i in range(0, ni, LANES):
        change = rate * load(scratch, i)
        store(w, here.ps + i, load(rec, r.P_ps + i) + change)
        store(w, here.ps_before + i, load(rec, r.Q_ps + i) + EPSILON * change)
    for i in range(ni):
        store(w, here.log_ps + i, np.log(at(w, here.ps + i)))
    wrap(w, here.ps, ni)
    wrap(w, here.ps_before, ni)
    wrap(w, here.log_ps, ni)


@kernel(fastmath=CONTRACT)
def complete(plan, arrays, j):
    """X⁰ and X⁻ of row ``j`` from its record."""
    size, rows, col = plan.size, plan.rows, plan.column
    ni, dt, dx2 = size.ni, plan.dt, rows.dx[j] * rows.dx[j]
    w, g, scratch = address(arrays.window), address(arrays.G), address(arrays.scratch)
    rec = address(arrays.records[j % size.slots])
    south, north = neighbours(size, j)
    ls, ln = rows.laplace_south[j], rows.laplace_north[j]
    cu, cv, ct = -dt * rows.dx[j], -dt * rows.face[j], -dt * (KAPPA * T_REF)
    for i in range(0, ni, LANES):
        store(scratch, i, spread(0.0))
    for k in range(size.levels):
        x, r, o = window_row(size, j, k), record_row(size, k), k * size.pitch + HALO
        gj, gs, gn = o + j * size.depth, o + south * size.depth, o + north * size.depth
        lag, alpha, thick = col.log[k] / col.thickness[k], col.alpha[k], col.thickness[k]
        for i in range(0, ni, LANES):
            here = load(g, gj + i)
            east, west = load(g, gj + i + 1), load(g, gj + i - 1)
            below, above = load(g, gs + i), load(g, gn + i)
            cx = cu * (east - here)
            cy = cv * (here - below)
            lap = dx2 * ((east - here) - (here - west)) + (ln * (above - here) - ls * (here - below))
            div = load(rec, r.D + i) - dt * lap
            total = load(scratch, i)
            heat = ct * (lag * total + alpha * div)
            store(scratch, i, total + thick * div)
            store(w, x.u + i, load(rec, r.P_u + i) + cx)
            store(w, x.v + i, load(rec, r.P_v + i) + cy)
            store(w, x.T + i, load(rec, r.P_T + i) + heat)
            store(w, x.q + i, load(rec, r.P_q + i))
            store(w, x.u_before + i, load(rec, r.Q_u + i) + EPSILON * cx)
            store(w, x.v_before + i, load(rec, r.Q_v + i) + EPSILON * cy)
            store(w, x.T_before + i, load(rec, r.Q_T + i) + EPSILON * heat)
            store(w, x.q_before + i, load(rec, r.Q_q + i))
        for field in range(4):
            wrap(w, x.u + field * size.field, ni)
            wrap(w, x.u_before + field * size.field, ni)
    _surface(plan, arrays, j)


@kernel(fastmath=CONTRACT)
def _polar_vorticity(plan, w, j):
    """η of the southern (``j`` = 0) or northern pole: the same number all around."""
    size, rows = plan.size, plan.rows
    ni, near = size.ni, min(j, size.nj - 1)
    p, ps = 0.0, window_row(size, near, 0).ps
    for i in range(ni):
        p += at(w, ps + i)
    for k in range(size.levels):
        mean, u, eta = 0.0, window_row(size, near, k).u, window_row(size, j, k).eta
        for i in range(ni):
            mean += at(w, u + i)
        value = (rows.f[j] + rows.pole[j] * (mean / ni)) / (p / ni)
        for i in range(-HALO, ni + HALO, LANES):
            store(w, eta + i, spread(value))


@kernel(fastmath=CONTRACT)
def _vorticity(plan, w, j, scratch):
    """η of the south face of row ``j`` at its corners."""
    size, rows = plan.size, plan.rows
    ni = size.ni
    here, south = window_row(size, j, 0).ps, window_row(size, j - 1, 0).ps
    for i in range(0, ni, LANES):
        p = load(w, here + i) + load(w, here + i + 1) + (load(w, south + i) + load(w, south + i + 1))
        store(scratch, i, 4.0 / p)
    cv, cu, c, cs = rows.curl_v[j], rows.curl_u[j], rows.cos[j], rows.cos[j - 1]
    for k in range(size.levels):
        x, s = window_row(size, j, k), window_row(size, j - 1, k)
        for i in range(0, ni, LANES):
            zeta = cv * (load(w, x.v + i + 1) - load(w, x.v + i)) - cu * (c * load(w, x.u + i) - cs * load(w, s.u + i))
            store(w, x.eta + i, (zeta + rows.f[j]) * load(scratch, i))
        wrap(w, x.eta, ni)


@kernel(fastmath=CONTRACT)
def _second_differences(plan, w, j):
    """Second differences of X⁻ in latitude at row ``j``, without flux over the poles."""
    size, rows = plan.size, plan.rows
    south, north = neighbours(size, j)
    for field in range(4):
        v, o = field == 1, field * size.field
        ds = rows.damp_south_v[j] if v else rows.damp_south[j]
        dn = rows.damp_north_v[j] if v else rows.damp_north[j]
        for k in range(size.levels):
            x, out = window_row(size, j, k).u_before + o, window_row(size, j, k).u_bend + o
            s, n = window_row(size, south, k).u_before + o, window_row(size, north, k).u_before + o
            for i in range(0, size.ni, LANES):
                here = load(w, x + i)
                store(w, out + i, dn * (load(w, n + i) - here) - ds * (here - load(w, s + i)))


#: Rows of longitude that ``flow`` keeps in the scratch, a pitch each: p_s where u is, κ/p_s, Σ D Δσ,
#: ½ p_s cosφ of the south face and of the north face, Φ at the half levels.
AT_U, PER_P, SUM, SOUTH, NORTH, HEIGHT = range(6)


@kernel(fastmath=CONTRACT, inline=True)
def _pressures(plan, arrays, j):
    """The rows of pressures that ``flow`` needs, Φ_s, and zeros for the sum."""
    size, rows = plan.size, plan.rows
    ni, pitch = size.ni, size.pitch
    w, scratch, rec = address(arrays.window), address(arrays.scratch), address(arrays.records[j % size.slots])
    south, north = neighbours(size, j)
    ps, pss, psn = window_row(size, j, 0).ps, window_row(size, south, 0).ps, window_row(size, north, 0).ps
    phis, hs, hn = record_row(size, 0).phis, 0.5 * rows.south[j], 0.5 * rows.north[j]
    for i in range(0, ni, LANES):
        here = load(w, ps + i)
        store(scratch, AT_U * pitch + HALO + i, 0.5 * (here + load(w, ps + i + 1)))
        store(scratch, SOUTH * pitch + i, hs * (here + load(w, pss + i)))
        store(scratch, NORTH * pitch + i, hn * (here + load(w, psn + i)))
        store(scratch, PER_P * pitch + i, KAPPA / here)
        store(scratch, SUM * pitch + i, spread(0.0))
        store(scratch, HEIGHT * pitch + i, load(rec, phis + i))
    wrap(scratch, AT_U * pitch + HALO, ni)


@kernel(fastmath=CONTRACT, inline=True)
def _fluxes(plan, w, scratch, j):
    """p_s u, p_s v cosφ, the sums of D Δσ down to each level, the conversion's column part, and −Σ D Δσ."""
    size, col = plan.size, plan.column
    ni, pitch, (_, north) = size.ni, size.pitch, neighbours(size, j)
    dx, dy, per_p, total_at = plan.rows.dx[j], plan.rows.dy[j], PER_P * pitch, SUM * pitch
    for k in range(size.levels):
        x, vn = window_row(size, j, k), window_row(size, north, k).v
        lag, alpha, thick = col.log[k] / col.thickness[k], col.alpha[k], col.thickness[k]
        for i in range(0, ni, LANES):
            flux = load(scratch, AT_U * pitch + HALO + i) * load(w, x.u + i)
            west = load(scratch, AT_U * pitch + HALO - 1 + i) * load(w, x.u + i - 1)
            below = load(scratch, SOUTH * pitch + i) * load(w, x.v + i)
            above = load(scratch, NORTH * pitch + i) * load(w, vn + i)
            div = dx * (flux - west) + dy * (above - below)
            total = load(scratch, total_at + i)
            store(w, x.flux_u + i, flux)
            store(w, x.flux_v + i, below)
            store(w, x.conversion + i, -(load(scratch, per_p + i) * load(w, x.T + i)) * (lag * total + alpha * div))
            total = total + thick * div
            store(scratch, total_at + i, total)
            store(w, x.sinking + i, total)
        wrap(w, x.flux_u, ni)
        wrap(w, x.flux_v, ni)
    rate = window_row(size, j, 0).ps_rate
    for i in range(0, ni, LANES):
        store(w, rate + i, -load(scratch, total_at + i))


@kernel(fastmath=CONTRACT, inline=True)
def _heights(plan, w, scratch, j):
    """ṁ at the half levels and K + Φ, from the ground upwards."""
    size, rows, col = plan.size, plan.rows, plan.column
    ni, (_, north) = size.ni, neighbours(size, j)
    total, phi = SUM * size.pitch, HEIGHT * size.pitch
    qs, qn = 0.25 * rows.south[j] * rows.inverse_cos[j], 0.25 * rows.north[j] * rows.inverse_cos[j]
    for k in range(size.levels - 1, -1, -1):
        x, vn = window_row(size, j, k), window_row(size, north, k).v
        half, ra, rl = col.half[k + 1], R * col.alpha[k], R * col.log[k]
        for i in range(0, ni, LANES):
            store(w, x.sinking + i, half * load(scratch, total + i) - load(w, x.sinking + i))
            here, west, below, above = load(w, x.u + i), load(w, x.u + i - 1), load(w, x.v + i), load(w, vn + i)
            kinetic = 0.25 * (here * here + west * west) + (qs * (below * below) + qn * (above * above))
            temperature, height = load(w, x.T + i), load(scratch, phi + i)
            store(w, x.head + i, kinetic + (height + ra * temperature))
            store(scratch, phi + i, height + rl * temperature)
        wrap(w, x.sinking, ni)
        wrap(w, x.head, ni)


@kernel(fastmath=CONTRACT)
def flow(plan, arrays, j):
    """Mass fluxes, divergence, vertical velocity, K + Φ, η and the conversion's column part of row ``j``."""
    w, scratch = address(arrays.window), address(arrays.scratch)
    _pressures(plan, arrays, j)
    _fluxes(plan, w, scratch, j)
    _heights(plan, w, scratch, j)
    if j > 0:
        _vorticity(plan, w, j, scratch)
    else:
        _polar_vorticity(plan, w, j)
    if j == plan.size.nj - 1:
        _polar_vorticity(plan, w, j + 1)
    _second_differences(plan, w, j)


@kernel(fastmath=CONTRACT, inline=True)
def _fourth(w, x, lh, ls, ln, dn, ds, damp):
    """Diffusion at one vector, the one of X⁻ at ``x``: δ⁴ in longitude, second difference of the second difference in
    latitude.

    ``lh``, ``ls``, ``ln``: places of the second differences here, to the south and to the north; ``ds``, ``dn``: their
    factors; ``damp``: that of the whole.
    """
    here = load(w, x)
    far = load(w, x - 2) + load(w, x + 2)
    near = load(w, x - 1) + load(w, x + 1)
    second = load(w, lh)
    lat = dn * (load(w, ln) - second) - ds * (second - load(w, ls))
    return -damp * ((far - 4.0 * near + 6.0 * here) + lat)


@kernel(inline=True)
def _vertical(size, k):
    """Distances to the levels above and below level ``k`` of ``size.levels``, and 0 where there is none, else 1."""
    top, ground = k == 0, k == size.levels - 1
    return (0 if top else size.pitch), (0 if ground else size.pitch), (0.0 if top else 1.0), (0.0 if ground else 1.0)


@kernel(fastmath=CONTRACT, inline=True)
def _zonal(plan, w, j, scratch):
    """N of u."""
    size, rows, col = plan.size, plan.rows, plan.column
    per_ps = 4 * size.tendency * size.pitch
    south, north = neighbours(size, j)
    ps, log = window_row(size, j, 0).ps, window_row(size, j, 0).log_ps
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / (load(w, ps + i) + load(w, ps + i + 1)))
    half_r, dx, turn = 0.5 * R, rows.dx[j], 0.125 * rows.inverse_cos[j]
    damp, dn, ds = plan.damp, rows.damp_north[j], rows.damp_south[j]
    polar = 0.0 if j == size.nj - 1 else 1.0  # no flux through the pole
    for k in range(size.levels):
        x, s, n = window_row(size, j, k), window_row(size, south, k), window_row(size, north, k)
        en, m, u = window_row(size, j + 1, k).eta, x.sinking, x.u
        up, down, gate, gate_below = _vertical(size, k)
        per, out = 0.5 / col.thickness[k], k * size.pitch + HALO
        for i in range(0, size.ni, LANES):
            eta = load(w, x.eta + i) + load(w, en + i)
            across = load(w, x.flux_v + i) + load(w, x.flux_v + i + 1)
            across = across + polar * (load(w, n.flux_v + i) + load(w, n.flux_v + i + 1))
            warmth = half_r * (load(w, x.T + i) + load(w, x.T + i + 1))
            force = (load(w, x.head + i + 1) - load(w, x.head + i)) + warmth * (load(w, log + i + 1) - load(w, log + i))
            here = load(w, u + i)
            lower, upper = load(w, m + i) + load(w, m + i + 1), load(w, m - up + i) + load(w, m - up + i + 1)
            lift = (gate_below * lower) * (load(w, u + down + i) - here) + (gate * upper) * (here - load(w, u - up + i))
            mix = _fourth(w, x.u_before + i, x.u_bend + i, s.u_bend + i, n.u_bend + i, dn, ds, damp)
            value = turn * (eta * across) - dx * force - (per * load(scratch, per_ps + i)) * lift + mix
            store(scratch, out + i, value)


@kernel(fastmath=CONTRACT, inline=True)
def _meridional(plan, w, j, scratch):
    """N of v; zero on the pole, where v stays zero."""
    size, rows, col = plan.size, plan.rows, plan.column
    per_ps, open_ = 4 * size.tendency * size.pitch, (1.0 if j > 0 else 0.0)
    south, north = neighbours(size, j)
    x, s = window_row(size, j, 0), window_row(size, south, 0)
    ps, pss, log, logs = x.ps, s.ps, x.log_ps, s.log_ps
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / (load(w, ps + i) + load(w, pss + i)))
    half_r, face = 0.5 * R, rows.face[j]
    damp, dn, ds = plan.damp, rows.damp_north_v[j], rows.damp_south_v[j]
    for k in range(size.levels):
        x, s, n = window_row(size, j, k), window_row(size, south, k), window_row(size, north, k)
        v, m, ms = x.v, x.sinking, s.sinking
        up, down, gate, gate_below = _vertical(size, k)
        per, out = 0.5 / col.thickness[k], (size.tendency + k) * size.pitch + HALO
        for i in range(0, size.ni, LANES):
            eta = load(w, x.eta + i) + load(w, x.eta + i - 1)
            along = load(w, x.flux_u + i) + load(w, x.flux_u + i - 1)
            along = along + (load(w, s.flux_u + i) + load(w, s.flux_u + i - 1))
            warmth = half_r * (load(w, x.T + i) + load(w, s.T + i))
            force = (load(w, x.head + i) - load(w, s.head + i)) + warmth * (load(w, log + i) - load(w, logs + i))
            here = load(w, v + i)
            lower, upper = load(w, m + i) + load(w, ms + i), load(w, m - up + i) + load(w, ms - up + i)
            lift = (gate_below * lower) * (load(w, v + down + i) - here) + (gate * upper) * (here - load(w, v - up + i))
            mix = _fourth(w, x.v_before + i, x.v_bend + i, s.v_bend + i, n.v_bend + i, dn, ds, damp)
            value = mix - 0.125 * (eta * along) - face * force - (per * load(scratch, per_ps + i)) * lift
            store(scratch, out + i, open_ * value)


@kernel(fastmath=CONTRACT, inline=True)
def _scalar(plan, w, j, scratch, warm):
    """N of T, which p does work on, if ``warm``; else of q, after T."""
    size, rows, col = plan.size, plan.rows, plan.column
    per_ps, open_north = 4 * size.tendency * size.pitch, (0.0 if j == size.nj - 1 else 1.0)
    south, north = neighbours(size, j)
    log, logs = window_row(size, j, 0).log_ps, window_row(size, south, 0).log_ps
    logn = window_row(size, north, 0).log_ps
    hx, hy, kap = 0.5 * rows.dx[j], 0.5 * rows.dy[j], 0.5 * KAPPA
    damp, dn, ds = plan.damp, rows.damp_north[j], rows.damp_south[j]
    f = 0 if warm else size.field  # from T to q
    first = (2 if warm else 3) * size.tendency * size.pitch + HALO
    for k in range(size.levels):
        x, s, n = window_row(size, j, k), window_row(size, south, k), window_row(size, north, k)
        here_at, m, bend, out = x.T + f, x.sinking, x.T_bend + f, first + k * size.pitch
        up, down, gate, gate_below = _vertical(size, k)
        per = 0.5 / col.thickness[k]
        for i in range(0, size.ni, LANES):
            here, east, west = load(w, here_at + i), load(w, here_at + i + 1), load(w, here_at + i - 1)
            so, no = load(w, s.T + f + i), load(w, n.T + f + i)
            fe, fw = hx * load(w, x.flux_u + i), hx * load(w, x.flux_u + i - 1)
            fs, fn = hy * load(w, x.flux_v + i), (open_north * hy) * load(w, n.flux_v + i)
            lift = (gate_below * load(w, m + i)) * (load(w, here_at + down + i) - here)
            lift = lift + (gate * load(w, m - up + i)) * (here - load(w, here_at - up + i))
            moved = (fe * (east - here) + fw * (here - west)) + (fn * (no - here) + fs * (here - so))
            moved = moved + per * lift
            mix = _fourth(w, x.T_before + f + i, bend + i, s.T_bend + f + i, n.T_bend + f + i, dn, ds, damp)
            if warm:
                middle = load(w, log + i)
                to_east, to_west = load(w, log + i + 1) - middle, middle - load(w, log + i - 1)
                to_north, to_south = load(w, logn + i) - middle, middle - load(w, logs + i)
                work = fe * ((here + east) * to_east) + fw * ((here + west) * to_west)
                work = work + (fn * ((here + no) * to_north) + fs * ((here + so) * to_south))
                change = load(scratch, per_ps + i) * (kap * work - moved) + load(w, x.conversion + i)
                store(scratch, out + i, change + mix)
            else:
                store(scratch, out + i, mix - load(scratch, per_ps + i) * moved)


@kernel(fastmath=CONTRACT)
def tendency(plan, arrays, j):
    """N of row ``j`` before the filter, into the scratch."""
    size, w, scratch = plan.size, address(arrays.window), address(arrays.scratch)
    _zonal(plan, w, j, scratch)
    _meridional(plan, w, j, scratch)
    here, per_ps = window_row(size, j, 0), 4 * size.tendency * size.pitch
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps + i, 1.0 / load(w, here.ps + i))
        store(scratch, (2 * size.tendency + size.levels) * size.pitch + HALO + i, load(w, here.ps_rate + i))
    _scalar(plan, w, j, scratch, True)
    _scalar(plan, w, j, scratch, False)


@kernel(fastmath=CONTRACT, inline=True)
def _march(w, rec, n, step, eps, places):
    """P, Q and Yᵉ at one vector, of its N ``n``, over the time ``step``; ``eps`` is the filter's factor ε.

    ``places`` of X⁰, X⁻, Yᵉ in the window ``w`` and P, Q in the record ``rec``.
    """
    now, before = load(w, places[0]), load(w, places[1])
    new = before + step * n
    explicit = (new - now) + (before - now)
    store(rec, places[3], new)
    store(rec, places[4], now + eps * explicit)
    store(w, places[2], explicit)


@kernel(fastmath=CONTRACT)
def advance(plan, arrays, j, first):
    """From N of row ``j``, filtered, P and Q into its record, Yᵉ into the window; ``first`` is Euler's step."""
    size = plan.size
    ni, levels, pitch, fld = size.ni, size.levels, size.pitch, size.levels * size.ni
    w, scratch = address(arrays.window), address(arrays.scratch)
    rec = address(arrays.records[j % size.slots])
    step, eps = (plan.dt, 0.0) if first else (2.0 * plan.dt, EPSILON)
    for field in range(4):
        f = field * size.field
        for k in range(levels):
            n = (field * size.tendency + k) * pitch + HALO
            x, r = window_row(size, j, k), record_row(size, k)
            for i in range(0, ni, LANES):  # Yᵉ of q is overwritten by the divergence
                places = x.u + f + i, x.u_before + f + i, x.u_change + f + i, r.P_u + field * fld + i
                _march(w, rec, load(scratch, n + i), step, eps, (*places, r.Q_u + field * fld + i))
    n, x, r = (2 * size.tendency + levels) * pitch + HALO, window_row(size, j, 0), record_row(size, 0)
    for i in range(0, ni, LANES):
        places = x.ps + i, x.ps_before + i, x.ps_change + i, r.P_ps + i, r.Q_ps + i
        _march(w, rec, load(scratch, n + i), step, eps, places)
