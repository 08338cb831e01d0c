"""Stages of one row of latitude, compiled: complete the step, then mass fluxes and what depends on columns.

A row passes four stages, each one row behind the one before (``tendencies`` and ``helmholtz`` have the others):

=========  ==========================  ==========================================================================
stage      reads                       gives
=========  ==========================  ==========================================================================
complete   record j; G of j−1, j, j+1  X⁰ = P + c, X⁻ = Q + ε c, with c = −Δt ∇G and so on
flow       X⁰ of j−1, j, j+1           p_s u, p_s v cosφ, ṁ, K + Φ, η of the south face, conversion, −Σ D Δσ
tendency   X⁰, X⁻, flow of j−1 … j+1   N, filtered; P = X⁻ + 2Δt N, Q = X⁰ + ε Yᵉ, Yᵉ = 2(X⁻ − X⁰) + 2Δt N
implicit   Yᵉ of j, j+1                D; right-hand sides; elimination from row j−1
=========  ==========================  ==========================================================================

All rows lie in a window (``Room.window``): ``place(size, j, field)`` is the first number of a field of row j.
Every stage is the same compiled function whatever calls it, works on whole vectors of eight longitudes, and
reads nothing that depends on how many rows are in memory: answers are the same bit for bit.

``plan`` is the ``plan.Plan`` of the run, ``room`` its ``rows.Room``, ``size`` its ``plan.Size``, ``t`` the
number of the thread, ``j`` that of a row from south to north; ``w`` is an array of float64 and ``ni`` the points of
one of its rows.
"""

from typing import NamedTuple

import numpy as np

from kernels.gridpoint.plan import (
    DT,
    EPS,
    ET,
    FIELDS,
    FU,
    FV,
    HALO,
    KAP,
    LN,
    LU,
    MD,
    P_MEAN,
    PH,
    PM,
    PS,
    PT,
    Q0,
    QM,
    R_GAS,
    T0,
    TAU_T,
    TM,
    U0,
    UM,
    V0,
    VM,
    WT,
)
from kernels.gridpoint.record import HEADER
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.vector import LANES, address, at, load, put, spread, store

ROW0 = len(FIELDS)  # fields that come before the rows of longitude


class Room(NamedTuple):
    """Memory of a run; all float64, C-contiguous."""

    window: np.ndarray  # (ring · row,): rows of the window
    records: np.ndarray  # (slots, words): records of the rows that are in memory
    G: np.ndarray  # (nj, K, pitch): the implicit correction's potential of the step before
    halves: np.ndarray  # (halves, ni/2 + 1, groups, 4, 8): right-hand sides in wavenumber space
    scratch: np.ndarray  # (threads, words)


@kernel(inline=True)
def place(size, j, field):
    """First number of a field of row ``j`` in the window."""
    return (j % size.ring) * size.row + field * size.field + HALO


@kernel(inline=True)
def place_row(size, j, row):
    """The same of a row of longitude."""
    return (j % size.ring) * size.row + ROW0 * size.field + row * size.pitch + HALO


@kernel(inline=True)
def wrap(w, o, ni):
    """Repeat both ends of the row at ``o``: neighbours across the date line."""
    store(w, o + ni, load(w, o))
    store(w, o - HALO, load(w, o + ni - HALO))


@kernel(fastmath=CONTRACT, inline=True)
def _surface(plan, room, j, t):
    """p_s of both time levels and its logarithm; ``complete`` leaves the sum of Δσ D in the thread's scratch."""
    size = plan.size
    ni, fields, eps = size.ni, 6 * size.levels * size.ni, plan.scale[EPS]
    w, scratch, rec = address(room.window), address(room.scratch[t]), address(room.records[j % size.slots])
    a, b, rate = HEADER + fields, size.half + fields, -plan.scale[DT] * plan.scale[P_MEAN]
    ps, pm, log = place_row(size, j, PS), place_row(size, j, PM), place_row(size, j, LN)
    for i in range(0, ni, LANES):
        change = rate * load(scratch, i)
        store(w, ps + i, load(rec, a + i) + change)
        store(w, pm + i, load(rec, b + i) + eps * change)
    for i in range(ni):
        put(w, log + i, np.log(at(w, ps + i)))
    wrap(w, ps, ni)
    wrap(w, pm, ni)
    wrap(w, log, ni)


