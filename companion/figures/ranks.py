"""What the figures of runs over MPI share."""

import numpy as np
import pandas as pd

from companion.figures.parts import run_title
from companion.labels import plural


def rank_title(record) -> str:
    """Machine, preset and day of a run, and of one over MPI its ranks; says so where they shared processors."""
    if "ranks" not in record:
        return run_title(record)
    most = int(np.max(record["ranks"].values))
    shared = any("oversubscribed" in str(flags) for flags in record["flags"].values)
    return f"{run_title(record)}, {plural(most, 'rank')}{', more than processors' if shared else ''}"


def observed(record, *names: str) -> pd.DataFrame:
    """Medians over the samples of what ranks observed, one case a row."""
    found = record[[f"observed_{name}" for name in names]].median("sample").to_dataframe()
    return found[[f"observed_{name}" for name in names]].set_axis(list(names), axis=1).reset_index(drop=True)


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
