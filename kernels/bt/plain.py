"""BT line by line with full 5×5 blocks, as a textbook has it: what the fast solver is compared with, and a slow one.

The right-hand side of the whole grid, then one block-tridiagonal system after the other in x, in y and in z, then the
update.  Nothing is fused, no two lines share a vector, and zeros of the blocks are multiplied like any other number.
It shares constants and initial fields with the solver in lanes, and none of its code.  With ``code="plain"`` it is a
slow base code: NHT-1 asks how an overhead depends on the code that it is held against (section 4).

Fields are float64 (N, N, N, 5) as [k, j, i, m], m = density, three momenta, energy; ``axis`` 0, 1, 2 is x, y, z.  A
line is float64 (N, 5).
"""

import numpy as np

from supercomputers_rerun.kernels.bt.problem import (
    C1,
    C2,
    C3C4,
    C1345,
    FOUR_THIRDS,
    FOURTH,
    SECOND,
    exact_solution,
    initial_field,
)
from supercomputers_rerun.kernels.runtime.jit import CONTRACT, kernel


@kernel(fastmath=CONTRACT)
def plain(below, diagonal, sides):
    """Solve below[n]·Δ[n−1] + diagonal[n]·Δ[n] + above[n]·Δ[n+1] = right[n] along a line whose ends have Δ = 0.

    Forward, each row is freed of Δ[n−1] and divided by its block on the diagonal; backward, Δ[n+1] is put in.
    ``below`` and ``diagonal`` are float64 (N, 5, 5), the second is spent; ``sides``, (N, 5, 6), zero at both ends, has
    the block above in its first five columns, and the right-hand side in the last, which becomes Δ.
    """
    last = len(sides) - 1
    for n in range(1, last):
        for i in range(5):
            for k in range(5):
                sides[n, i, 5] -= below[n, i, k] * sides[n - 1, k, 5]
                for m in range(5):
                    diagonal[n, i, m] -= below[n, i, k] * sides[n - 1, k, m]
        _divide(diagonal[n], sides[n])
    for n in range(last - 2, 0, -1):
        for i in range(5):
            for k in range(5):
                sides[n, i, 5] -= sides[n, i, k] * sides[n + 1, k, 5]


@kernel(fastmath=CONTRACT)
def _divide(block, sides):
    """``sides`` (5, 6) becomes block⁻¹ · sides, by Gauss and Jordan without pivots; ``block`` (5, 5) is spent."""
    for p in range(5):
        pivot = 1.0 / block[p, p]
        for m in range(p, 5):
            block[p, m] *= pivot
        for m in range(6):
            sides[p, m] *= pivot
        for i in range(5):
            if i != p:
                factor = block[i, p]
                for m in range(p, 5):
                    block[i, m] -= factor * block[p, m]
                for m in range(6):
                    sides[i, m] -= factor * sides[p, m]


@kernel
def _fluxes(u, axis, flux, viscous):
    """Euler flux of a point ``u`` (5,), and what the viscous terms take second differences of; both (5,), written."""
    rho = u[0]
    velocity = u[1 + axis] / u[0]
    energy = u[4] / u[0]
    twice = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (rho * rho)
    pressure = C2 * (u[4] - 0.5 * rho * twice)
    for m in range(5):
        flux[m] = u[m] * velocity
        viscous[m] = C3C4 * u[m] / rho * (FOUR_THIRDS if m == 1 + axis else 1.0)
    flux[1 + axis] += pressure
    flux[4] += pressure * velocity
    viscous[0] = 0.0
    viscous[4] = 0.5 * C3C4 * (1.0 - C1 * C1) * twice + C3C4 / 6.0 * velocity * velocity + C1345 * energy


@kernel
def _jacobians(u, axis, flux, viscous):
    """∂/∂U of both at a point, as the benchmark linearises them; float64 (5, 5), written."""
    flux[:] = 0.0
    viscous[:] = 0.0
    rho = u[0]
    energy = u[4] / u[0]
    normal = u[1 + axis] / u[0]
    q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (rho * rho)
    flux[0, 1 + axis] = 1.0
    heat = C1345 * energy
    for m in range(3):
        velocity = u[1 + m] / rho
        factor = C3C4 * (FOUR_THIRDS if m == axis else 1.0)
        flux[1 + m, 0] = -velocity * normal
        flux[1 + m, 1 + m] += normal
        flux[1 + m, 1 + axis] += velocity
        flux[1 + axis, 1 + m] -= C2 * velocity
        flux[4, 1 + m] = -C2 * velocity * normal
        viscous[1 + m, 0] = -factor * velocity / rho
        viscous[1 + m, 1 + m] = factor / rho
        viscous[4, 1 + m] = (factor - C1345) * velocity / rho
        heat += (factor - C1345) * velocity * velocity
    flux[1 + axis, 0] += C2 * q
    flux[1 + axis, 4] = C2
    flux[4, 0] = (2.0 * C2 * q - C1 * energy) * normal
    flux[4, 1 + axis] += C1 * energy - C2 * q
    flux[4, 4] = C1 * normal
    viscous[4, 0] = -heat / rho
    viscous[4, 4] = C1345 / rho


