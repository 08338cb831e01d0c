"""``python -m supercomputers_rerun.companion.mpi.job ID …``: what every rank of an experiment runs.

Started by ``mpiexec``, ``srun`` or any other launcher; ``companion run ID --ranks N`` does it on
this machine.  Rank 0 writes the record into ``--out``; without that it tells it to the launcher, piece by piece, so
that no disk can lose it on the way.
"""

import json
import os
import time
import traceback
from contextlib import nullcontext
from pathlib import Path

from supercomputers_rerun.companion.common import Parser
from supercomputers_rerun.companion.mpi.launcher import KINDS, PREFIX

#: Characters of a record in one message: a line that a pipe takes in one piece, also where each is escaped.
PIECE = 2000
#: Seconds in which the launcher hears of an error and ends the job.
_NOTICE = 2.0


def send(message: dict) -> None:
    """One line to the launcher, in one piece."""
    os.write(1, f"{PREFIX}{json.dumps(message)}\n".encode())


def fail(comm, error: BaseException) -> None:
    """Tell the launcher of an error that a rank met, and end the job, whose other ranks may wait for this one.

    An error of MPI itself may be the echo of another rank's death, which is the cause: it is printed and not told.
    """
    from supercomputers_rerun.kernels.mpi import world

    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in KINDS]
    if not kinds:
        os.write(1, "".join(traceback.format_exception(error)).encode())
    if not isinstance(error, world.mpi().Exception):
        kind = kinds[0] if kinds else type(error).__name__
        send({"error": kind, "text": " ".join(str(error).split()), "rank": comm.rank})
    time.sleep(_NOTICE)
    comm.Abort(1)


def _record(comm, world, out, **asked):
    from supercomputers_rerun.companion import bench, common, experiments, host
    from supercomputers_rerun.companion.mpi.ranks import Ranks
    from supercomputers_rerun.companion.records import runs

    given = experiments.Asked(ranks=comm.size, **asked)
    entry, cases = experiments.accept(given, started=True)
    found = world.describe(comm)
    hosts = found["host_of_rank"]
    host.require_share(cases, comm.size, hosts.count(hosts[comm.rank]))
    with common.prepared(out) if comm.rank == 0 and out else nullcontext():
        record = experiments.record_of(given, entry, cases, Ranks(world))
        if comm.rank:
            return
        record["machine"]["mpi"] = bench.jsonable(found)
        if out:
            send({"record": str(runs.save(record, out))})
            return
        text = json.dumps(record)
        for at in range(0, len(text), PIECE):
            send({"piece": text[at : at + PIECE]})


def main() -> None:
    """What every rank of an experiment runs."""
    from supercomputers_rerun.kernels.mpi import world

    parser = Parser("job", description=__doc__)
    parser.add_argument("id", metavar="experiment")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--threads", type=int, default=1, help="threads of every rank")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, help="seconds")
    parser.add_argument("--rounds", type=int, help="samples per case")
    parser.add_argument("--out", type=Path, help="folder for the record; without it the launcher is told")
    asked = vars(parser.parse_args())
    world.end_with_parent()
    comm = world.mpi().COMM_WORLD
    try:
        _record(comm, world, **asked)
    except BaseException as error:
        fail(comm, error)


if __name__ == "__main__":
    main()
