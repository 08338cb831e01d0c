"""Stages of one row of latitude, compiled: complete the step, mass fluxes, tendencies and the explicit step.

Leapfrog with semi-implicit gravity waves: a time step of Δt (s) goes on from X⁻, the state of the step before after the
time filter, and X⁰, the present one.  X is the wind u to the east and v to the north (m/s), temperature T (K), humidity
q (kg/kg) and surface pressure p_s (Pa).  X⁰ and X⁻ of the next step are known only when the Helmholtz equations of this
one have been solved for all rows; what is known of them before, P and Q, is what the record of a row keeps: P lacks the
correction c, and Q lacks ε c.  A row passes four stages, each one row behind the one before.  (The third ends with
``advance``, then with physics ``physics.radiation``, on its steps, and ``physics.columns``; the fourth is in
``helmholtz``.)

=========  ==========================  ==========================================================================
stage      reads                       gives
=========  ==========================  ==========================================================================
complete   record j; G of j−1, j, j+1  X⁰ = P + c, X⁻ = Q + ε c, with c = −Δt ∇G and so on
flow       X⁰, X⁻ of j−1, j, j+1;      p_s u, p_s v cosφ, ṁ, K + Φ, η of the south face, column part of κ T ω/p,
           Φ_s of j from its record    −Σ M Δσ; second differences of X⁻ in latitude
tendency   X⁰, flow of j−1, j, j+1;    N, before ``helmholtz.filter_tendencies``
           X⁻ of j
  advance  N filtered; X⁰, X⁻ of j     P = X⁻ + 2Δt N, Q = X⁰ + ε Yᵉ, Yᵉ = 2(X⁻ − X⁰) + 2Δt N
implicit   Yᵉ of j, j+1                D of the record; right-hand sides of the Helmholtz equations
=========  ==========================  ==========================================================================

N is ∂X/∂t by all terms of the dynamics at X⁰, with diffusion of X⁻ (p_s has none); beyond 60° the filter multiplies
wavenumber s of it by min(1, cosφ/(cos 60° sin(sΔλ/2))).  P is X after an explicit leapfrog over 2Δt.  The right-hand
sides of the Helmholtz equations are made of Yᵉ = P − 2X⁰ + X⁻.  ε is the factor of the time filter, ``EPSILON``, 0.05,
and D of the record the divergence of the wind of Yᵉ (1/s).  What ``physics.columns`` changes it adds to P, ε times that
to Q, and to Yᵉ of u, v and T.  The first step is Euler's over Δt, not filtered and explicit: ε is 0 in it, and it
solves no Helmholtz equations, so that c is 0 when the next step completes its rows.  G (m²/s²) is the potential from
the Helmholtz equations of the step before, with the matrix B of the gravity waves about an isothermal state at rest::

    (1 − Δt² B ∇²) G = γT + R T_REF p_s/P_REF − Δt B D,    of Yᵉ;    B D = γτD + R T_REF Σ D Δσ

    γT = Φ − Φ_s of T,    τD = κ T_REF (ln r/Δσ Σ' D Δσ + α D)

Σ goes over all levels, Σ' over those above; T_REF and P_REF are reference values, 300 K and 10⁵ Pa.  With
D′ = D − Δt ∇²G, D being that of the record, c is −Δt ∇G for u and v, −Δt τD′ for T, −Δt P_REF Σ D′ Δσ for p_s and 0
for q.

Symbols, in SI units::

    φ, λ, a     latitude and longitude in radians, Δφ and Δλ apart; the Earth's radius
    σ, Δσ       p/p_s, 0 at the top and 1 at the ground; its difference across a level.  Half levels bound the levels
    V, K        the wind as a vector; its kinetic energy, m²/s²
    Φ, Φ_s      geopotential, and that of the ground, m²/s²
    r, α        σ below over σ above a level; 1 − σ above/Δσ · ln r.  Upwards from Φ_s, Φ grows by R T ln r across a
                level, by α R T from the half level below to the level itself.  At the top ln r is set to 0, α to ln 2
    M           ∇·(p_s V), Pa/s; −Σ M Δσ is ∂p_s/∂t
    ṁ           p_s dσ/dt, Pa/s: mass flux downwards through a half level, times g
    η           (f + ζ)/p̄_s, 1/(s Pa), with f = 2Ω sinφ, Ω of the rotating Earth (1/s), and the vorticity ζ of the wind
    ω, R, κ     dp/dt; gas constant of air; R/c_p

A bar is a mean of the neighbouring points around the place, δ_λ and δ_φ are differences of two neighbours.  Momentum is
in vector-invariant form with Sadourny's potential-enstrophy stencil (J. Atmos. Sci. 32, 1975), with the mass fluxes
U = p̄_s u and W = p̄_s v cosφ::

    ∂u/∂t = +η̄ W̄/cosφ − [δ_λ(K + Φ) + R T̄ δ_λ ln p_s]/(a cosφ Δλ) − vertical advection
    ∂v/∂t = −η̄ Ū      − [δ_φ(K + Φ) + R T̄ δ_φ ln p_s]/(a Δφ)      − vertical advection

For X = T and q, by the same fluxes as p_s::

    ∂X/∂t = −[∇·(p_s V X) − X M]/p_s − vertical advection,    and for T + κ T ω/p

Vertical advection is ½ [ṁ (X below − X) at the half level below + ṁ (X − X above) at that above]/(Δσ p̄_s).  The
conversion κ T ω/p takes the same T̄ δ ln p_s as the pressure gradient, hence no spurious source of energy.  Diffusion,
which all but p_s have besides, is −``plan.damp`` · δ⁴ of X⁻ in both directions, at a rate of 1/(16 · 3 h): the shortest
wave in longitude falls by e in three hours.

What makes it fast: a row goes through all stages while it and its neighbours lie in the window, five rows (``plan``
draws them), which stay in the cache where it is large enough (``scan`` has sizes), so that a record, in memory or in a
work file, is read once and written once a step (output, ``writeup``, and copies for threads, ``scan``, aside).  Loops
over longitude load vectors of eight, read beyond the ends of a row, where ``wrap`` has put copies of the other end, and
have no branch at top, ground and poles: what is not there is multiplied by zero.  What each of these gains has no
number; ``book/peers.md``, *Whole forecasts*, has days of a forecast beside another program's.

The C grid, north up and east to the right::

    v_i    η_i              south face of row j + 1, the north face of row j
    T_i    u_i    T_i+1     row j; q, p_s, Φ, ṁ lie where T does
    v_i    η_i              south face of row j

Every stage is the same compiled function whatever calls it.  How many rows are in memory decides where a record lies
and no number of the arithmetic: a run with more or fewer of them there gives the same answers bit for bit.

``plan``, ``arrays``, ``j`` and ``k`` are as in the module :mod:`.plan`; ``arrays`` belongs to the forecast
(``model.Model``), window and scratch in it to one thread.  All is float64; fields are [level][longitude], and ni is a
multiple of 16::

    window    row j at (j mod ``ring``) · ``row``: fields in the order of ``WindowRow``, u, v, T, q one behind the other
              (X⁰; second differences; fluxes, ṁ, K + Φ, η, column part of κ T ω/p; X⁻, then Yᵉ in its place), then
              rows of longitude; a level has ``pitch`` = ni + 16 numbers, ``HALO`` = 8 of them on either side
    record    row j at slot j mod ``slots``, in work files the same words; no ``HALO``
              half A: 64 unused words; P of u, v, T, q; D; heating; rows of longitude: P of p_s; Φ_s; ground temperature
              half B: Q of u, v, T, q; cloud water; ω; rows of longitude: Q of p_s; rain; wetness
    G         row j at j · ``depth``, levels as in the window

Where a function says nothing else, ``x``, ``s`` and ``n`` say where the fields of row ``j``, of the one to the south
and of the one to the north lie in the window (``WindowRow``), ``r`` where they lie in the record (``RecordRow``); ``i``
is a longitude.  ``w`` is the address of the window, ``rec`` that of the record and ``scratch`` that of the scratch,
which is divided into lines of ``size.pitch`` numbers.  Each stage overwrites what the one before left in the scratch;
with t = ``size.tendency``::

    complete    line 0         from place 0 on: Σ D′ Δσ of the levels done, in the end of all
    flow        lines 0 … 5    ``AT_U`` from place HALO on, ``PER_P`` … ``HEIGHT`` from place 0; at last line 0 has
                               1/p̄_s at the corners, from place 0 on
    tendency    lines 0 …      N of u, a line a level, from place HALO on
                      t …      N of v
                      2t …     N of T; behind its lowest level N of p_s
                      3t …     N of q
                      4t       from place 0 on: 1/(2 p̄_s) where u, then v is; 1/p_s for T and q
"""

