"""Compiled kernels of BT on a box of a distributed grid: right-hand side, and pieces of line solves.

Fields of a box have two layers of neighbours on each side: ``u[m, k + 2, j + 2, i + 2]``, float64.  A line
solve goes through the boxes along a direction one after the other; each gets from its predecessor the
eliminated blocks of the last point (25 + 5 words a line) and from its successor the solution of the
first (5 words a line).

Formulas: ``kernels.bt.reference``; constants: ``kernels.bt.problem``.
"""

import numpy as np

from kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, FOURTH
from kernels.runtime.jit import FINITE, kernel

#: Words that one line hands on in the forward and in the backward sweep.
FORWARD, BACKWARD = 30, 5
_SIXTH = C3C4 / 6.0
_ENERGY = 0.5 * C3C4 * (1.0 - C1 * C1)


@kernel(inline=True)
def _edge(place, points, offset):
    """Weight of the fourth difference at a grid index for the neighbour ``offset`` away."""
    low, high = place, points - 1 - place
    if abs(offset) == 2:
        near = low if offset < 0 else high
        return 0.0 if near <= 2 else 1.0
    if abs(offset) == 1:
        near = low if offset < 0 else high
        return 0.0 if near == 1 else -4.0
    return 5.0 if low == 1 or high == 1 else 6.0


@kernel(fastmath=FINITE)
def directional(u, out, axis, first, points, second):
    """Add the operator of one direction to ``out[m, k, j, i]`` for all points inside the whole grid.

    ``first`` is the grid index (i, j, k) of the box's first point, ``points`` those of a whole line.
    """
    _, nk, nj, ni = out.shape
    dk, dj, di = (1 if axis == 2 else 0), (1 if axis == 1 else 0), (1 if axis == 0 else 0)
    a = 1 + axis
    half, square = 0.5 * (points - 1), float((points - 1) * (points - 1))
    flux, viscous = np.empty((3, 5)), np.empty((3, 5))
    for k in range(nk):
        if k + first[2] < 1 or k + first[2] > points - 2:
            continue
        for j in range(nj):
            if j + first[1] < 1 or j + first[1] > points - 2:
                continue
            for i in range(ni):
                if i + first[0] < 1 or i + first[0] > points - 2:
                    continue
                for s in range(3):
                    z, y, x = k + 2 + (s - 1) * dk, j + 2 + (s - 1) * dj, i + 2 + (s - 1) * di
                    over = 1.0 / u[0, z, y, x]
                    v1, v2, v3 = u[1, z, y, x] * over, u[2, z, y, x] * over, u[3, z, y, x] * over
                    e = u[4, z, y, x]
                    speed2 = v1 * v1 + v2 * v2 + v3 * v3
                    normal = v1 if axis == 0 else (v2 if axis == 1 else v3)
                    pressure = C2 * (e - 0.5 * u[0, z, y, x] * speed2)
                    for m in range(4):
                        flux[s, m] = u[m, z, y, x] * normal
                    flux[s, a] += pressure
                    flux[s, 4] = (e + pressure) * normal
                    viscous[s, 0] = 0.0
                    viscous[s, 1], viscous[s, 2], viscous[s, 3] = C3C4 * v1, C3C4 * v2, C3C4 * v3
                    viscous[s, a] *= FOUR_THIRDS
                    viscous[s, 4] = _ENERGY * speed2 + _SIXTH * normal * normal + C1345 * e * over
                    for m in range(5):
                        viscous[s, m] += second * u[m, z, y, x]
                place = (i if axis == 0 else (j if axis == 1 else k)) + first[axis]
                for m in range(5):
                    total = -(flux[2, m] - flux[0, m]) * half
                    total += (viscous[2, m] - 2.0 * viscous[1, m] + viscous[0, m]) * square
                    for offset in range(-2, 3):
                        weight = _edge(place, points, offset)
                        if weight != 0.0:
                            z, y, x = k + 2 + offset * dk, j + 2 + offset * dj, i + 2 + offset * di
                            total -= FOURTH * weight * u[m, z, y, x]
                    out[m, k, j, i] += total


@kernel(inline=True, fastmath=FINITE)
def _jacobians(u, k, j, i, axis, second, convect, diffuse):
    """Jacobians of flux and viscous terms at one point, dissipation included: float64 (5, 5) each."""
    over = 1.0 / u[0, k, j, i]
    energy = u[4, k, j, i] * over
    v = u[1, k, j, i] * over, u[2, k, j, i] * over, u[3, k, j, i] * over
    a = 1 + axis
    normal = v[axis]
    speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    q = 0.5 * speed2
    for r in range(5):
        for c in range(5):
            convect[r, c] = diffuse[r, c] = 0.0
        diffuse[r, r] = second
    convect[0, a] = 1.0
    for m in range(3):
        convect[1 + m, 0] = -v[m] * normal
        convect[1 + m, 1 + m] += normal
        convect[1 + m, a] += v[m]
        factor = C3C4 * (FOUR_THIRDS if m == axis else 1.0)
        diffuse[1 + m, 0] -= factor * v[m] * over
        diffuse[1 + m, 1 + m] += factor * over
        diffuse[4, 0] -= (factor - C1345) * v[m] * v[m] * over
        diffuse[4, 1 + m] += (factor - C1345) * v[m] * over
    for m in range(3):
        convect[a, 1 + m] -= C2 * v[m]
        convect[4, 1 + m] = -C2 * v[m] * normal
    convect[a, 0] += C2 * q
    convect[a, 4] = C2
    convect[4, 0] = (2.0 * C2 * q - C1 * energy) * normal
    convect[4, a] += C1 * energy - C2 * q
    convect[4, 4] = C1 * normal
    diffuse[4, 0] -= C1345 * energy * over
    diffuse[4, 4] += C1345 * over