@kernel(fastmath=CONTRACT)
def complete(plan, room, j, t):
    """X⁰ and X⁻ of row ``j`` from its record; ``t`` is the thread."""
    size, rows, col = plan.size, plan.rows, plan.column
    ni, levels, pitch = size.ni, size.levels, size.pitch
    w, g, scratch = address(room.window), address(room.G), address(room.scratch[t])
    rec = address(room.records[j % size.slots])
    fld = levels * ni
    a, b = HEADER, size.half  # first fields of either half
    gj = j * size.field + HALO
    gs = gj - size.field if j > 0 else gj
    gn = gj + size.field if j < size.nj - 1 else gj
    dt, eps = plan.scale[DT], plan.scale[EPS]
    dx, dx2 = rows.dx[j], rows.dx[j] * rows.dx[j]
    ls, ln = rows.laplace_south[j], rows.laplace_north[j]
    cu, cv, ct = -dt * dx, -dt * rows.face[j], -dt * plan.scale[TAU_T]
    for i in range(0, ni, LANES):
        store(scratch, i, spread(0.0))
    for k in range(levels):
        o, s, r = k * pitch, k * ni, place(size, j, 0) + k * pitch
        lag, alpha, thick = col.log_per[k], col.alpha[k], col.thickness[k]
        for i in range(0, ni, LANES):
            here = load(g, gj + o + i)
            east, west = load(g, gj + o + i + 1), load(g, gj + o + i - 1)
            south, north = load(g, gs + o + i), load(g, gn + o + i)
            cx = cu * (east - here)
            cy = cv * (here - south)
            lap = dx2 * ((east - here) - (here - west)) + (ln * (north - here) - ls * (here - south))
            div = load(rec, a + 4 * fld + s + i) - dt * lap
            above = load(scratch, i)
            heat = ct * (lag * above + alpha * div)
            store(scratch, i, above + thick * div)
            store(w, r + U0 * size.field + i, load(rec, a + s + i) + cx)
            store(w, r + V0 * size.field + i, load(rec, a + fld + s + i) + cy)
            store(w, r + T0 * size.field + i, load(rec, a + 2 * fld + s + i) + heat)
            store(w, r + Q0 * size.field + i, load(rec, a + 3 * fld + s + i))
            store(w, r + UM * size.field + i, load(rec, b + s + i) + eps * cx)
            store(w, r + VM * size.field + i, load(rec, b + fld + s + i) + eps * cy)
            store(w, r + TM * size.field + i, load(rec, b + 2 * fld + s + i) + eps * heat)
            store(w, r + QM * size.field + i, load(rec, b + 3 * fld + s + i))
        for field in range(8):
            wrap(w, r + field * size.field, ni)
    _surface(plan, room, j, t)


@kernel(fastmath=CONTRACT)
def _vorticity(plan, w, j, scratch):
    """η of the south face of row ``j`` at its corners; at a pole the same number all around."""
    size, rows = plan.size, plan.rows
    ni = size.ni
    if j == 0 or j == size.nj:
        near = 0 if j == 0 else size.nj - 1
        p = 0.0
        for i in range(ni):
            p += at(w, place_row(size, near, PS) + i)
        for k in range(size.levels):
            mean, o = 0.0, k * size.pitch
            for i in range(ni):
                mean += at(w, place(size, near, U0) + o + i)
            eta = (rows.f[j] + rows.pole[j] * (mean / ni)) / (p / ni)
            for i in range(-HALO, ni + HALO, LANES):
                store(w, place(size, j, ET) + o + i, spread(eta))
        return
    here, south = place_row(size, j, PS), place_row(size, j - 1, PS)
    for i in range(0, ni, LANES):
        p = load(w, here + i) + load(w, here + i + 1) + (load(w, south + i) + load(w, south + i + 1))
        store(scratch, i, 4.0 / p)
    cv, cu, c, cs = rows.curl_v[j], rows.curl_u[j], rows.cos[j], rows.cos[j - 1]
    for k in range(size.levels):
        o = k * size.pitch
        u, us, v, e = (
            place(size, j, U0) + o,
            place(size, j - 1, U0) + o,
            place(size, j, V0) + o,
            place(size, j, ET) + o,
        )
        for i in range(0, ni, LANES):
            zeta = cv * (load(w, v + i + 1) - load(w, v + i)) - cu * (c * load(w, u + i) - cs * load(w, us + i))
            store(w, e + i, (zeta + rows.f[j]) * load(scratch, i))
        wrap(w, e, ni)


@kernel(fastmath=CONTRACT)
def _second_differences(plan, w, j):
    """Second differences of X⁻ in latitude at row ``j``, without flux over the poles."""
    size, rows = plan.size, plan.rows
    south = max(j - 1, 0)
    north = min(j + 1, size.nj - 1)
    for field in range(4):
        v = field == 1
        ds = rows.damp_south_v[j] if v else rows.damp_south[j]
        dn = rows.damp_north_v[j] if v else rows.damp_north[j]
        for k in range(size.levels):
            o = k * size.pitch
            x, s, n = (
                place(size, j, UM + field) + o,
                place(size, south, UM + field) + o,
                place(size, north, UM + field) + o,
            )
            out = place(size, j, LU + field) + o
            for i in range(0, size.ni, LANES):
                here = load(w, x + i)
                store(w, out + i, dn * (load(w, n + i) - here) - ds * (here - load(w, s + i)))


#: Rows of longitude that ``flow`` keeps in the thread's scratch, a pitch each: p_s where u is, κ/p_s, Σ D Δσ,
#: ½ p_s cosφ of the south face and of the north face, Φ at the half levels.
AT_U, PER_P, SUM, SOUTH, NORTH, HEIGHT = range(6)