from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import EPSILON, KAPPA, P_REF, T_REF, R
from supercomputers_rerun.kernels.gridpoint.plan import HALO, neighbours, record, record_row, window_row, wrap
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, at, load, spread, store


@kernel(fastmath=CONTRACT, inline=True)
def _surface(plan, arrays, j):
    """p_s of X⁰ and X⁻, and ln p_s of X⁰; ``complete`` leaves Σ D′ Δσ in the scratch."""
    size = plan.size
    ni = size.ni
    rate = -plan.dt * P_REF
    w = address(arrays.window)
    scratch = address(arrays.scratch)
    rec = record(arrays, size, j)
    here = window_row(size, j, 0)
    r = record_row(size, 0)
    for i in range(0, ni, LANES):
        change = rate * load(scratch, i)
        store(w, here.ps + i, load(rec, r.P_ps + i) + change)
        store(w, here.ps_before + i, load(rec, r.Q_ps + i) + EPSILON * change)
    for i in range(ni):  # one by one: ``vector`` has no logarithm
        store(w, here.log_ps + i, np.log(at(w, here.ps + i)))
    wrap(w, here.ps, ni)
    wrap(w, here.ps_before, ni)
    wrap(w, here.log_ps, ni)


@kernel(fastmath=CONTRACT)
def complete(plan, arrays, j):
    """X⁰ and X⁻ of row ``j`` from its record."""
    size = plan.size
    rows = plan.rows
    col = plan.column
    ni = size.ni
    dt = plan.dt
    per_dx2 = rows.per_dx[j] * rows.per_dx[j]
    w = address(arrays.window)
    g = address(arrays.G)
    scratch = address(arrays.scratch)
    rec = record(arrays, size, j)
    south, north = neighbours(size, j)
    weight_south = rows.laplace_south[j]
    weight_north = rows.laplace_north[j]
    factor_u = -dt * rows.per_dx[j]
    factor_v = -dt * rows.per_dy_face[j]
    factor_T = -dt * (KAPPA * T_REF)
    for i in range(0, ni, LANES):
        store(scratch, i, spread(0.0))
    for k in range(size.levels):
        x = window_row(size, j, k)
        r = record_row(size, k)
        level = k * size.pitch + HALO
        at_here = level + j * size.depth
        at_south = level + south * size.depth
        at_north = level + north * size.depth
        log_per_layer = col.log[k] / col.thickness[k]  # ln(σ below/σ above)/Δσ of the level
        alpha = col.alpha[k]
        thickness = col.thickness[k]
        for i in range(0, ni, LANES):
            here = load(g, at_here + i)
            east = load(g, at_here + i + 1)
            west = load(g, at_here + i - 1)
            southern = load(g, at_south + i)
            northern = load(g, at_north + i)
            change_u = factor_u * (east - here)
            change_v = factor_v * (here - southern)
            in_latitude = weight_north * (northern - here) - weight_south * (here - southern)
            laplace = per_dx2 * ((east - here) - (here - west)) + in_latitude
            divergence = load(rec, r.D + i) - dt * laplace
            total = load(scratch, i)
            change_T = factor_T * (log_per_layer * total + alpha * divergence)
            store(scratch, i, total + thickness * divergence)
            store(w, x.u + i, load(rec, r.P_u + i) + change_u)
            store(w, x.v + i, load(rec, r.P_v + i) + change_v)
            store(w, x.T + i, load(rec, r.P_T + i) + change_T)
            store(w, x.q + i, load(rec, r.P_q + i))
            store(w, x.u_before + i, load(rec, r.Q_u + i) + EPSILON * change_u)
            store(w, x.v_before + i, load(rec, r.Q_v + i) + EPSILON * change_v)
            store(w, x.T_before + i, load(rec, r.Q_T + i) + EPSILON * change_T)
            store(w, x.q_before + i, load(rec, r.Q_q + i))
        for field in range(4):
            wrap(w, x.u + field * size.field, ni)
            wrap(w, x.u_before + field * size.field, ni)
    _surface(plan, arrays, j)


