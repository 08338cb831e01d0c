"""Column work of a time step, compiled: condensation and rain, friction, radiation.

After the explicit step, ``columns`` moves T, q and cloud water of a row by the cloud scheme of
``kernels.routines.cloud``, adds the radiative heating that the record keeps, relaxes the wind near the ground to rest
(1/day at the ground, less upwards, none from σ = 0.7 on: Held and Suarez, Bull. Am. Meteorol. Soc. 75, 1994), and
gives what falls to the record.

``radiation`` computes the heating anew, on radiation steps only.  Bands of equal weight; all pairs of half levels see
each other through

    t(k, l) = exp(−κ_b |u_k − u_l|),    u = ∫ (q + q_0) dp/g
    F(k) = Σ over layers l of the difference of t at their two sides · σ_SB T_l⁴, upwards minus downwards

and the ground is black.  An isothermal column between two black plates of its own temperature has no heating.
Constants are plausible and not tuned: the cost has the shape of a radiation scheme (levels squared times
exponentials), the weather is not claimed.

Arguments ``plan``, ``arrays`` and ``j`` as in ``plan``; ``first_step`` says that the step is Euler's.
"""

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import CP, EPSILON, GRAVITY
from supercomputers_rerun.kernels.gridpoint.plan import record, record_row, window_row
from supercomputers_rerun.kernels.routines.cloud import one_level
from supercomputers_rerun.kernels.routines.elementary import exp
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel
from supercomputers_rerun.kernels.runtime.vector import LANES, address, less, load, select, spread, store

STEFAN = 5.670374419e-8  # W/(m² K⁴)
#: With so many a radiation step takes about 9.4 ordinary steps at the size of 1982, as in Fig. 4.4 of the report.
BANDS = 25
#: Absorption of the bands, m²/kg of vapour; Q_0 stands for the dry gases.
ABSORPTION = np.geomspace(0.02, 60.0, BANDS)
Q_0 = 2.0e-4
DRAG = 1.0 / 86400.0  # 1/s at the ground
DRAG_ABOVE = 0.7  # σ


@kernel(fastmath=CONTRACT)
def columns(plan, arrays, j, first_step):
    """Column work of row ``j``, between the explicit step and the implicit one."""
    size, col = plan.size, plan.column
    w, rec = address(arrays.window), record(arrays, size, j)
    step, eps = (plan.dt, 0.0) if first_step else (2.0 * plan.dt, EPSILON)
    fld, ps, ground = size.levels * size.ni, window_row(size, j, 0).ps, record_row(size, 0).rain
    for i in range(0, size.ni, LANES):
        rain, snow, p = spread(0.0), spread(0.0), load(w, ps + i)
        for k in range(size.levels):
            x, r = window_row(size, j, k), record_row(size, k)
            old, q, water = load(rec, r.P_T + i), load(rec, r.P_q + i), load(rec, r.cloud + i)
            lost, deficit = q, select(less(q, 0.0), q, 0.0)  # advection may leave less than nothing
            q = q - deficit
            given = old + step * load(rec, r.heating + i)
            warm, q, water, _cover, rain, snow = one_level(
                given, q, water, col.full[k] * p, col.thickness[k] * p, rain, snow, step
            )
            q = q + deficit
            change, dried = warm - old, q - lost
            store(rec, r.P_T + i, warm)
            store(rec, r.P_q + i, q)
            store(rec, r.Q_T + i, load(rec, r.Q_T + i) + eps * change)
            store(rec, r.Q_q + i, load(rec, r.Q_q + i) + eps * dried)
            store(rec, r.cloud + i, water)
            store(w, x.T_change + i, load(w, x.T_change + i) + change)
            drag = max(0.0, (col.full[k] - DRAG_ABOVE) / (1.0 - DRAG_ABOVE)) * (DRAG * step)
            factor = -drag / (1.0 + drag)
            for field in range(2):
                P, Q, y = r.P_u + field * fld + i, r.Q_u + field * fld + i, x.u_change + field * size.field + i
                wind = load(rec, P)
                slower = factor * wind
                store(rec, P, wind + slower)
                store(rec, Q, load(rec, Q) + eps * slower)
                store(w, y, load(w, y) + slower)
        store(rec, ground + i, load(rec, ground + i) + (0.5 * step) * (rain + snow))


