"""Run by every rank: verify problems of kernels on as many ranks as each asks for.

Takes JSON: a list of ``[name below kernels, fields of its Problem]``.  Rank 0 tells the checks of each, before and
after a repeated run.
"""

import importlib
import json
import sys
import traceback

from companion.mpi.job import send
from kernels.contract import Check
from kernels.mpi import world


def counted(kernel, problem, state, comm):
    """The bytes of Legendre functions that all ranks hold, against what ``footprint`` counts."""
    if kernel.__name__ != "kernels.spectral.ranks":
        return []
    held = world.total(comm, sum(part.nbytes for parts in state.transform._matrices for part in parts))
    return [Check.near("bytes of Legendre functions", held, kernel.table_bytes(problem.mesh), 0)]


def verified(kernel, fields):
    """Checks of one problem, on the ranks that take part; None on the others."""
    problem = kernel.Problem(**fields)
    comm = world.team(problem.ranks)
    if comm is None:
        return None
    state = kernel.setup(problem)
    checks = kernel.verify(problem, kernel.run(problem, state))
    checks += kernel.verify(problem, kernel.run(problem, state, repeats=2)) + counted(kernel, problem, state, comm)
    if hasattr(kernel, "close"):
        kernel.close(state)
    return {"fields": fields, "checks": [[check.name, check.value, check.expected, bool(check.ok)] for check in checks]}


def over(look):
    """What ``look(kernel, fields)`` finds for each problem on the command line, told by rank 0."""
    comm = world.mpi().COMM_WORLD
    for name, fields in json.loads(sys.argv[1]):
        try:
            found = look(importlib.import_module(f"kernels.{name}"), fields)
        except BaseException:
            traceback.print_exc()
            comm.Abort(1)
        world.wait_aside(comm)
        if comm.rank == 0:
            send({"kernel": name, **found})


if __name__ == "__main__":
    over(verified)