@kernel(fastmath=CONTRACT)
def _polar_vorticity(plan, w, j):
    """η of the southern (``j`` = 0) or northern (``j`` = nj) pole, from the row beside it: one number a level.

    Row nj of the window has this field alone: the place of the northern pole's face, in a row that the grid lacks.
    """
    size = plan.size
    rows = plan.rows
    ni = size.ni
    near = min(j, size.nj - 1)
    sum_ps = 0.0
    ps = window_row(size, near, 0).ps
    for i in range(ni):
        sum_ps += at(w, ps + i)
    for k in range(size.levels):
        sum_u = 0.0
        u = window_row(size, near, k).u
        eta = window_row(size, j, k).eta
        for i in range(ni):
            sum_u += at(w, u + i)
        value = (rows.f[j] + rows.pole[j] * (sum_u / ni)) / (sum_ps / ni)
        for i in range(-HALO, ni + HALO, LANES):
            store(w, eta + i, spread(value))


@kernel(fastmath=CONTRACT)
def _vorticity(plan, w, j, scratch):
    """η of the south face of row ``j`` at its corners."""
    size = plan.size
    rows = plan.rows
    ni = size.ni
    here = window_row(size, j, 0).ps
    south = window_row(size, j - 1, 0).ps
    for i in range(0, ni, LANES):
        four_ps = load(w, here + i) + load(w, here + i + 1) + (load(w, south + i) + load(w, south + i + 1))
        store(scratch, i, 4.0 / four_ps)
    curl_v = rows.curl_v[j]
    curl_u = rows.curl_u[j]
    cos = rows.cos[j]
    cos_south = rows.cos[j - 1]
    for k in range(size.levels):
        x = window_row(size, j, k)
        s = window_row(size, j - 1, k)
        for i in range(0, ni, LANES):
            change_v = load(w, x.v + i + 1) - load(w, x.v + i)
            change_u = cos * load(w, x.u + i) - cos_south * load(w, s.u + i)
            zeta = curl_v * change_v - curl_u * change_u
            store(w, x.eta + i, (zeta + rows.f[j]) * load(scratch, i))
        wrap(w, x.eta, ni)


