"""BT in plain NumPy: full 5×5 blocks, one direction at a time, nothing clever.

Independent of the compiled solver: it has its own flux functions, full dense Jacobians and
``numpy.linalg.solve``.  Fields are indexed [k, j, i, m], m = density, three momenta, energy.
For small N: about 1 s a step at N = 24.
"""

import numpy as np

from kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, FOURTH, SECOND, exact_solution, initial_field


def _shifted(field, axis, offset):
    """Interior of ``field`` in all directions, moved by ``offset`` along grid direction ``axis``."""
    window = [slice(1, -1)] * 3
    stop = field.shape[0] - 1 + offset
    window[2 - axis] = slice(1 + offset, stop)
    return field[tuple(window)]


def _convective(u, axis):
    """Euler flux of direction ``axis``: momentum, momentum · velocity + pressure, enthalpy flow."""
    velocity = u[..., 1 + axis] / u[..., 0]
    kinetic = 0.5 * (u[..., 1] ** 2 + u[..., 2] ** 2 + u[..., 3] ** 2) / u[..., 0]
    flux = u * velocity[..., None]
    flux[..., 1 + axis] += C2 * (u[..., 4] - kinetic)
    flux[..., 4] = (C1 * u[..., 4] - C2 * kinetic) * velocity
    return flux


def _viscous(u, axis):
    """What the viscous terms take second differences of, times h²."""
    velocity = u[..., 1:4] / u[..., :1]
    speed2 = (velocity**2).sum(axis=-1)
    terms = np.zeros_like(u)
    terms[..., 1:4] = C3C4 * velocity
    terms[..., 1 + axis] *= FOUR_THIRDS
    terms[..., 4] = (
        0.5 * C3C4 * (1.0 - C1 * C1) * speed2 + C3C4 / 6.0 * velocity[..., axis] ** 2 + C1345 * u[..., 4] / u[..., 0]
    )
    return terms


def _fourth_difference(u, axis):
    """(1, −4, 6, −4, 1) inside; next to a boundary the terms on or beyond it are modified.

    At the first inner point 5 stands for 6 and both outer terms are left out; at the second the
    term on the boundary is left out; the same from the other side.
    """
    points = u.shape[0]
    total = np.zeros_like(u[1:-1, 1:-1, 1:-1])
    for place in range(1, points - 1):
        line = [slice(None)] * 3
        line[2 - axis] = place - 1
        weights = {0: 6.0, -1: -4.0, 1: -4.0, -2: 1.0, 2: 1.0}
        for side, distance in ((-1, place), (1, points - 1 - place)):
            if distance <= 2:
                weights[2 * side] = 0.0
            if distance == 1:
                weights[side] = 0.0
                weights[0] = 5.0
        for offset, weight in weights.items():
            if weight:
                window = [slice(1, -1)] * 3
                window[2 - axis] = place + offset
                total[tuple(line)] += weight * u[tuple(window)]
    return total


def spatial_operator(u):
    """−∂F/∂x − … + viscous terms − dissipation at interior points, without the forcing."""
    h = 1.0 / (u.shape[0] - 1)
    total = np.zeros_like(u)
    inner = total[1:-1, 1:-1, 1:-1]
    for axis in range(3):
        flux, viscous = _convective(u, axis), _viscous(u, axis)
        inner -= (_shifted(flux, axis, 1) - _shifted(flux, axis, -1)) / (2 * h)
        diffused = viscous + SECOND[axis] * u
        inner += (_shifted(diffused, axis, 1) - 2 * _shifted(diffused, axis, 0) + _shifted(diffused, axis, -1)) / h**2
        inner -= FOURTH * _fourth_difference(u, axis)
    return total


def forcing(points):
    """The term that makes the exact solution steady: minus the operator applied to it."""
    return -spatial_operator(exact_solution(points))


def right_hand_side(u, force, dt):
    """dt · (operator + forcing) at interior points, zero on the boundary."""
    return dt * (spatial_operator(u) + force)


