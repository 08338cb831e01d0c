"""What the figures of runs over MPI share, and what a page says where there is no such run."""

import numpy as np
import pandas as pd

from companion.figures.parts import TIMES, run_title
from companion.figures.style import INK
from companion.host import doctor
from companion.labels import plural

#: What a page says where neither a committed run nor an MPI is there.
_ABSENT = (
    "No run of `{id}` over MPI is committed with this edition. To make one: "
    "`python -m pip install 'supercomputers-rerun[mpi]'`, then `python -m companion run {id} --ranks {ranks}`; "
    "the page On a cluster tells how to do it under a batch system."
)


def rank_title(record) -> str:
    """Machine, preset, day and ranks of a run; says so where ranks shared processors."""
    most = int(np.max(record["ranks"].values))
    shared = any("oversubscribed" in str(flags) for flags in record["flags"].values)
    return f"{run_title(record)}, {plural(most, 'rank')}{', more than processors' if shared else ''}"


def case_rows(record, *parameters: str) -> pd.DataFrame:
    """Times, ranks and some parameters of every case, one a row."""
    names = ["ranks", *parameters]
    return record[[*TIMES, *names]].to_dataframe()[[*names, *TIMES]].reset_index(drop=True)


def observed(record, *names: str) -> pd.DataFrame:
    """Medians over the samples of what ranks observed, one case a row."""
    found = record[[f"observed_{name}" for name in names]].median("sample").to_dataframe()
    return found[[f"observed_{name}" for name in names]].set_axis(list(names), axis=1).reset_index(drop=True)


#: What the marks of stacked bars are, for the caption.
BARRED = "Bars are medians of the samples, lines their range, crosses mark flagged cases."


def cross_flagged(axis, record, ends) -> None:
    """Crosses behind the ``ends`` of horizontal bars, one a case, whose cases are flagged."""
    flagged = np.flatnonzero(record["flags"].values.astype(str) != "")
    axis.plot(np.asarray(ends, dtype=float)[flagged], flagged, "x", color=INK, markersize=8, linestyle="none")


def doubts(record) -> str:
    """A sentence on the flags of a run, for its caption."""
    found: dict[str, list[str]] = {}
    for label, flags in zip(record["label"].values, record["flags"].values, strict=True):
        for flag in filter(None, str(flags).split("; ")):
            found.setdefault(flag, []).append(str(label))
    if not found:
        return "No case is flagged."
    total = record.sizes["case"]
    parts = (
        f"{flag}: {', '.join(names) if len(names) < 4 else f'{len(names)} of {total} cases'}"
        for flag, names in found.items()
    )
    return f"Flags: {'; '.join(parts)}."


def counts_table(records) -> pd.DataFrame:
    """Messages and bytes that runs counted as they sent them, and those of the formulas.

    ``records`` are run records of programs over MPI; None is left out.
    """
    rows = []
    for record in records:
        if record is None:
            continue
        found = observed(record, "messages", "bytes")
        for number, label in enumerate(record["label"].values):
            rows.append(
                {
                    "experiment": record.attrs["experiment"],
                    "case": str(label),
                    "ranks": int(record["ranks"].values[number]),
                    "messages": found["messages"][number],
                    "messages by formula": float(record["messages"].values[number]),
                    "sent": found["bytes"][number] / 1e6,
                    "sent by formula": float(record["sent_bytes"].values[number]) / 1e6,
                }
            )
    names = ["experiment", "case", "ranks", "messages", "messages by formula", "sent", "sent by formula"]
    frame = pd.DataFrame(rows, columns=names)
    frame.attrs["units"] = {"sent": "MB", "sent by formula": "MB"}
    return frame


def drawn(draw, record, id: str, ranks: int = 2):
    """``draw(record)``, or the sentence that tells how to get a record."""
    from IPython.display import Markdown

    return Markdown(_ABSENT.format(id=id, ranks=ranks)) if record is None else draw(record)


def live(run, id: str, ranks: int = 2, **options):
    """``run(id, ranks=…)`` where MPI is there, otherwise None (the page then uses a committed run)."""
    return run(id, ranks=ranks, **options) if doctor.mpi().ok else None