@kernel(fastmath=CONTRACT)
def _second_differences(plan, w, j):
    """Second differences of X⁻ in latitude at row ``j``, weighted by cosφ; without flux over the poles."""
    size = plan.size
    rows = plan.rows
    south, north = neighbours(size, j)
    for field in range(4):
        of_v = field == 1
        to_field = field * size.field
        weight_south = rows.damp_south_v[j] if of_v else rows.damp_south[j]
        weight_north = rows.damp_north_v[j] if of_v else rows.damp_north[j]
        for k in range(size.levels):
            of_here = window_row(size, j, k).u_before + to_field
            out = window_row(size, j, k).u_delta2 + to_field
            of_south = window_row(size, south, k).u_before + to_field
            of_north = window_row(size, north, k).u_before + to_field
            for i in range(0, size.ni, LANES):
                here = load(w, of_here + i)
                to_north = load(w, of_north + i) - here
                to_south = here - load(w, of_south + i)
                store(w, out + i, weight_north * to_north - weight_south * to_south)


# Rows of longitude that ``flow`` keeps in the scratch, a pitch each.
AT_U = 0  # p̄_s where u is
PER_P = 1  # κ/p_s
SUM = 2  # Σ M Δσ, M = ∇·(p_s V)
SOUTH = 3  # p̄_s cosφ at the south face
NORTH = 4  # and at the north face
HEIGHT = 5  # Φ at the half level that ``_heights`` has come to, from Φ_s upwards


@kernel(fastmath=CONTRACT, inline=True)
def _pressures(plan, arrays, j):
    """The rows of pressures that ``flow`` keeps in the scratch; Φ_s and zeros, with which Φ and the sum begin."""
    size = plan.size
    rows = plan.rows
    ni = size.ni
    pitch = size.pitch
    w = address(arrays.window)
    scratch = address(arrays.scratch)
    rec = record(arrays, size, j)
    south, north = neighbours(size, j)
    ps = window_row(size, j, 0).ps
    ps_south = window_row(size, south, 0).ps
    ps_north = window_row(size, north, 0).ps
    phis = record_row(size, 0).phis
    half_south = 0.5 * rows.south[j]
    half_north = 0.5 * rows.north[j]
    for i in range(0, ni, LANES):
        here = load(w, ps + i)
        store(scratch, AT_U * pitch + HALO + i, 0.5 * (here + load(w, ps + i + 1)))
        store(scratch, SOUTH * pitch + i, half_south * (here + load(w, ps_south + i)))
        store(scratch, NORTH * pitch + i, half_north * (here + load(w, ps_north + i)))
        store(scratch, PER_P * pitch + i, KAPPA / here)
        store(scratch, SUM * pitch + i, spread(0.0))
        store(scratch, HEIGHT * pitch + i, load(rec, phis + i))
    wrap(scratch, AT_U * pitch + HALO, ni)