@kernel(inline=True, fastmath=FINITE)
def _solve(matrix, right):
    """Gauss–Jordan without pivoting (the blocks are dominated by their diagonal): 6 right-hand sides."""
    for p in range(5):
        over = 1.0 / matrix[p, p]
        for c in range(p + 1, 5):
            matrix[p, c] *= over
        for c in range(6):
            right[p, c] *= over
        for r in range(5):
            if r != p:
                factor = matrix[r, p]
                for c in range(p + 1, 5):
                    matrix[r, c] -= factor * matrix[p, c]
                for c in range(6):
                    right[r, c] -= factor * right[p, c]


@kernel(fastmath=FINITE)
def forward(u, rhs, upper, axis, first, grid, carry, low, high):
    """Elimination along ``axis`` for lines ``low <= line < high`` of the box.

    ``grid`` is the points of a whole line, the time step and the second-difference dissipation.

    Lines are numbered over the two other directions, the slower one first.  ``carry[line]`` holds upper
    block and right-hand side of the point before the box, and receives those of its last point.
    ``upper[k, j, i]`` (25 words) keeps the blocks.
    """
    points, dt, second = grid
    _, nk, nj, ni = rhs.shape
    length = ni if axis == 0 else (nj if axis == 1 else nk)
    inner = nj if axis == 0 else ni
    tau, tau2 = 0.5 * dt * (points - 1), dt * float((points - 1) * (points - 1))
    convect, diffuse = np.empty((3, 5, 5)), np.empty((3, 5, 5))
    matrix, right, below = np.empty((5, 5)), np.empty((5, 6)), np.empty((5, 5))
    for line in range(low, high):
        p, q = line // inner, line % inner
        for n in range(length):
            k, j, i = (p, q, n) if axis == 0 else ((p, n, q) if axis == 1 else (n, p, q))
            place = n + first[axis]
            if place < 1 or place > points - 2:  # the boundary does not change
                for w in range(30):
                    carry[line, w] = 0.0
                for w in range(25):
                    upper[k, j, i, w] = 0.0
                continue
            for s in range(3):
                z, y, x = k + 2, j + 2, i + 2
                if axis == 0:
                    x += s - 1
                elif axis == 1:
                    y += s - 1
                else:
                    z += s - 1
                _jacobians(u, z, y, x, axis, second, convect[s], diffuse[s])
            for r in range(5):
                for c in range(5):
                    below[r, c] = -tau * convect[0, r, c] - tau2 * diffuse[0, r, c]
                    matrix[r, c] = 2.0 * tau2 * diffuse[1, r, c]
                    right[r, c] = tau * convect[2, r, c] - tau2 * diffuse[2, r, c]
                matrix[r, r] += 1.0
                right[r, 5] = rhs[r, k, j, i]
            for r in range(5):
                for m in range(5):
                    factor = below[r, m]
                    for c in range(5):
                        matrix[r, c] -= factor * carry[line, 5 * m + c]
                    right[r, 5] -= factor * carry[line, 25 + m]
            _solve(matrix, right)
            for r in range(5):
                for c in range(5):
                    carry[line, 5 * r + c] = upper[k, j, i, 5 * r + c] = right[r, c]
                carry[line, 25 + r] = rhs[r, k, j, i] = right[r, 5]


@kernel(fastmath=FINITE)
def backward(rhs, upper, axis, carry, low, high):
    """Back substitution: ``carry[line]`` holds the solution after the box, receives that of its first point."""
    _, nk, nj, ni = rhs.shape
    length = ni if axis == 0 else (nj if axis == 1 else nk)
    inner = nj if axis == 0 else ni
    for line in range(low, high):
        p, q = line // inner, line % inner
        for back in range(length):
            n = length - 1 - back
            k, j, i = (p, q, n) if axis == 0 else ((p, n, q) if axis == 1 else (n, p, q))
            for r in range(5):
                total = rhs[r, k, j, i]
                for m in range(5):
                    total -= upper[k, j, i, 5 * r + m] * carry[line, m]
                rhs[r, k, j, i] = total
            for r in range(5):
                carry[line, r] = rhs[r, k, j, i]
