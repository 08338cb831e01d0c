"""What the figures of runs over MPI share, and what a page says where there is no such run."""

import numpy as np

from companion.figures.parts import run_title
from companion.host import doctor
from companion.labels import counted

#: What a page says where neither a committed run nor an MPI is there.
ABSENT = (
    "No run of `{id}` over MPI is committed with this edition. To make one: "
    "`python -m pip install 'supercomputers-rerun[mpi]'`, then `python -m companion run {id} --ranks {ranks}`; "
    "the page On a cluster tells how to do it under a batch system."
)


def rank_title(record) -> str:
    """Machine, preset, day and ranks of a run; says so where ranks shared processors."""
    most = int(np.max(record["ranks"].values))
    shared = any("oversubscribed" in str(flags) for flags in record["flags"].values)
    return f"{run_title(record)}, {counted(most, 'rank')}{', more than processors' if shared else ''}"


def drawn(draw, record, id: str, ranks: int = 2):
    """``draw(record)``, or the sentence that tells how to get a record."""
    from IPython.display import Markdown

    return Markdown(ABSENT.format(id=id, ranks=ranks)) if record is None else draw(record)


def live(run, id: str, ranks: int = 2, **options):
    """``run(id, ranks=…)`` where MPI is there, otherwise None (the page then uses a committed run)."""
    return run(id, ranks=ranks, **options) if doctor.mpi().ok else None
