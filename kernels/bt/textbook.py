"""The same time steps one line at a time, with full 5×5 blocks and a pass for each direction: a slower base code.

What a plain compiled program does: the right-hand side of the whole grid, then one block-tridiagonal system after
the other in x, in y and in z, then the update.  Nothing is fused, no two lines share a vector, and the zeros of
the blocks are multiplied like any other number.  NHT-1 asks how an overhead depends on the code that it is held
against (section 4).
"""

from collections.abc import Callable

import numpy as np

from kernels import bt
from kernels.bt import PROOF, Problem, Result, State, footprint, reset, setup, solution, verify, work
from kernels.bt.problem import C1, C2, C3C4, C1345, FOUR_THIRDS, SECOND
from kernels.bt.solver import Stepper, error_norm, residual_norm
from kernels.runtime.jit import CONTRACT, kernel
from kernels.runtime.resources import require_threads

__all__ = ["PROOF", "Problem", "Result", "State", "footprint", "march", "reference", "reset", "run", "setup",
           "solution", "verify", "work"]  # fmt: skip


@kernel
def _jacobians(u, axis, flux, viscous):
    """∂F/∂U of the convective flux and ∂/∂U of the viscous terms at one point; both float64 (5, 5), written.

    ``u`` is float64 (5,): density, momenta, energy; ``axis`` 0, 1 or 2.
    """
    flux[:], viscous[:] = 0.0, 0.0
    rho, energy, normal = u[0], u[4] / u[0], u[1 + axis] / u[0]
    q = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (rho * rho)
    flux[0, 1 + axis] = 1.0
    heat = C1345 * energy
    for m in range(3):
        velocity, factor = u[1 + m] / rho, C3C4 * (FOUR_THIRDS if m == axis else 1.0)
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


@kernel(fastmath=CONTRACT)
def _eliminate(diagonal, right):
    """Solve 5×5 ``diagonal`` for the six columns of ``right`` (5, 6), which the solutions replace; no pivots."""
    for p in range(5):
        pivot = 1.0 / diagonal[p, p]
        for m in range(p, 5):
            diagonal[p, m] *= pivot
        for m in range(6):
            right[p, m] *= pivot
        for i in range(5):
            if i != p:
                factor = diagonal[i, p]
                for m in range(p, 5):
                    diagonal[i, m] -= factor * diagonal[p, m]
                for m in range(6):
                    right[i, m] -= factor * right[p, m]


@kernel(fastmath=CONTRACT)
def _line(u, r, axis, dt, second, blocks):
    """Solve (I + dt ∂/∂x …) Δ = r along one line of the direction ``axis``: 0, 1 or 2 for x, y or z.

    ``u`` and ``r`` are float64 (N, 5), the second replaced; ``blocks`` float64 (3, N, 5, 5) of scratch: convection,
    diffusion and what is above the diagonal; ``second`` the second-difference dissipation of this direction.  Loops,
    since an expression of whole blocks would allocate one at every point.
    """
    points = u.shape[0]
    convect, diffuse, upper = blocks[0], blocks[1], blocks[2]
    h = 1.0 / (points - 1)
    for n in range(points):
        _jacobians(u[n], axis, convect[n], diffuse[n])
        for i in range(5):
            for m in range(5):
                convect[n, i, m] *= dt / (2.0 * h)
                diffuse[n, i, m] *= dt / h**2
            diffuse[n, i, i] += dt / h**2 * second
    upper[0] = 0.0
    diagonal, right = np.empty((5, 5)), np.empty((5, 6))
    for n in range(1, points - 1):
        for i in range(5):
            right[i, 5] = r[n, i]
            for m in range(5):
                right[i, m] = convect[n + 1, i, m] - diffuse[n + 1, i, m]
                diagonal[i, m] = 2.0 * diffuse[n, i, m]
            diagonal[i, i] += 1.0
            for k in range(5):
                below = -convect[n - 1, i, k] - diffuse[n - 1, i, k]
                right[i, 5] -= below * r[n - 1, k]
                for m in range(5):
                    diagonal[i, m] -= below * upper[n - 1, k, m]
        _eliminate(diagonal, right)
        for i in range(5):
            r[n, i] = right[i, 5]
            for m in range(5):
                upper[n, i, m] = right[i, m]
    for n in range(points - 2, 0, -1):
        for i in range(5):
            for k in range(5):
                r[n, i] -= upper[n, i, k] * r[n + 1, k]


@kernel
def _sweep(u, rhs, axis, dt, second):
    """All lines of one direction; ``u`` and ``rhs`` are float64 [k, j, m, i], the second replaced inside.

    ``axis``, ``dt`` and ``second`` as for :func:`_line`.
    """
    points = u.shape[0]
    line, right = np.empty((points, 5)), np.empty((points, 5))
    blocks = np.empty((3, points, 5, 5))
    for a in range(1, points - 1):
        for b in range(1, points - 1):
            for n in range(points):
                for m in range(5):
                    if axis == 0:
                        line[n, m], right[n, m] = u[a, b, m, n], rhs[a, b, m, n]
                    elif axis == 1:
                        line[n, m], right[n, m] = u[a, n, m, b], rhs[a, n, m, b]
                    else:
                        line[n, m], right[n, m] = u[n, a, m, b], rhs[n, a, m, b]
            _line(line, right, axis, dt, second, blocks)
            for n in range(1, points - 1):
                for m in range(5):
                    if axis == 0:
                        rhs[a, b, m, n] = right[n, m]
                    elif axis == 1:
                        rhs[a, n, m, b] = right[n, m]
                    else:
                        rhs[n, a, m, b] = right[n, m]


def march(
    problem: Problem, state: State, steps: int, threads: int = 1, on_step: Callable[[int, State], object] | None = None
) -> None:
    """Advance by ``steps`` time steps on one thread, as ``bt.march``; ``threads`` is only checked."""
    require_threads(threads)
    stepper, u = Stepper(state), state.layout.view(state.u)
    inner = (slice(1, -1),) * 2 + (slice(None), slice(1, -1))
    for number in range(1, steps + 1):
        rhs = stepper.right_hand_side()
        for axis in range(3):
            _sweep(u, rhs, axis, problem.dt, SECOND[axis])
        u[inner] += rhs[inner]
        if on_step is not None:
            on_step(number, state)


def run(problem: Problem, state: State, threads: int = 1, repeats: int = 1) -> Result:
    """``repeats`` times: back to the initial field, then NS steps.  Returns the norms at the end."""
    for _ in range(repeats):
        reset(state)
        march(problem, state, problem.NS, threads)
    return Result(residual_norm(state), error_norm(state))


def reference(problem: Problem, state: State | None = None) -> Result:
    """The same norms from plain NumPy, for N ≤ 40."""
    return bt.reference(problem, state)