@kernel(fastmath=CONTRACT, inline=True)
def _fluxes(plan, w, scratch, j):
    """p_s u, p_s v cosφ, the sums of M Δσ down to each level, and −Σ M Δσ; the conversion's column part, which is
    −κ T/p_s (ln r/Δσ · sum down to the level above + α M), with r and α of ``levels``."""
    size = plan.size
    col = plan.column
    ni = size.ni
    pitch = size.pitch
    _, north = neighbours(size, j)
    per_dx = plan.rows.per_dx[j]
    per_dy = plan.rows.per_dy[j]
    per_p_at = PER_P * pitch
    total_at = SUM * pitch
    for k in range(size.levels):
        x = window_row(size, j, k)
        v_north = window_row(size, north, k).v
        log_per_layer = col.log[k] / col.thickness[k]  # as in ``complete``
        alpha = col.alpha[k]
        thickness = col.thickness[k]
        for i in range(0, ni, LANES):
            east = load(scratch, AT_U * pitch + HALO + i) * load(w, x.u + i)
            west = load(scratch, AT_U * pitch + HALO - 1 + i) * load(w, x.u + i - 1)
            southern = load(scratch, SOUTH * pitch + i) * load(w, x.v + i)
            northern = load(scratch, NORTH * pitch + i) * load(w, v_north + i)
            divergence = per_dx * (east - west) + per_dy * (northern - southern)
            total = load(scratch, total_at + i)
            store(w, x.flux_u + i, east)
            store(w, x.flux_v + i, southern)
            kt_per_p = load(scratch, per_p_at + i) * load(w, x.T + i)  # κ T/p_s
            store(w, x.conversion + i, -kt_per_p * (log_per_layer * total + alpha * divergence))
            total = total + thickness * divergence
            store(scratch, total_at + i, total)
            store(w, x.flux_down + i, total)  # Σ M Δσ down to here; ``_heights`` makes ṁ of it
        wrap(w, x.flux_u, ni)
        wrap(w, x.flux_v, ni)
    rate = window_row(size, j, 0).ps_rate
    for i in range(0, ni, LANES):
        store(w, rate + i, -load(scratch, total_at + i))


@kernel(fastmath=CONTRACT, inline=True)
def _heights(plan, w, scratch, j):
    """ṁ = σ Σ M Δσ − Σ M Δσ of the levels above it, at every half level, and K + Φ, from the ground upwards."""
    size = plan.size
    rows = plan.rows
    col = plan.column
    ni = size.ni
    _, north = neighbours(size, j)
    total_at = SUM * size.pitch
    phi_at = HEIGHT * size.pitch
    weight_south = 0.25 * rows.south[j] * rows.inverse_cos[j]
    weight_north = 0.25 * rows.north[j] * rows.inverse_cos[j]
    for k in range(size.levels - 1, -1, -1):
        x = window_row(size, j, k)
        v_north = window_row(size, north, k).v
        half = col.half[k + 1]
        to_full = R * col.alpha[k]
        to_half = R * col.log[k]
        for i in range(0, ni, LANES):
            store(w, x.flux_down + i, half * load(scratch, total_at + i) - load(w, x.flux_down + i))
            here = load(w, x.u + i)
            west = load(w, x.u + i - 1)
            southern = load(w, x.v + i)
            northern = load(w, v_north + i)
            of_v = weight_south * (southern * southern) + weight_north * (northern * northern)
            kinetic = 0.25 * (here * here + west * west) + of_v
            temperature = load(w, x.T + i)
            height = load(scratch, phi_at + i)
            store(w, x.bernoulli + i, kinetic + (height + to_full * temperature))
            store(scratch, phi_at + i, height + to_half * temperature)
        wrap(w, x.flux_down, ni)
        wrap(w, x.bernoulli, ni)


@kernel(fastmath=CONTRACT)
def flow(plan, arrays, j):
    """Mass fluxes, ṁ, K + Φ, η, the conversion's column part, −Σ M Δσ and second differences of X⁻ of row ``j``."""
    w = address(arrays.window)
    scratch = address(arrays.scratch)
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


class Delta2(NamedTuple):
    """Where second differences in latitude lie, and the factors that make fourth ones of them, and diffusion."""

    here: int
    south: int
    north: int
    to_south: float  # of the difference to the south: cosφ halfway there over cosφ here
    to_north: float  # and to the north
    damp: float  # of the whole, 1/s


