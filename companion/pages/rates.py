"""Points of the synthesis that are rates: what a processor sustains by kind of work, and the forecast of 1982 rerun."""

import numpy as np
import pandas as pd

from companion import tables
from companion.pages.synthesis import DAY, frame_of, measured, printed
from companion.records import runs

#: Loops of chapter 4 by what they ask of a processor: the report's row, the run's name, the kind of work.
LOOPS = (
    ("10 accumulators", "s10", "multiply-adds in registers"),
    ("streaming", "streaming", "streams from memory"),
    ("skipping", "skipping", "strided access to memory"),
)


def sustained_rate() -> pd.DataFrame:
    """GFLOPS of one processor (today: of one thread) by kind of work: loops, then whole programs."""
    rows = []
    cpus = float(tables.machines().sel(machine="power5plus")["cpus_per_node"])
    node = tables.printed("p5plus", "smt_benefit").set_index("loop")["gflops_no_smt"]
    run = runs.latest("p5plus-smt")
    for loop, name, kind in LOOPS:
        rows.append(printed("p5plus", "smt_benefit", f"Power5+: {kind}", node[loop] / cpus))
        if run is not None:
            chosen = (run["loop"].values.astype(str) == name) & (run["streams"].values.astype(str) == "1")
            rate = 1e-9 * float((run["flops"] / run["median"]).values[chosen][0])
            rows.append(measured(run, kind, rate))
    for row in tables.printed("p5plus", "p4_p5").itertuples():
        rows.append(printed("p5plus", "p4_p5", f"{row.system}: forecast on {row.cpus} CPUs", row.gflops / row.cpus))
    whole = tables.load("p5plus", "run_2112")
    rate = 1e3 * float(whole["tflops"]) / float(whole["cpus"])
    rows.append(printed("p5plus", "run_2112", f"P5+: forecast on {int(whole['cpus'])} CPUs", rate))
    run = runs.latest("nht1-io")
    if run is not None:
        labels = run["label"].values.astype(str)
        alone = [n for n, text in enumerate(labels) if "without writing" in text and "1 thread" in text]
        if alone:
            rate = 1e-9 * float((run["flops"] / run["median"]).values[alone[-1]])
            rows.append(measured(run, f"BT, a flow solver, {labels[alone[-1]].partition(',')[0]}", rate))
    return frame_of(rows, "GFLOPS of one processor")


def forecast_rerun() -> list[dict]:
    """Seconds for an hour of the forecast of 1982 with its post-processing, on a committed machine."""
    run = runs.latest("xmp1982-forecast")
    if run is None:
        return []
    label = run["configuration"].values.astype(str)
    clock = np.nanmedian(run["observed_forecast"].values[label == "disk4"], axis=-1)[0]
    total = float(clock) + float(run["post_clock"].sum())
    return [measured(run, "a forecast of the size of 1982, files on disk", total / DAY)]


def file_per_flop() -> float:
    """Bytes that a file takes for each flop at peak on the Y-MP, the one machine of which a report prints both."""
    stated = tables.printed("nht1", "systems").set_index("fact")["ymp"]
    return 1e6 * float(stated["disk_rate"]) / (1e9 * float(stated["peak"]))
