"""What every rank of the MPI comparisons runs: our side and the C side on the same buffers, as it is told.

``python -m peers._ranks LIBRARIES ORDERS ANSWERS PROBLEMS``: JSON, a list of shared objects made from ``c/mpi.c``, two
named pipes that rank 0 opens, and JSON, a list of ``[kernel, fields of its Problem]``.  An order is four numbers:
problem, side (0 ours, then the libraries), repeats, and whether to check; the answer is the number of wrong values.
A problem below zero ends the ranks.
"""

import ctypes
import importlib
import json
import sys
from contextlib import ExitStack

import numpy as np

from kernels import mpi
from kernels.mpi import world
from kernels.mpi.moves import Moves


class _Collective(ctypes.Structure):
    _fields_ = [("comm", ctypes.c_void_p)] + [(f"counts_{n}", ctypes.c_void_p) for n in range(4)]


class _Moves(ctypes.Structure):
    _fields_ = (
        [(name, _Collective) for name in ("to_lines", "to_grid", "to_columns", "to_waves")]
        + [(name, ctypes.c_int64) for name in ("across", "fields", "points", "band", "others", "blocks")]
        + [(name, ctypes.c_void_p) for name in ("pieces", "from", "to", "sizes", "lines", "columns")]
    )


def _collective(plan) -> _Collective:
    arrays = (*plan.send, *plan.receive)
    return _Collective(world.mpi()._addressof(plan.comm), *(array.ctypes.data for array in arrays))


def _moves(moves: Moves) -> _Moves:
    plans = (moves.to_lines, moves.to_grid, moves.to_columns, moves.to_waves)
    arrays = (moves.pieces, moves._from, moves._to, moves._sizes, moves._lines, moves._columns)
    assert all(array.dtype == np.int64 and array.flags.c_contiguous for array in arrays[:4])
    numbers = moves.mesh.V, moves.fields, moves.points, moves.band_points, moves._others, moves._sizes.size
    return _Moves(*map(_collective, plans), *numbers, *(array.ctypes.data for array in arrays))


def _exchange(library, state):
    comm, size = ctypes.c_void_p(world.mpi()._addressof(state.comm)), ctypes.c_int(state.out.size)
    out, into = (ctypes.c_void_p(array.ctypes.data) for array in (state.out, state.into))
    return lambda repeats: library.exchange(comm, state.partner, out, into, size, ctypes.c_int64(repeats))


def _transposition(library, state):
    moves = _moves(state.moves)
    arrays = (state.grid, state.lines, state.waves, state.columns, state.waves_back, state.grid_back)
    places = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    return lambda repeats: library.transposition(ctypes.byref(moves), *places, ctypes.c_int64(repeats))


_IN_C = {"exchange": _exchange, "transposition": _transposition}
_RECEIVED = {"exchange": ("into",), "transposition": ("lines", "columns", "waves_back", "grid_back")}


class _Work:
    """One problem with its buffers, and all sides."""

    def __init__(self, libraries, name, fields):
        kernel = importlib.import_module(f"{mpi.__name__}.{name}")
        self.problem = problem = kernel.Problem(**fields)
        self.state = state = kernel.setup(problem)
        in_c = (_IN_C[name](library, state) for library in libraries)
        self.sides = (lambda repeats: kernel.run(problem, state, repeats=repeats), *in_c)
        self.kernel, self.received = kernel, [getattr(state, array) for array in _RECEIVED[name]]
        self.names = _RECEIVED[name]

    def checked(self, comm, side, repeats) -> float:
        """Run once on cleared buffers: values of all ranks that differ from the reference."""
        for array in self.received:
            array[...] = -1
        self.sides[side](repeats)
        true = self.kernel.reference(self.problem, self.state)
        pairs = zip(self.received, (getattr(true, name) for name in self.names), strict=True)
        return world.total(comm, sum(int((found != expected).sum()) for found, expected in pairs))


def main() -> None:
    world.end_with_parent()
    made, orders, answers, problems = sys.argv[1:]
    comm, problems = world.mpi().COMM_WORLD, json.loads(problems)
    libraries = [ctypes.CDLL(path) for path in json.loads(made)]
    order, work, number = np.zeros(4, np.int64), None, -1
    with ExitStack() as files:
        if comm.rank == 0:
            asked, told = files.enter_context(open(orders)), files.enter_context(open(answers, "w"))
        while True:
            if comm.rank == 0:
                order[:] = [int(word) for word in asked.readline().split()] or (-1, 0, 0, 0)
            comm.Bcast(order)
            wanted, side, repeats, check = map(int, order)
            if wanted < 0:
                return
            if wanted != number:
                number, work = wanted, _Work(libraries, *problems[wanted])
            if check:
                wrong = work.checked(comm, side, repeats)
            else:
                work.sides[side](repeats)
                wrong = 0.0
            comm.Barrier()
            if comm.rank == 0:
                print(int(wrong), file=told, flush=True)


if __name__ == "__main__":
    main()
