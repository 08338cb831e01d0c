"""``python -m companion.mpi.job ID …``: what every rank of an experiment runs.

Started by ``mpiexec``, ``srun`` or any other launcher; ``python -m companion run ID --ranks N`` does it on
this machine.  Rank 0 writes the record.
"""

import argparse
import json
import os
import sys
import traceback
from pathlib import Path

from companion.mpi.launcher import PREFIX


def tell(message: dict) -> None:
    """One line to the launcher, in one piece."""
    os.write(1, f"{PREFIX}{json.dumps(message)}\n".encode())


def _arguments(given):
    parser = argparse.ArgumentParser(prog="python -m companion.mpi.job", description=__doc__)
    parser.add_argument("experiment")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--threads", type=int, default=1, help="threads of every rank")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, help="seconds")
    parser.add_argument("--rounds", type=int, help="samples per case")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the record")
    return parser.parse_args(given)


def _record(asked, comm, world):
    from companion import bench, experiments
    from companion.mpi.measure import measure
    from companion.records import runs

    entry = experiments.accept(
        asked.experiment, asked.preset, asked.threads, asked.budget, asked.seed, asked.rounds, ranks=comm.size
    )
    date = runs.now()
    measurements = measure(
        entry.cases(asked.preset, asked.threads, comm.size),
        world,
        entry.rounds if asked.rounds is None else asked.rounds,
        asked.seed,
        entry.budgets.get(asked.preset) if asked.budget is None else asked.budget,
        tell,
    )
    found = world.describe(comm)
    if comm.rank == 0:
        record = experiments.assemble(entry, asked.preset, asked.threads, asked.seed, date, measurements)
        record["machine"]["mpi"] = bench.plain(found)
        tell({"record": str(runs.save(record, asked.out))})


def main(given=None) -> None:
    asked = _arguments(given)
    from kernels.mpi import world

    comm = world.mpi().COMM_WORLD
    try:
        _record(asked, comm, world)
    except BaseException as error:
        kinds = ("UnverifiedError", "ValueError", "MemoryError", "OSError")
        names = [kind.__name__ for kind in type(error).__mro__]
        kind = next((name for name in kinds if name in names), type(error).__name__)
        if kind not in kinds:
            traceback.print_exc()
            sys.stderr.flush()
        tell({"error": kind, "text": " ".join(str(error).split()), "rank": comm.rank})
        comm.Abort(1)  # the others may wait for this rank for ever


if __name__ == "__main__":
    main()