@kernel(inline=True)
def _passing(depth):
    """e⁻ˣ of an optical depth, within what ``exp`` is defined for."""
    return exp(-select(less(depth, 700.0), depth, 700.0))


@kernel(fastmath=CONTRACT)
def heating(temperature, humidity, pressure, ground, out, work):
    """Radiative heating of eight columns, K/s, into ``out`` (levels, 8); all float64.

    ``temperature``, ``humidity``: (levels, 8); ``pressure``: (levels + 1, 8), at the half levels, Pa, zero at the top;
    ``ground``: (8,), its temperature, K; ``work``: (3 levels + 3, 8).
    """
    levels = temperature.shape[0]
    te, q, p = address(temperature), address(humidity), address(pressure)
    g, o, w = address(ground), address(out), address(work)
    mass, source, flux = 0, LANES * (levels + 1), LANES * (2 * levels + 1)
    store(w, mass, spread(0.0))
    for k in range(levels):
        path = (load(q, LANES * k) + Q_0) * ((load(p, LANES * k + LANES) - load(p, LANES * k)) * (1.0 / GRAVITY))
        store(w, mass + LANES * k + LANES, load(w, mass + LANES * k) + path)
        square = load(te, LANES * k) * load(te, LANES * k)
        store(w, source + LANES * k, STEFAN * (square * square))
    for k in range(levels + 1):
        store(w, flux + LANES * k, spread(0.0))
    square = load(g, 0) * load(g, 0)
    below = STEFAN * (square * square)
    for band in range(ABSORPTION.size):
        absorb, weight = ABSORPTION[band], 1.0 / BANDS
        for k in range(levels + 1):
            here = load(w, mass + LANES * k)
            net, before = spread(0.0), spread(1.0)
            for layer in range(k, levels):  # from below, upwards
                after = _passing(absorb * (load(w, mass + LANES * layer + LANES) - here))
                net = net + (before - after) * load(w, source + LANES * layer)
                before = after
            net, before = net + before * below, spread(1.0)
            for layer in range(k - 1, -1, -1):  # from above, downwards
                after = _passing(absorb * (here - load(w, mass + LANES * layer)))
                net = net - (before - after) * load(w, source + LANES * layer)
                before = after
            store(w, flux + LANES * k, load(w, flux + LANES * k) + weight * net)
    for k in range(levels):
        thick = load(p, LANES * k + LANES) - load(p, LANES * k)
        gain = load(w, flux + LANES * k + LANES) - load(w, flux + LANES * k)
        store(o, LANES * k, gain * (GRAVITY / CP) / thick)


@kernel(fastmath=CONTRACT)
def radiation(plan, arrays, j):
    """New heating into the record of row ``j``, from T and p_s of X⁰ and P of q."""
    size, col = plan.size, plan.column
    levels, room = size.levels, arrays.columns
    w, rec = address(arrays.window), record(arrays, size, j)
    temperature, humidity = room[:levels], room[levels : 2 * levels]
    pressure, ground = room[2 * levels : 3 * levels + 1], room[3 * levels + 1]
    out, work = room[3 * levels + 2 : 4 * levels + 2], room[4 * levels + 2 :]
    te, hu, pr, gr, ou = address(temperature), address(humidity), address(pressure), address(ground), address(out)
    for i in range(0, size.ni, LANES):
        p = load(w, window_row(size, j, 0).ps + i)
        store(pr, 0, spread(0.0))
        for k in range(levels):
            store(te, LANES * k, load(w, window_row(size, j, k).T + i))
            q = load(rec, record_row(size, k).P_q + i)
            store(hu, LANES * k, select(less(q, 0.0), 0.0, q))
            store(pr, LANES * k + LANES, col.half[k + 1] * p)
        store(gr, 0, load(rec, record_row(size, 0).surface + i))
        heating(temperature, humidity, pressure, ground, out, work)
        for k in range(levels):
            store(rec, record_row(size, k).heating + i, load(ou, LANES * k))