@kernel(fastmath=CONTRACT, inline=True)
def _diffusion(w, x, delta2):
    """Diffusion of the vector of X⁻ at ``x``: −``damp`` times δ⁴, the sum of fourth differences in longitude and of
    second differences of the second differences in latitude, which lie at ``delta2`` (``Delta2``)."""
    here = load(w, x)
    far = load(w, x - 2) + load(w, x + 2)
    near = load(w, x - 1) + load(w, x + 1)
    second = load(w, delta2.here)
    lat = delta2.to_north * (load(w, delta2.north) - second) - delta2.to_south * (second - load(w, delta2.south))
    return -delta2.damp * ((far - 4.0 * near + 6.0 * here) + lat)


class Vertical(NamedTuple):
    """The levels above and below one: how far away in the window, and 1 where there is such a level, else 0.

    The top and the lowest level read themselves instead, times zero: no branch stands in a loop over vectors.
    """

    up: int  # to the level above: subtract
    down: int  # to the level below: add
    above: float
    below: float


@kernel(inline=True)
def _vertical(size, k):
    """The ``Vertical`` of level ``k``."""
    top = k == 0
    ground = k == size.levels - 1
    return Vertical(
        up=0 if top else size.pitch,
        down=0 if ground else size.pitch,
        above=0.0 if top else 1.0,
        below=0.0 if ground else 1.0,
    )


@kernel(fastmath=CONTRACT, inline=True)
def _zonal(plan, w, j, scratch):
    """N of u."""
    size = plan.size
    rows = plan.rows
    col = plan.column
    per_ps_at = 4 * size.tendency * size.pitch
    south, north = neighbours(size, j)
    ps = window_row(size, j, 0).ps
    log = window_row(size, j, 0).log_ps
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps_at + i, 1.0 / (load(w, ps + i) + load(w, ps + i + 1)))
    half_r = 0.5 * R
    per_dx = rows.per_dx[j]
    eighth_per_cos = 0.125 * rows.inverse_cos[j]
    weight_north = rows.damp_north[j]
    weight_south = rows.damp_south[j]
    # at the northern pole ``n`` is row j itself, with its south face's flux; at the southern, flux_v is zero already
    open_north = 0.0 if j == size.nj - 1 else 1.0
    for k in range(size.levels):
        x = window_row(size, j, k)
        s = window_row(size, south, k)
        n = window_row(size, north, k)
        eta_north = window_row(size, j + 1, k).eta
        level = _vertical(size, k)
        # the mean of vertical advection above and below, ½ (ṁ δX above + ṁ δX below)/(Δσ p̄): ``vertical`` has twice ṁ,
        # the sum of two points, and the scratch 1/(2 p̄)
        half_per_layer = 0.5 / col.thickness[k]
        out = k * size.pitch + HALO
        for i in range(0, size.ni, LANES):
            eta = load(w, x.eta + i) + load(w, eta_north + i)
            across = load(w, x.flux_v + i) + load(w, x.flux_v + i + 1)
            across = across + open_north * (load(w, n.flux_v + i) + load(w, n.flux_v + i + 1))
            rt = half_r * (load(w, x.T + i) + load(w, x.T + i + 1))  # R T̄
            force = load(w, x.bernoulli + i + 1) - load(w, x.bernoulli + i)
            force = force + rt * (load(w, log + i + 1) - load(w, log + i))
            here = load(w, x.u + i)
            lower = load(w, x.flux_down + i) + load(w, x.flux_down + i + 1)
            upper = load(w, x.flux_down - level.up + i) + load(w, x.flux_down - level.up + i + 1)
            vertical = (level.below * lower) * (load(w, x.u + level.down + i) - here)
            vertical = vertical + (level.above * upper) * (here - load(w, x.u - level.up + i))
            delta2 = Delta2(x.u_delta2 + i, s.u_delta2 + i, n.u_delta2 + i, weight_south, weight_north, plan.damp)
            diffusion = _diffusion(w, x.u_before + i, delta2)
            per_mass = half_per_layer * load(scratch, per_ps_at + i)
            value = eighth_per_cos * (eta * across) - per_dx * force - per_mass * vertical + diffusion
            store(scratch, out + i, value)


