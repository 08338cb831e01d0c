"""Where the time of the threaded model goes (C3): computing, waiting at barriers, serial work."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import bars
from companion.figures.rendering import Shown, show
from companion.figures.style import axes


@each_machine
def classes(record: xr.Dataset) -> Shown:
    """Shares of the clock by what the threads did, medians with the range of their samples, a mark for each run."""
    middle, low, high = (record[name].values for name in ("class_seconds", "class_low", "class_high"))
    whole = middle.sum(axis=1, keepdims=True)
    names = [str(name) for name in record["class_name"].values]
    figure, axis = axes(height=1.9 + 0.5 * len(names))
    rows, count = [], len(middle)
    flagged = dict(zip(record["label"].values.astype(str), record["flags"].values.astype(str), strict=True))
    for number, label in enumerate(str(name) for name in record["run_label"].values):
        place = np.arange(len(names)) + 0.24 * (number - (count - 1) / 2)
        found = {
            name: 100 * (each / whole)[number] for name, each in (("low", low), ("middle", middle), ("high", high))
        }
        spread = pd.DataFrame({**found, "flagged": bool(flagged.get(label))})
        bars(axis, place, spread, label=label, index=number, line=False, across=True)
        rows += [
            {"run": label, "class": name, "least": a, "median": b, "largest": c}
            for name, a, b, c in zip(names, low[number], middle[number], high[number], strict=True)
        ]
    axis.set_yticks(range(len(names)), names)
    shares = pd.DataFrame(100 * middle / whole, record["run_label"].values, names)
    text = "; ".join(
        f"{run}: " + ", ".join(f"{name} {value:.1f} %" for name, value in row.items()) for run, row in shares.iterrows()
    )
    frame = pd.DataFrame(rows)
    frame.attrs["units"] = dict.fromkeys(("least", "median", "largest"), "s")
    return show(figure, data=frame, name="xc30_classes", run=record, text=text)
