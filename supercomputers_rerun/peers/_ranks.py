"""What every rank of the MPI comparisons runs: our side and the C side on the same buffers, as it is told.

``python -m supercomputers_rerun.peers._ranks LIBRARIES ORDERS ANSWERS``: JSON, a
list of shared objects made from ``c/mpi.c``, and two named
pipes that rank 0 opens.  An order is four numbers: bytes of a message, side (0 ours, then the libraries), repeats, and
whether to check; the answer is the number of wrong words.  Messages of no bytes end the ranks.
"""

import ctypes
import json
import sys
from contextlib import ExitStack

import numpy as np

from supercomputers_rerun.kernels.mpi import exchange, world


def _sides(libraries, problem, state) -> list:
    """``side(repeats)`` of us and of every library."""

    def in_c(library):
        comm, words = ctypes.c_void_p(world.mpi()._addressof(state.comm)), ctypes.c_int(state.out.size)
        out, into = (ctypes.c_void_p(array.ctypes.data) for array in (state.out, state.into))
        return lambda repeats: library.exchange(comm, state.partner, out, into, words, ctypes.c_int64(repeats))

    return [lambda repeats: exchange.run(problem, state, repeats=repeats), *map(in_c, libraries)]


def main() -> None:
    world.end_with_parent()
    made, orders, answers = sys.argv[1:]
    comm, libraries = world.mpi().COMM_WORLD, [ctypes.CDLL(path) for path in json.loads(made)]
    order, known = np.zeros(4, np.int64), {}
    with ExitStack() as files:
        if comm.rank == 0:
            asked, told = files.enter_context(open(orders)), files.enter_context(open(answers, "w"))
        while True:
            if comm.rank == 0:
                order[:] = [int(word) for word in asked.readline().split()] or (0, 0, 0, 0)
            comm.Bcast(order)
            nbytes, side, repeats, check = map(int, order)
            if not nbytes:
                return
            if nbytes not in known:
                problem = exchange.Problem(nbytes, comm.size)
                state = exchange.setup(problem)
                known = {nbytes: (problem, state, _sides(libraries, problem, state))}
            problem, state, sides = known[nbytes]
            if check:
                state.into[:] = -1
            sides[side](repeats)
            wrong = int((state.into != exchange.reference(problem, state).into).sum()) if check else 0
            wrong = world.total(comm, wrong)
            if comm.rank == 0:
                print(int(wrong), file=told, flush=True)


if __name__ == "__main__":
    main()
