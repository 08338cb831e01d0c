"""What the page On a cluster shows: the last run under ReFrame that was kept."""

import json
from pathlib import Path

import pandas as pd

from companion.figures.tabular import Table, table
from companion.mpi import reframe
from companion.pages.peer_tables import sentence

KEPT = Path(__file__).parents[2] / "data" / "reframe"
#: What ``tests/slurm.py`` found.
_SLURM = Path(__file__).parents[2] / "data" / "slurm.json"


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


def slurm_table(path: Path = _SLURM) -> Table:
    """The checks that ran under a real Slurm, one a row."""
    if not path.is_file():
        return sentence("No run under Slurm is kept with this edition.")
    found = json.loads(path.read_text(encoding="utf-8"))
    rows = [{"check": name, "result": "passed" if ok else "failed"} for name, ok in found["checks"].items()]
    caption = f"Slurm {found['slurm']}, {found['date']}: controller and node on one host"
    return table(pd.DataFrame(rows), name="slurm", caption=caption, index=False)