@kernel(fastmath=CONTRACT, inline=True)
def _pressures(plan, room, j, t):
    """The rows of pressures that ``flow`` needs, Φ_s, and zeros for the sum."""
    size, rows = plan.size, plan.rows
    ni, pitch = size.ni, size.pitch
    w, scratch, rec = address(room.window), address(room.scratch[t]), address(room.records[j % size.slots])
    ps, psn = place_row(size, j, PS), place_row(size, min(j + 1, size.nj - 1), PS)
    pss, phis = place_row(size, max(j - 1, 0), PS), HEADER + 6 * size.levels * ni + ni
    hs, hn = 0.5 * rows.south[j], 0.5 * rows.north[j]
    for i in range(0, ni, LANES):
        here = load(w, ps + i)
        store(scratch, AT_U * pitch + HALO + i, 0.5 * (here + load(w, ps + i + 1)))
        store(scratch, SOUTH * pitch + i, hs * (here + load(w, pss + i)))
        store(scratch, NORTH * pitch + i, hn * (here + load(w, psn + i)))
        store(scratch, PER_P * pitch + i, plan.scale[KAP] / here)
        store(scratch, SUM * pitch + i, spread(0.0))
        store(scratch, HEIGHT * pitch + i, load(rec, phis + i))
    wrap(scratch, AT_U * pitch + HALO, ni)


@kernel(fastmath=CONTRACT, inline=True)
def _fluxes(plan, w, scratch, j):
    """p_s u, p_s v cosφ, the sums of D Δσ down to each level, the conversion's column part, and −Σ D Δσ."""
    size, col = plan.size, plan.column
    ni, pitch, north = size.ni, size.pitch, min(j + 1, size.nj - 1)
    dx, dy = plan.rows.dx[j], plan.rows.dy[j]
    for k in range(size.levels):
        o = k * pitch
        u, tt = place(size, j, U0) + o, place(size, j, T0) + o
        v, vn = place(size, j, V0) + o, place(size, north, V0) + o
        fu, fv = place(size, j, FU) + o, place(size, j, FV) + o
        md, wt = place(size, j, MD) + o, place(size, j, WT) + o
        lag, alpha, thick = col.log_per[k], col.alpha[k], col.thickness[k]
        for i in range(0, ni, LANES):
            flux = load(scratch, AT_U * pitch + HALO + i) * load(w, u + i)
            west = load(scratch, AT_U * pitch + 7 + i) * load(w, u + i - 1)
            below = load(scratch, SOUTH * pitch + i) * load(w, v + i)
            above = load(scratch, NORTH * pitch + i) * load(w, vn + i)
            div = dx * (flux - west) + dy * (above - below)
            total = load(scratch, SUM * pitch + i)
            store(w, fu + i, flux)
            store(w, fv + i, below)
            store(w, wt + i, -(load(scratch, PER_P * pitch + i) * load(w, tt + i)) * (lag * total + alpha * div))
            total = total + thick * div
            store(scratch, SUM * pitch + i, total)
            store(w, md + i, total)
        wrap(w, fu, ni)
        wrap(w, fv, ni)
    tendency = place_row(size, j, PT)
    for i in range(0, ni, LANES):
        store(w, tendency + i, -load(scratch, SUM * pitch + i))


@kernel(fastmath=CONTRACT, inline=True)
def _heights(plan, w, scratch, j):
    """ṁ at the half levels and K + Φ, from the ground upwards."""
    size, rows, col = plan.size, plan.rows, plan.column
    ni, pitch, north, gas = size.ni, size.pitch, min(j + 1, size.nj - 1), plan.scale[R_GAS]
    qs, qn = 0.25 * rows.south[j] * rows.inverse_cos[j], 0.25 * rows.north[j] * rows.inverse_cos[j]
    for k in range(size.levels - 1, -1, -1):
        o = k * pitch
        u, tt = place(size, j, U0) + o, place(size, j, T0) + o
        v, vn = place(size, j, V0) + o, place(size, north, V0) + o
        md, ph = place(size, j, MD) + o, place(size, j, PH) + o
        half, ra, rl = col.half[k], gas * col.alpha[k], gas * col.log[k]
        for i in range(0, ni, LANES):
            store(w, md + i, half * load(scratch, SUM * pitch + i) - load(w, md + i))
            here, west, below, above = load(w, u + i), load(w, u + i - 1), load(w, v + i), load(w, vn + i)
            kinetic = 0.25 * (here * here + west * west) + (qs * (below * below) + qn * (above * above))
            temperature, height = load(w, tt + i), load(scratch, HEIGHT * pitch + i)
            store(w, ph + i, kinetic + (height + ra * temperature))
            store(scratch, HEIGHT * pitch + i, height + rl * temperature)
        wrap(w, md, ni)
        wrap(w, ph, ni)


@kernel(fastmath=CONTRACT)
def flow(plan, room, j, t):
    """Mass fluxes, divergence, vertical velocity, K + Φ, η and the conversion's column part of row ``j``."""
    w, scratch = address(room.window), address(room.scratch[t])
    _pressures(plan, room, j, t)
    _fluxes(plan, w, scratch, j)
    _heights(plan, w, scratch, j)
    _vorticity(plan, w, j, scratch)
    if j == plan.size.nj - 1:
        _vorticity(plan, w, plan.size.nj, scratch)
    _second_differences(plan, w, j)
