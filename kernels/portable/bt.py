"""BT from its initial field to its norms in compiled code: what ``kernels.bt.solver`` does with NumPy.

``points`` is the number of cells of the cube along an axis, i, j and k are those of a cell, ``m`` is a component;
``place`` (:class:`Place`) says where in a flat field a cell is; ``parts``, flat, are those of ``exact_parts``.
"""

import numpy as np
from numba import carray

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.kernels.bt.lines import Direction, Ends, Place
from supercomputers_rerun.kernels.bt.problem import SECOND, exact_parts
from supercomputers_rerun.kernels.bt.solver import Box
from supercomputers_rerun.kernels.bt.step import planes, slabs
from supercomputers_rerun.kernels.portable.case import Answer, Array, Call, Case
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.wasm import Export

_COMPONENTS = ("ρ", "ρu", "ρv", "ρw", "E")
_NONE, _ALL = (False, False, False), (True, True, True)  # directions solved


@kernel
def _row(place, k, j, m):
    """Where the row of component m begins that has the cells of ``j`` and ``k``."""
    return np.int64(place.base) + k * np.int64(place.plane) + (5 * j + m) * np.int64(place.row)


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
def _fill(u, place, parts, points, exact):
    """``u`` becomes the ``exact`` solution, or else the initial field."""
    for k in range(points):
        for j in range(points):
            for m in range(5):
                at = _row(place, k, j, m)
                for i in range(points):
                    if exact:
                        u[at + i] = _exact(parts, points, i, j, k, m)
                    else:
                        u[at + i] = _initial(parts, points, i, j, k, m)


@kernel
def _geometry(table, place, points, dt):
    """``geometry`` of the cube, see ``kernels.bt.step``; ``dt``: time step; ``table``: weights of dissipation, flat."""
    h, both = 1.0 / (points - 1.0), Ends(True, True)
    across = Direction(dt, table[: 5 * points], SECOND[0], h)
    return place, (across, across, Direction(dt, table[5 * points :], SECOND[2], h)), (both, both, both)


@kernel
def _right_hand_side(fields, geometry, work):
    """``rhs`` = ``forcing``, which has the factor dt, + dt · the operator on ``u``, by one thread; ``fields``,
    ``geometry`` and ``work`` as in ``kernels.bt.step``."""
    slabs(fields, geometry, _NONE, work, 1, 0)
    planes(fields, geometry, _NONE, work, 1, 0)


@kernel
def _state(u, rhs, forcing, table, work, shape):
    """The arrays behind the addresses ``u``, ``rhs``, ``forcing``, ``table`` and ``work``, and the place; ``shape`` is
    points, row, plane, base, size, scratch."""
    points, row, plane, base, size, scratch = shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]
    fields, n = (carray(u, (size,)), carray(rhs, (size,)), carray(forcing, (size,))), np.uint64(points)
    place = Place(np.uint64(base), np.uint64(plane), np.uint64(row), n, n, n, np.uint64(0))
    return fields, carray(table, (10 * points,)), carray(work, (1, scratch)), place, points


def begin(u, rhs, forcing, start, table, parts, work, shape, dt):
    """The initial field into ``start``, and the forcing: minus the operator on the exact solution."""
    shape = carray(shape, (6,))
    fields, table, work, place, points = _state(u, rhs, forcing, table, work, shape)
    u, rhs, forcing = fields
    start, parts = carray(start, (u.size,)), carray(parts, (5 + 15 * points,))
    start[:] = 1.0
    u[:] = 1.0
    rhs[:] = 0.0
    forcing[:] = 0.0
    _fill(start, place, parts, points, False)
    _fill(u, place, parts, points, True)
    _right_hand_side(fields, _geometry(table, place, points, dt), work)
    for i in range(u.size):
        forcing[i] = -rhs[i]


def march(u, rhs, forcing, start, table, work, shape, dt, steps, repeats):
    """``repeats`` times: back to the initial field, then the steps."""
    shape = carray(shape, (6,))
    fields, table, work, place, points = _state(u, rhs, forcing, table, work, shape)
    u, _, _ = fields
    start = carray(start, (u.size,))
    geometry = _geometry(table, place, points, dt)
    for _ in range(repeats):
        for i in range(u.size):
            u[i] = start[i]
        slabs(fields, geometry, _NONE, work, 1, 0)
        for _step in range(steps):
            planes(fields, geometry, _ALL, work, 1, 0)
            slabs(fields, geometry, _ALL, work, 1, 0)


def norms(u, rhs, forcing, table, parts, work, shape, dt, answers):
    """Five residual norms, then five error norms, see ``kernels.bt.solver``."""
    shape = carray(shape, (6,))
    fields, table, work, place, points = _state(u, rhs, forcing, table, work, shape)
    u, rhs, _ = fields
    parts, answers = carray(parts, (5 + 15 * points,)), carray(answers, (10,))
    _right_hand_side(fields, _geometry(table, place, points, dt), work)
    for m in range(5):
        residual = error = 0.0
        for k in range(points):
            for j in range(points):
                at = _row(place, k, j, m)
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
    box, published = Box(problem.N, problem.dt), problem.published
    table = np.concatenate([box.directions[axis].weights for axis in (0, 2)])
    constant, parts = exact_parts(problem.N)
    scratch = box.work_size
    shape = (problem.N, box.row, box.plane, int(box.place.base), box.size, scratch)
    fields = {name: Array(_F, box.size) for name in ("u", "rhs", "forcing", "start")}
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
