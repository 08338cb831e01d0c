"""What the page On a cluster shows: the last run under ReFrame that was kept."""

from pathlib import Path

import pandas as pd

from companion.figures.tabular import Table, table
from companion.mpi import reframe
from companion.pages.peer_tables import sentence

KEPT = Path(__file__).parents[2] / "data" / "reframe"


def report_table() -> Table:
    """The checks of the newest report that was kept, one a row."""
    if not (reports := reframe.kept(KEPT)):
        return sentence("No report of ReFrame is kept with this edition.")
    found = reports[-1]
    frame = pd.DataFrame(found["checks"]).rename(columns={"seconds": "whole job", "fastest_s": "shortest sample"})
    frame.attrs["units"] = {"whole job": "s", "shortest sample": "s"}
    caption = (
        f"ReFrame {found['reframe']}, {found['date']}: {found['cases']} checks, "
        f"{found['failures'] or 'none'} of them failed"
    )
    return table(frame, digits=3, name="reframe", caption=caption)
