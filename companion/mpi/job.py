"""``python -m companion.mpi.job ID …``: what every rank of an experiment runs.

Started by ``mpiexec``, ``srun`` or any other launcher; ``python -m companion run ID --ranks N`` does it on
this machine.  Rank 0 writes the record into ``--out``; without that it tells it to the launcher, piece by piece, so
that no disk can lose it on the way.
"""

import json
import os
import sys
import time
import traceback
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from companion import commands
from companion.mpi.launcher import ERRORS, PREFIX

#: Characters of a record in one message: a line that a pipe takes in one piece, also where each is escaped.
PIECE = 2000
#: Seconds in which ``mpiexec`` notices that a rank has died.
_NOTICE = 3.0


def send(message: dict) -> None:
    """One line to the launcher, in one piece.

    An error is also left in a file: what a rank printed just before it ends the job may be lost on its way through
    ``mpiexec``, which ends at the same time.
    """
    line = f"{json.dumps(message)}\n"
    if "error" in message and ERRORS in os.environ:
        with open(os.environ[ERRORS], "a", encoding="utf-8") as file:
            file.write(line)
    os.write(1, f"{PREFIX}{line}".encode())


def fail(comm, error: BaseException) -> None:
    """Tell the launcher of an error that a rank met, and end the job, whose other ranks may wait for this one.

    An error of MPI itself may be the echo of another rank's death: ``mpiexec`` is given a moment to notice that and
    to end the job with its cause.
    """
    from kernels.mpi import world

    kinds = ("UnverifiedError", "ValueError", "MemoryError", "OSError")
    names = [kind.__name__ for kind in type(error).__mro__]
    kind = next((name for name in kinds if name in names), type(error).__name__)
    send({"error": kind, "text": " ".join(str(error).split()), "rank": comm.rank})
    if isinstance(error, world.mpi().Exception):
        time.sleep(_NOTICE)
    if kind not in kinds:  # nobody has ended us: the error is this rank's own
        traceback.print_exception(error)
        sys.stderr.flush()
    comm.Abort(1)


def _record(comm, world, experiment, preset, threads, seed, budget, rounds, out):
    from companion import bench, experiments, files
    from companion.host import limits
    from companion.mpi.ranks import Ranks
    from companion.records import runs

    entry = experiments.accept(experiment, preset, threads, budget, seed, rounds, comm.size, started=True)
    date, found = runs.now(), world.describe(comm)
    cases, hosts = entry.cases(preset, threads, comm.size), found["host_of_rank"]
    limits.require_share(cases, comm.size, hosts.count(hosts[comm.rank]))
    by = Ranks(world, send)
    with files.prepared(out) if comm.rank == 0 and out else nullcontext():
        measurements = experiments.measured(entry, cases, preset, seed, budget, rounds, by)
        if comm.rank == 0:
            record = experiments.assemble(entry, preset, threads, seed, date, measurements)
            record["machine"]["mpi"] = bench.plain(found)
            if out:
                send({"record": str(runs.save(record, out))})
            else:
                text = json.dumps(record)
                for at in range(0, len(text), PIECE):
                    send({"piece": text[at : at + PIECE]})


app = commands.program()


@app.command()
def job(
    experiment: str,
    preset: str = "quick",
    threads: Annotated[int, typer.Option(help="Threads of every rank.")] = 1,
    seed: int = 0,
    budget: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Samples per case.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the record; without it the launcher is told.")] = None,
) -> None:
    """What every rank of an experiment runs."""
    from kernels.mpi import world

    comm = world.mpi().COMM_WORLD
    try:
        _record(comm, world, experiment, preset, threads, seed, budget, rounds, out)
    except BaseException as error:
        fail(comm, error)


if __name__ == "__main__":
    sys.exit(commands.status(app, "python -m companion.mpi.job"))