def flux_jacobian(u, axis):
    """∂F/∂U of the convective flux, shape (…, 5, 5)."""
    rho, energy = u[..., 0], u[..., 4] / u[..., 0]
    velocity = u[..., 1:4] / rho[..., None]
    normal = velocity[..., axis]
    q = 0.5 * (velocity**2).sum(axis=-1)
    jacobian = np.zeros((*u.shape, 5))
    jacobian[..., 0, 1 + axis] = 1.0
    for m in range(3):
        jacobian[..., 1 + m, 0] = -velocity[..., m] * normal
        jacobian[..., 1 + m, 1 + m] += normal
        jacobian[..., 1 + m, 1 + axis] += velocity[..., m]
        jacobian[..., 1 + axis, 1 + m] -= C2 * velocity[..., m]
        jacobian[..., 4, 1 + m] = -C2 * velocity[..., m] * normal
    jacobian[..., 1 + axis, 0] += C2 * q
    jacobian[..., 1 + axis, 4] = C2
    jacobian[..., 4, 0] = (2 * C2 * q - C1 * energy) * normal
    jacobian[..., 4, 1 + axis] += C1 * energy - C2 * q
    jacobian[..., 4, 4] = C1 * normal
    return jacobian


def viscous_jacobian(u, axis):
    """∂/∂U of the viscous terms as the benchmark linearises them, shape (…, 5, 5)."""
    rho, energy = u[..., 0], u[..., 4] / u[..., 0]
    velocity = u[..., 1:4] / rho[..., None]
    factors = np.full(3, C3C4)
    factors[axis] *= FOUR_THIRDS
    jacobian = np.zeros((*u.shape, 5))
    for m in range(3):
        jacobian[..., 1 + m, 0] = -factors[m] * velocity[..., m] / rho
        jacobian[..., 1 + m, 1 + m] = factors[m] / rho
        jacobian[..., 4, 1 + m] = (factors[m] - C1345) * velocity[..., m] / rho
    jacobian[..., 4, 0] = -(((factors - C1345) * velocity**2).sum(axis=-1) + C1345 * energy) / rho
    jacobian[..., 4, 4] = C1345 / rho
    return jacobian


def solve_lines(u, rhs, axis, dt):
    """Solve (I + dt · ∂/∂x …) Δ = rhs along every line of direction ``axis``; rhs is replaced.

    Block-tridiagonal elimination with full 5×5 blocks; the first and last unknown are zero.
    """
    points = u.shape[0]
    h = 1.0 / (points - 1)
    lines = np.moveaxis(u, 2 - axis, 0)[:, 1:-1, 1:-1]
    right = np.moveaxis(rhs, 2 - axis, 0)[:, 1:-1, 1:-1]
    identity = np.eye(5)
    convect = dt / (2 * h) * flux_jacobian(lines, axis)
    diffuse = dt / h**2 * (viscous_jacobian(lines, axis) + SECOND[axis] * identity)
    upper = np.zeros((points, *lines.shape[1:], 5))
    for n in range(1, points - 1):
        below = -convect[n - 1] - diffuse[n - 1]
        above = convect[n + 1] - diffuse[n + 1]
        diagonal = identity + 2 * diffuse[n] - below @ upper[n - 1]
        vector = right[n] - (below @ right[n - 1][..., None])[..., 0]
        solved = np.linalg.solve(diagonal, np.concatenate([above, vector[..., None]], axis=-1))
        upper[n], right[n] = solved[..., :5], solved[..., 5]
    for n in range(points - 2, 0, -1):
        right[n] -= (upper[n] @ right[n + 1][..., None])[..., 0]


def step(u, force, dt):
    """One time step in place: right-hand side, x, y and z sweep, update."""
    change = right_hand_side(u, force, dt)
    for axis in range(3):
        solve_lines(u, change, axis, dt)
    u += change


def march(points, steps, dt):
    """Field after ``steps`` steps from the initial field, indexed [k, j, i, m]."""
    u, force = initial_field(points), forcing(points)
    for _ in range(steps):
        step(u, force, dt)
    return u


def norms(u, force):
    """(residual, error): the benchmark's root-mean-square norms, five components each."""
    inner = (u.shape[0] - 2) ** 3
    residual = spatial_operator(u) + force
    error = u - exact_solution(u.shape[0])
    return (np.sqrt((residual**2).sum(axis=(0, 1, 2)) / inner), np.sqrt((error**2).sum(axis=(0, 1, 2)) / inner))