@kernel(fastmath=CONTRACT, inline=True)
def _meridional(plan, w, j, scratch):
    """N of v; zero on the pole, where v stays zero."""
    size = plan.size
    rows = plan.rows
    col = plan.column
    per_ps_at = 4 * size.tendency * size.pitch
    open_south = 1.0 if j > 0 else 0.0
    south, north = neighbours(size, j)
    ps = window_row(size, j, 0).ps
    ps_south = window_row(size, south, 0).ps
    log = window_row(size, j, 0).log_ps
    log_south = window_row(size, south, 0).log_ps
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps_at + i, 1.0 / (load(w, ps + i) + load(w, ps_south + i)))
    half_r = 0.5 * R
    per_dy = rows.per_dy_face[j]
    weight_north = rows.damp_north_v[j]
    weight_south = rows.damp_south_v[j]
    for k in range(size.levels):
        x = window_row(size, j, k)
        s = window_row(size, south, k)
        n = window_row(size, north, k)
        level = _vertical(size, k)
        half_per_layer = 0.5 / col.thickness[k]  # as for u
        out = (size.tendency + k) * size.pitch + HALO
        for i in range(0, size.ni, LANES):
            eta = load(w, x.eta + i) + load(w, x.eta + i - 1)
            along = load(w, x.flux_u + i) + load(w, x.flux_u + i - 1)
            along = along + (load(w, s.flux_u + i) + load(w, s.flux_u + i - 1))
            rt = half_r * (load(w, x.T + i) + load(w, s.T + i))  # R T̄
            force = load(w, x.bernoulli + i) - load(w, s.bernoulli + i)
            force = force + rt * (load(w, log + i) - load(w, log_south + i))
            here = load(w, x.v + i)
            lower = load(w, x.flux_down + i) + load(w, s.flux_down + i)
            upper = load(w, x.flux_down - level.up + i) + load(w, s.flux_down - level.up + i)
            vertical = (level.below * lower) * (load(w, x.v + level.down + i) - here)
            vertical = vertical + (level.above * upper) * (here - load(w, x.v - level.up + i))
            delta2 = Delta2(x.v_delta2 + i, s.v_delta2 + i, n.v_delta2 + i, weight_south, weight_north, plan.damp)
            diffusion = _diffusion(w, x.v_before + i, delta2)
            per_mass = half_per_layer * load(scratch, per_ps_at + i)
            value = diffusion - 0.125 * (eta * along) - per_dy * force - per_mass * vertical
            store(scratch, out + i, open_south * value)


@kernel(fastmath=CONTRACT, inline=True)
def _scalar(plan, w, j, scratch, warm):
    """N of T, with the conversion κ T ω/p, if ``warm``; else of q, which lies behind T in window and scratch.

    The halves are those of means: over two opposite faces (``half_per_dx``, ``half_per_dy``), of T at a face
    (``half_kappa``).
    """
    size = plan.size
    rows = plan.rows
    col = plan.column
    per_ps_at = 4 * size.tendency * size.pitch
    open_north = 0.0 if j == size.nj - 1 else 1.0
    south, north = neighbours(size, j)
    log = window_row(size, j, 0).log_ps
    log_south = window_row(size, south, 0).log_ps
    log_north = window_row(size, north, 0).log_ps
    half_per_dx = 0.5 * rows.per_dx[j]
    half_per_dy = 0.5 * rows.per_dy[j]
    half_kappa = 0.5 * KAPPA
    weight_north = rows.damp_north[j]
    weight_south = rows.damp_south[j]
    to_field = 0 if warm else size.field  # from T to q
    first = (2 if warm else 3) * size.tendency * size.pitch + HALO
    for k in range(size.levels):
        x = window_row(size, j, k)
        s = window_row(size, south, k)
        n = window_row(size, north, k)
        here_at = x.T + to_field
        delta2_at = x.T_delta2 + to_field
        delta2_south = s.T_delta2 + to_field
        delta2_north = n.T_delta2 + to_field
        out = first + k * size.pitch
        level = _vertical(size, k)
        half_per_layer = 0.5 / col.thickness[k]  # as for u, with ṁ at the point itself and 1/p_s
        for i in range(0, size.ni, LANES):
            here = load(w, here_at + i)
            east = load(w, here_at + i + 1)
            west = load(w, here_at + i - 1)
            southern = load(w, s.T + to_field + i)
            northern = load(w, n.T + to_field + i)
            flux_east = half_per_dx * load(w, x.flux_u + i)
            flux_west = half_per_dx * load(w, x.flux_u + i - 1)
            flux_south = half_per_dy * load(w, x.flux_v + i)
            flux_north = (open_north * half_per_dy) * load(w, n.flux_v + i)
            lower = load(w, x.flux_down + i)
            upper = load(w, x.flux_down - level.up + i)
            vertical = (level.below * lower) * (load(w, here_at + level.down + i) - here)
            vertical = vertical + (level.above * upper) * (here - load(w, here_at - level.up + i))
            along = flux_east * (east - here) + flux_west * (here - west)
            across = flux_north * (northern - here) + flux_south * (here - southern)
            advection = along + across
            advection = advection + half_per_layer * vertical
            delta2 = Delta2(delta2_at + i, delta2_south + i, delta2_north + i, weight_south, weight_north, plan.damp)
            diffusion = _diffusion(w, x.T_before + to_field + i, delta2)
            if warm:
                middle = load(w, log + i)
                to_east = load(w, log + i + 1) - middle
                to_west = middle - load(w, log + i - 1)
                to_north = load(w, log_north + i) - middle
                to_south = middle - load(w, log_south + i)
                along = flux_east * ((here + east) * to_east) + flux_west * ((here + west) * to_west)
                across = flux_north * ((here + northern) * to_north) + flux_south * ((here + southern) * to_south)
                work = along + across
                change = load(scratch, per_ps_at + i) * (half_kappa * work - advection) + load(w, x.conversion + i)
                store(scratch, out + i, change + diffusion)
            else:
                store(scratch, out + i, diffusion - load(scratch, per_ps_at + i) * advection)


