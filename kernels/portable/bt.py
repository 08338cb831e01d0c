"""BT from its initial field to its norms in compiled code: what ``kernels.bt.solver`` does with NumPy.

``points`` is the number of cells of the cube along an axis, i, j and k are those of a cell, ``m`` is a component;
``grid`` (:class:`Grid`) says where in a flat field, such as ``u`` and ``rhs``, a cell is; ``parts``, flat, are those of
``exact_parts``.
"""

import numpy as np
from numba import carray

from kernels import bt
from kernels.bt.differences import weights
from kernels.bt.lines import Direction, Grid
from kernels.bt.problem import SECOND, exact_parts
from kernels.bt.solver import Layout
from kernels.bt.step import planes, rows, work_size
from kernels.portable.case import Answer, Array, Call, Case
from kernels.runtime.jit import kernel
from kernels.runtime.wasm import Export

_COMPONENTS = ("ρ", "ρu", "ρv", "ρw", "E")


@kernel
def _place(grid, k, j, m):
    """Where the row of component m begins that has the cells of ``j`` and ``k``."""
    return np.int64(grid.base) + k * np.int64(grid.plane) + (5 * j + m) * np.int64(grid.row)


@kernel
def _part(parts, points, axis, m, i):
    """What the ``i``-th point along an ``axis`` adds to component m."""
    return parts[5 + (5 * axis + m) * points + i]


@kernel
def _exact(parts, points, i, j, k, m):
    """The exact solution at the point (``i``, ``j``, ``k``)."""
    return parts[m] + _part(parts, points, 0, m, i) + _part(parts, points, 1, m, j) + _part(parts, points, 2, m, k)


@kernel
def _between(parts, points, axis, m, i):
    """``_part`` of an ``axis`` at point ``i``, interpolated between its ends."""
    s, last = i / (points - 1.0), points - 1
    return s * _part(parts, points, axis, m, last) + (1.0 - s) * _part(parts, points, axis, m, 0)


@kernel
def _initial(parts, points, i, j, k, m):
    """As ``problem.initial_component`` has it at (``i``, ``j``, ``k``), operation for operation; the faces themselves
    are exact."""
    last, c = points - 1, parts[m]
    if i * j * k == 0 or i == last or j == last or k == last:
        return _exact(parts, points, i, j, k, m)
    x, y, z = _part(parts, points, 0, m, i), _part(parts, points, 1, m, j), _part(parts, points, 2, m, k)
    along_x = c + _between(parts, points, 0, m, i) + y + z
    along_y = c + x + _between(parts, points, 1, m, j) + z
    along_z = c + x + y + _between(parts, points, 2, m, k)
    field = along_x + along_y + along_z - along_x * along_y - along_x * along_z - along_y * along_z
    return field + along_x * along_y * along_z


@kernel
def _fill(u, grid, parts, points, exact):
    """``u`` becomes the ``exact`` solution, or else the initial field."""
    for k in range(points):
        for j in range(points):
            for m in range(5):
                at = _place(grid, k, j, m)
                for i in range(points):
                    if exact:
                        u[at + i] = _exact(parts, points, i, j, k, m)
                    else:
                        u[at + i] = _initial(parts, points, i, j, k, m)


@kernel
def _directions(table, points, dt):
    """The :class:`Direction` of x and y and that of z, with a time step of ``dt`` and the weights of dissipation in
    ``table``, flat (10 · points,)."""
    h = 1.0 / (points - 1.0)
    across = Direction(dt, table[: 5 * points], SECOND[0], h)
    return across, Direction(dt, table[5 * points :], SECOND[2], h)


@kernel
def _right_hand_side(u, rhs, forcing, grid, directions, work):
    """``rhs`` = ``forcing``, which has the factor dt, + dt · the operator on ``u``, by one thread; ``directions`` of
    :func:`_directions`, scratch ``work``."""
    last = np.int64(grid.points) - 1
    rows(u, rhs, forcing, grid, directions[1], False, work, 1, last)
    planes(u, rhs, grid, directions[0], False, work, 1, last)


@kernel
def _state(u, rhs, forcing, table, work, shape):
    """The arrays behind the addresses ``u``, ``rhs``, ``forcing``, ``table`` and ``work``, and the grid; ``shape`` is
    points, row, plane, base, size, scratch."""
    points, row, plane, base, size, scratch = shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]
    fields = carray(u, (size,)), carray(rhs, (size,)), carray(forcing, (size,))
    grid = Grid(np.uint64(base), np.uint64(plane), np.uint64(row), np.uint64(points))
    return fields, carray(table, (10 * points,)), carray(work, (scratch,)), grid, points


