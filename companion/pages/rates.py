"""Points of the synthesis that belong to processors: what one sustains by kind of work, clocks and their number."""

import numpy as np
import pandas as pd

from companion import tables
from companion.figures.parts import converted
from companion.pages.synthesis import frame_of, measured, of_each, printed, rate_of, stated

#: Loops of chapter 4 by what they ask of a processor: the report's row, the run's name, the kind of work.
LOOPS = (
    ("10 accumulators", "s10", "additions in registers"),
    ("streaming", "streaming", "streams from memory"),
    ("skipping", "skipping", "strided access to memory"),
)
_SOLVER = "BT, a flow solver, on vectors"


def sustained_rate() -> pd.DataFrame:
    """GFLOPS of one processor (today: of one thread) by kind of work: loops, then whole programs."""
    rows = []
    cpus = float(tables.machines().sel(machine="power5plus")["cpus_per_node"])
    node = tables.printed("p5plus", "smt_benefit").set_index("loop")["gflops_no_smt"]
    again = of_each("p5plus-smt", _loops)
    for loop, _, kind in LOOPS:
        rows.append(printed("p5plus/smt_benefit", "power5plus", kind, node[loop] / cpus, group=kind))
        rows += [row for row in again if row["group"] == kind]
    return frame_of(rows + stated("rate") + of_each("nht1-io", _solver), "GFLOPS of one processor")


def _loops(run) -> list[dict]:
    rows = []
    for _, name, kind in LOOPS:
        chosen = (run["loop"].values.astype(str) == name) & (run["streams"].values.astype(str) == "1")
        rows.append(measured(run, kind, converted(rate_of(run, chosen), lambda rate: 1e-9 * rate), kind))
    return rows


def _solver(run) -> list[dict]:
    labels = run["label"].values.astype(str)
    alone = [n for n, text in enumerate(labels) if "without writing" in text and "1 thread" in text]
    found = converted(rate_of(run, np.arange(labels.size) == alone[-1]), lambda rate: 1e-9 * rate)
    return [measured(run, f"BT, {labels[alone[-1]].partition(',')[0]}", found, _SOLVER)]


def machine_facts(fact: str) -> pd.DataFrame:
    """A number that reports state of their machines: ``"clock"`` [MHz] or ``"cpus"``."""
    known = tables.machines(long=True)
    both = tables.machines()
    values = both["clock"].fillna(1000.0 / both["clock_period"]) if fact == "clock" else both[fact]
    rows = []
    for machine, value in values.to_series().dropna().items():
        document = known.loc[known["machine"] == machine, "document"].iloc[0]
        row = printed(f"{document}/machines", machine, {"clock": "clock rate", "cpus": "processors"}[fact], value)
        rows.append({**row, "source": "06_machines.html#tab-machines"})
    return frame_of(rows, {"clock": "MHz", "cpus": "processors"}[fact])