@kernel(fastmath=CONTRACT)
def tendency(plan, arrays, j):
    """N of row ``j`` before the filter, into the scratch."""
    size = plan.size
    w = address(arrays.window)
    scratch = address(arrays.scratch)
    _zonal(plan, w, j, scratch)
    _meridional(plan, w, j, scratch)
    here = window_row(size, j, 0)
    per_ps_at = 4 * size.tendency * size.pitch
    for i in range(0, size.ni, LANES):
        store(scratch, per_ps_at + i, 1.0 / load(w, here.ps + i))
        store(scratch, (2 * size.tendency + size.levels) * size.pitch + HALO + i, load(w, here.ps_rate + i))
    _scalar(plan, w, j, scratch, True)
    _scalar(plan, w, j, scratch, False)


class Places(NamedTuple):
    """Where one vector of a field lies: ``now``, ``before`` and ``change`` in the window, P and Q in the record."""

    now: int  # X⁰
    before: int  # X⁻
    change: int  # Yᵉ
    P: int
    Q: int


@kernel(fastmath=CONTRACT, inline=True)
def _march(w, rec, rate, step, eps, place):
    """P, Q and Yᵉ at one vector, of its N ``rate``, over the time ``step``; ``eps`` is the filter's factor ε.

    ``place`` (``Places``) says where all of them lie in the window ``w`` and the record ``rec``.
    """
    now = load(w, place.now)
    before = load(w, place.before)
    new = before + step * rate
    explicit = (new - now) + (before - now)
    store(rec, place.P, new)
    store(rec, place.Q, now + eps * explicit)
    store(w, place.change, explicit)


@kernel(fastmath=CONTRACT)
def advance(plan, arrays, j, first):
    """From N of row ``j``, filtered, P and Q into its record, Yᵉ into the window.

    ``first``: this is the first step, Euler's, over Δt and not 2Δt.
    """
    size = plan.size
    ni = size.ni
    levels = size.levels
    pitch = size.pitch
    in_record = levels * ni  # from field to field of a record
    w = address(arrays.window)
    scratch = address(arrays.scratch)
    rec = record(arrays, size, j)
    step = plan.dt if first else 2.0 * plan.dt
    # Euler's step is step 0 and is not filtered: Q is X⁰.  It solves no Helmholtz equations and leaves G = 0 and D = 0,
    # so that ``complete``, whose factor of c is EPSILON in every step, adds nothing to this Q.
    eps = 0.0 if first else EPSILON
    for field in range(4):  # u, v, T, q, which lie one behind the other in window, record and scratch
        to_field = field * size.field
        for k in range(levels):
            of_n = (field * size.tendency + k) * pitch + HALO
            x = window_row(size, j, k)
            r = record_row(size, k)
            for i in range(0, ni, LANES):
                place = Places(
                    now=x.u + to_field + i,
                    before=x.u_before + to_field + i,
                    change=x.u_change + to_field + i,  # that of q nobody reads: ``implicit`` puts the divergence there
                    P=r.P_u + field * in_record + i,
                    Q=r.Q_u + field * in_record + i,
                )
                _march(w, rec, load(scratch, of_n + i), step, eps, place)
    of_n = (2 * size.tendency + levels) * pitch + HALO
    x = window_row(size, j, 0)
    r = record_row(size, 0)
    for i in range(0, ni, LANES):
        place = Places(now=x.ps + i, before=x.ps_before + i, change=x.ps_change + i, P=r.P_ps + i, Q=r.Q_ps + i)
        _march(w, rec, load(scratch, of_n + i), step, eps, place)