def begin(u, rhs, forcing, start, table, parts, work, shape, dt):
    """The initial field into ``start``, and the forcing: minus the operator on the exact solution."""
    shape = carray(shape, (6,))
    (u, rhs, forcing), table, work, grid, points = _state(u, rhs, forcing, table, work, shape)
    start, parts = carray(start, (u.size,)), carray(parts, (5 + 15 * points,))
    start[:] = 1.0
    u[:] = 1.0
    rhs[:] = 0.0
    forcing[:] = 0.0
    _fill(start, grid, parts, points, False)
    _fill(u, grid, parts, points, True)
    _right_hand_side(u, rhs, forcing, grid, _directions(table, points, dt), work)
    for k in range(1, points - 1):
        for j in range(1, points - 1):
            for m in range(5):
                at = _place(grid, k, j, m)
                for i in range(1, points - 1):
                    forcing[at + i] = -rhs[at + i]


def march(u, rhs, forcing, start, table, work, shape, dt, steps, repeats):
    """``repeats`` times: back to the initial field, then the steps."""
    shape = carray(shape, (6,))
    (u, rhs, forcing), table, work, grid, points = _state(u, rhs, forcing, table, work, shape)
    start = carray(start, (u.size,))
    across, along_z = _directions(table, points, dt)
    for _ in range(repeats):
        for i in range(u.size):
            u[i] = start[i]
        rows(u, rhs, forcing, grid, along_z, False, work, 1, points - 1)
        for _step in range(steps):
            planes(u, rhs, grid, across, True, work, 1, points - 1)
            rows(u, rhs, forcing, grid, along_z, True, work, 1, points - 1)


def norms(u, rhs, forcing, table, parts, work, shape, dt, answers):
    """Five residual norms, then five error norms, see ``kernels.bt.solver``."""
    shape = carray(shape, (6,))
    (u, rhs, forcing), table, work, grid, points = _state(u, rhs, forcing, table, work, shape)
    parts, answers = carray(parts, (5 + 15 * points,)), carray(answers, (10,))
    _right_hand_side(u, rhs, forcing, grid, _directions(table, points, dt), work)
    for m in range(5):
        residual = error = 0.0
        for k in range(points):
            for j in range(points):
                at = _place(grid, k, j, m)
                inner = 0 < k < points - 1 and 0 < j < points - 1
                for i in range(points):
                    error += (u[at + i] - _exact(parts, points, i, j, k, m)) ** 2
                    if inner and 0 < i < points - 1:
                        residual += rhs[at + i] ** 2
        answers[m] = np.sqrt(residual / (points - 2.0) ** 3) / dt
        answers[5 + m] = np.sqrt(error / (points - 2.0) ** 3)


_F, _I = "float64[]", "int64[]"
EXPORTS = (
    Export("bt_begin", begin, (_F,) * 7 + (_I, "float64")),
    Export("bt_march", march, (_F,) * 6 + (_I, "float64", "int64", "int64")),
    Export("bt_norms", norms, (_F,) * 6 + (_I, "float64", _F)),
)


def case(name: str) -> Case:
    """One class of the benchmark, by its letter."""
    problem = bt.Problem.preset(name)
    layout, published = Layout.of(problem.N), problem.published
    table = np.concatenate([weights(problem.N, problem.dt, SECOND[axis]).ravel() for axis in (0, 2)])
    constant, parts = exact_parts(problem.N)
    scratch = work_size(problem.N)
    shape = (problem.N, layout.row, layout.plane, layout.base, layout.size, scratch)
    fields = {name: Array(_F, layout.size) for name in ("u", "rhs", "forcing", "start")}
    answers = tuple(
        Answer(f"{kind} norm of {component}", value, bt.TOLERANCE * value)
        for kind in ("residual", "error")
        for component, value in zip(_COMPONENTS, getattr(published, kind), strict=True)
    )
    return Case(
        name=f"bt-{name}",
        label=f"BT class {name}",
        kernel="bt",
        problem={"N": problem.N, "NS": problem.NS, "dt": problem.dt},
        arrays={
            **fields,
            "table": Array(_F, table.size, tuple(table.tolist())),
            "parts": Array(_F, 5 + 15 * problem.N, (*constant.tolist(), *parts.ravel().tolist())),
            "work": Array(_F, scratch),
            "shape": Array(_I, 6, shape),
        },
        whole={"steps": problem.NS},
        real={"dt": problem.dt},
        prepare=(Call("bt_begin", ("u", "rhs", "forcing", "start", "table", "parts", "work", "shape", "dt")),),
        run=Call("bt_march", ("u", "rhs", "forcing", "start", "table", "work", "shape", "dt", "steps", "repeats")),
        verify=Call("bt_norms", ("u", "rhs", "forcing", "table", "parts", "work", "shape", "dt", "answers")),
        answers=answers,
        work=bt.work(problem),
    )
