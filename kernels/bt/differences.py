"""Differences along eight lines at once: one direction's part of the right-hand side.

Works in any direction.  A line is a start offset, a distance from cell to cell and five
offsets of components within a cell, given in the order density ρ, the two momenta across the line
(a, b), the momentum along it (n), energy E.  The two momenta across enter alike, so one piece of
code serves x, y and z.

Equations: Bailey et al., *The NAS Parallel Benchmarks*, NASA Ames report RNR-94-007, chapter 3.
"""

import numpy as np

from kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, FOURTH
from kernels.runtime.jit import FINITE, kernel
from kernels.runtime.vector import load, prefetch, spread, store

_ONE, _TWO = np.uint64(1), np.uint64(2)


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


@kernel(fastmath=FINITE, inline=True)
def _five_points(u, component, left, centre, here, right, cell, weight):
    return (
        weight[0] * load(u, left + component)
        + weight[1] * load(u, centre - cell + component)
        + weight[2] * load(u, centre + component)
        + weight[3] * load(u, here + component)
        + weight[4] * load(u, right + component)
    )


@kernel(fastmath=FINITE)
def differences(u, source, target, at, cell, o0, o1, o2, o3, o4, points, dt, table, ahead):
    """target = source + dt · (terms of one direction) on the inner cells of eight lines.

    With f the convective flux and g what the viscous terms difference twice, cell n receives
    M(n−1) − 2·g(n) + P(n+1), M = g + f and P = g − f, all with their factors of dt and h, and the
    five-point dissipation ``table``.  Cell by cell only M and the sum of the first two are kept.
    ``ahead`` (0: none) is the distance of the line whose source is fetched into the cache meanwhile.
    """
    h = 1.0 / (np.float64(points) - 1.0)
    convect, diffuse = spread(dt / (2.0 * h)), spread(dt * C3C4 / (h * h))
    along = spread(dt * C3C4 * FOUR_THIRDS / (h * h))
    speed, normal = spread(0.5 * dt * C3C4 * (1.0 - C1 * C1) / (h * h)), spread(dt * C3C4 / (6.0 * h * h))
    heat, one, two = spread(dt * C1345 / (h * h)), spread(1.0), spread(2.0)
    pressure, kinetic = spread(C2), spread(0.5 * C2)
    zero = spread(0.0)
    s0 = s1 = s2 = s3 = s4 = zero
    m0 = m1 = m2 = m3 = m4 = zero
    back = np.uint64(2) * cell
    for n in range(np.uint64(points)):
        here = at + n * cell
        ma, mb, mn, energy = load(u, here + o1), load(u, here + o2), load(u, here + o3), load(u, here + o4)
        inverse = one / load(u, here + o0)
        a, b, c = ma * inverse, mb * inverse, mn * inverse
        twice = ma * a + mb * b + mn * c
        p = pressure * energy - kinetic * twice
        ga, gb, gc = diffuse * a, diffuse * b, along * c
        ge = speed * (twice * inverse) + heat * (energy * inverse) + normal * (c * c)
        f0, fa, fb = convect * mn, convect * (ma * c), convect * (mb * c)
        fc, fe = convect * (mn * c + p), convect * ((energy + p) * c)
        if ahead != np.uint64(0):
            for offset in (o0, o1, o2, o3, o4):
                prefetch(source, here + ahead + offset)
        if n >= _TWO:
            centre = here - cell
            row = (n - _ONE) * np.uint64(5)
            five = (
                spread(table[row]),
                spread(table[row + _ONE]),
                spread(table[row + _TWO]),
                spread(table[row + np.uint64(3)]),
                spread(table[row + np.uint64(4)]),
            )
            # The outer neighbours of the edge cells have weight zero: read any valid cell there.
            left = centre - (back if n > _TWO else cell)
            right = centre + (back if n + _ONE < np.uint64(points) else cell)
            store(
                target,
                centre + o0,
                load(source, centre + o0) + s0 - f0 + _five_points(u, o0, left, centre, here, right, cell, five),
            )
            store(
                target,
                centre + o1,
                load(source, centre + o1) + s1 + (ga - fa) + _five_points(u, o1, left, centre, here, right, cell, five),
            )
            store(
                target,
                centre + o2,
                load(source, centre + o2) + s2 + (gb - fb) + _five_points(u, o2, left, centre, here, right, cell, five),
            )
            store(
                target,
                centre + o3,
                load(source, centre + o3) + s3 + (gc - fc) + _five_points(u, o3, left, centre, here, right, cell, five),
            )
            store(
                target,
                centre + o4,
                load(source, centre + o4) + s4 + (ge - fe) + _five_points(u, o4, left, centre, here, right, cell, five),
            )
        s0, s1, s2, s3, s4 = m0, m1 - two * ga, m2 - two * gb, m3 - two * gc, m4 - two * ge
        m0, m1, m2, m3, m4 = f0, ga + fa, gb + fb, gc + fc, ge + fe