@kernel
def _fourth_difference(u, n, m):
    """(1, −4, 6, −4, 1) of component ``m`` at point ``n``; next to a boundary without the terms on or beyond it, and
    with 5 for 6 at the first point."""
    last = len(u) - 1
    total = (5.0 if n == 1 or n == last - 1 else 6.0) * u[n, m]
    total -= 4.0 * u[n - 1, m] if n > 1 else 0.0
    total -= 4.0 * u[n + 1, m] if n < last - 1 else 0.0
    total += u[n - 2, m] if n > 2 else 0.0
    return total + (u[n + 2, m] if n < last - 2 else 0.0)


@kernel(fastmath=CONTRACT)
def _add_differences(u, axis, dt, second, right):
    """right += dt · (−∂F/∂x + viscous terms − dissipation) along one line; ``second``: that of second differences."""
    h = 1.0 / (len(u) - 1)
    flux = np.empty_like(u)
    viscous = np.empty_like(u)
    for n in range(len(u)):
        _fluxes(u[n], axis, flux[n], viscous[n])
        viscous[n] += second * u[n]
    for n in range(1, len(u) - 1):
        for m in range(5):
            convected = (flux[n + 1, m] - flux[n - 1, m]) / (2.0 * h)
            diffused = (viscous[n + 1, m] - 2.0 * viscous[n, m] + viscous[n - 1, m]) / (h * h)
            right[n, m] += dt * (diffused - convected - FOURTH * _fourth_difference(u, n, m))


@kernel(fastmath=CONTRACT)
def _solve(u, axis, dt, second, right):
    """Solve (I + dt · ∂/∂x …) Δ = right along one line; Δ replaces ``right`` but for its ends."""
    points = len(u)
    h = 1.0 / (points - 1)
    convect = np.empty((points, 5, 5))
    diffuse = np.empty((points, 5, 5))
    for n in range(points):
        _jacobians(u[n], axis, convect[n], diffuse[n])
        for m in range(5):
            diffuse[n, m, m] += second
    below = np.empty_like(convect)
    diagonal = np.empty_like(convect)
    sides = np.zeros((points, 5, 6))
    for n in range(1, points - 1):
        for i in range(5):
            for m in range(5):
                below[n, i, m] = -dt * (convect[n - 1, i, m] / (2.0 * h) + diffuse[n - 1, i, m] / (h * h))
                sides[n, i, m] = dt * (convect[n + 1, i, m] / (2.0 * h) - diffuse[n + 1, i, m] / (h * h))
                diagonal[n, i, m] = (1.0 if i == m else 0.0) + 2.0 * dt / (h * h) * diffuse[n, i, m]
            sides[n, i, 5] = right[n, i]
    plain(below, diagonal, sides)
    right[1:-1] = sides[1:-1, :, 5]


@kernel
def _along(fields, rights, axis, dt, second, solve):
    """Every inner line along the third axis of ``fields`` and ``rights``: differences, or elimination if ``solve``."""
    points = fields.shape[2]
    u = np.empty((points, 5))
    right = np.empty((points, 5))
    for a in range(1, points - 1):
        for b in range(1, points - 1):
            u[:] = fields[a, b]
            right[:] = rights[a, b]
            if solve:
                _solve(u, axis, dt, second, right)
            else:
                _add_differences(u, axis, dt, second, right)
            rights[a, b] = right


def _lines(u, right, dt, solve):
    for axis in range(3):
        fields = np.moveaxis(u, 2 - axis, 2)
        rights = np.moveaxis(right, 2 - axis, 2)
        _along(fields, rights, axis, dt, SECOND[axis], solve)


def forcing(points: int) -> np.ndarray:
    """The term that makes the exact solution steady: minus the operator applied to it; zero on the boundary."""
    forced = np.zeros((points,) * 3 + (5,))
    _lines(exact_solution(points), forced, -1.0, False)
    return forced


def step(u: np.ndarray, forced: np.ndarray, dt: float) -> None:
    """One time step in place: right-hand side, x, y and z sweep, update; ``forced`` is dt · forcing."""
    change = forced.copy()
    _lines(u, change, dt, False)
    _lines(u, change, dt, True)
    u += change


def march(points: int, steps: int, dt: float) -> np.ndarray:
    """Field after ``steps`` steps from the initial field."""
    u = initial_field(points)
    forced = dt * forcing(points)
    for _ in range(steps):
        step(u, forced, dt)
    return u


def norms(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residual and error: the benchmark's root-mean-square norms, five components each."""
    residual = forcing(len(u))
    error = u - exact_solution(len(u))
    _lines(u, residual, 1.0, False)
    return tuple(np.sqrt((field**2).sum(axis=(0, 1, 2)) / (len(u) - 2) ** 3) for field in (residual, error))
