"""Differences along eight lines at once: one direction's part of the right-hand side.

Works in any direction: ``Lines`` says where the cells and the components of eight lines lie.  The two velocities
across the lines are called a and b, the one along them c.  Fields are float64 and flat, in the benchmark's
units.

Equations: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3.
"""

import numpy as np

from supercomputers_rerun.kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, FOURTH
from supercomputers_rerun.kernels.runtime.jit import FINITE, kernel
from supercomputers_rerun.kernels.runtime.vector import load, prefetch, spread, store

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)


def weights(points: int, dt: float, second: float) -> np.ndarray:
    """Five-point weights of both dissipations, times dt, for every cell of a line, shape (points, 5).

    Second differences have the factor ``second``/h², fourth ones −FOURTH.  The fourth difference
    is (1, −4, 6, −4, 1); at the first inner cell (0, 0, 5, −4, 1) and at the second
    (0, −4, 6, −4, 1), at the other end mirrored.  On five points the middle cell is second from
    both ends and keeps (0, −4, 6, −4, 0).
    """
    fourth = np.tile([1.0, -4.0, 6.0, -4.0, 1.0], (points, 1))
    fourth[1, :3] = 0.0, 0.0, 5.0
    fourth[2, 0] = 0.0
    fourth[-3, 4] = 0.0
    fourth[-2, 2:] = 5.0, 0.0, 0.0
    table = dt * second * (points - 1.0) ** 2 * np.array([0.0, 1.0, -2.0, 1.0, 0.0]) - dt * FOURTH * fourth
    table[0] = table[-1] = 0.0
    return table


@kernel(inline=True)
def _five_weights(table, cell):
    """The row of a table of weights that belongs to a cell, each number in all lanes."""
    row = cell * np.uint64(5)
    return (
        spread(table[row]),
        spread(table[row + _ONE]),
        spread(table[row + _TWO]),
        spread(table[row + np.uint64(3)]),
        spread(table[row + np.uint64(4)]),
    )


@kernel(fastmath=FINITE, inline=True)
def _dissipation(u, component, cells, weight):
    """Of one ``component`` of ``u`` in the cell in the middle of five ``cells``: the sum of all five, each times its
    ``weight``."""
    return (
        weight[0] * load(u, cells[0] + component)
        + weight[1] * load(u, cells[1] + component)
        + weight[2] * load(u, cells[2] + component)
        + weight[3] * load(u, cells[3] + component)
        + weight[4] * load(u, cells[4] + component)
    )


@kernel(fastmath=FINITE, inline=True)
def _emit(source, target, at, terms, dissipation):
    """target = source + terms + dissipation of the vector ``at`` a place."""
    store(target, at, load(source, at) + terms + dissipation)


@kernel(fastmath=FINITE)
def differences(u, source, target, lines, direction):
    """target = source + dt · (terms of one direction) on the inner cells of eight lines.

    With f the convective flux and g what the viscous terms difference twice, cell n receives
    M(n−1) − 2·g(n) + P(n+1), M = g + f and P = g − f, all with their factors of dt and h, and the
    five-point dissipation.  Cell by cell only M and the sum of the first two are kept.

    ``u``: conserved variables; ``source``, ``target``: dt times a right-hand side, read and written, which may be the
    same array; ``lines`` (``Lines``): which cells, in all three alike; ``direction``: a ``Direction``, whose ``second``
    is not used.  Of the lines ``lines.ahead`` the source is fetched into the cache meanwhile.
    """
    o0 = lines.density
    o1 = lines.first
    o2 = lines.second
    o3 = lines.along
    o4 = lines.energy
    points = lines.points
    cell = lines.cell
    table = direction.weights
    dt = direction.dt
    h = direction.h
    convect = spread(dt / (2.0 * h))
    diffuse = spread(dt * C3C4 / (h * h))
    along = spread(dt * C3C4 * FOUR_THIRDS / (h * h))
    speed = spread(0.5 * dt * C3C4 * (1.0 - C1 * C1) / (h * h))
    normal = spread(dt * C3C4 / (6.0 * h * h))
    heat = spread(dt * C1345 / (h * h))
    one = spread(1.0)
    two = spread(2.0)
    pressure = spread(C2)
    kinetic = spread(0.5 * C2)
    zero = spread(0.0)
    s0 = s1 = s2 = s3 = s4 = zero
    m0 = m1 = m2 = m3 = m4 = zero
    back = _TWO * cell
    for n in range(points):
        here = lines.at + n * cell
        ma = load(u, here + o1)
        mb = load(u, here + o2)
        mn = load(u, here + o3)
        energy = load(u, here + o4)
        inverse = one / load(u, here + o0)
        a = ma * inverse
        b = mb * inverse
        c = mn * inverse
        twice = ma * a + mb * b + mn * c
        p = pressure * energy - kinetic * twice
        ga = diffuse * a
        gb = diffuse * b
        gc = along * c
        ge = speed * (twice * inverse) + heat * (energy * inverse) + normal * (c * c)
        f0 = convect * mn
        fa = convect * (ma * c)
        fb = convect * (mb * c)
        fc = convect * (mn * c + p)
        fe = convect * ((energy + p) * c)
        if lines.ahead != _ZERO:
            for offset in (o0, o1, o2, o3, o4):
                prefetch(source, here + lines.ahead + offset)
        if n >= _TWO:
            centre = here - cell
            # The outer neighbours of the edge cells have weight zero: read any valid cell there.
            left = centre - (back if n > _TWO else cell)
            right = centre + (back if n + _ONE < points else cell)
            cells = (left, centre - cell, centre, here, right)
            five = _five_weights(table, n - _ONE)
            _emit(source, target, centre + o0, s0 - f0, _dissipation(u, o0, cells, five))
            _emit(source, target, centre + o1, s1 + (ga - fa), _dissipation(u, o1, cells, five))
            _emit(source, target, centre + o2, s2 + (gb - fb), _dissipation(u, o2, cells, five))
            _emit(source, target, centre + o3, s3 + (gc - fc), _dissipation(u, o3, cells, five))
            _emit(source, target, centre + o4, s4 + (ge - fe), _dissipation(u, o4, cells, five))
        # M(n) − 2·g(n) of what is the cell before next time, then M(n)
        s0 = m0
        s1 = m1 - two * ga
        s2 = m2 - two * gb
        s3 = m3 - two * gc
        s4 = m4 - two * ge
        m0 = f0
        m1 = ga + fa
        m2 = gb + fb
        m3 = gc + fc
        m4 = ge + fe
