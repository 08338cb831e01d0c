"""Every quantity of the synthesis, for every machine that has it, and where each number comes from."""

from html import escape

import pandas as pd

from companion.figures.rendering import csv_link
from companion.figures.tabular import Table, significant
from companion.pages import eras, rates, synthesis
from companion.pages.data import cells, framed, numbers

#: Quantities: what a reader calls them, where their points come from, and whether their axis is logarithmic.
QUANTITIES = {
    "files": ("rate of one program to its files", eras.file_rates, True),
    "file-balance": ("rate of a file for each flop at peak", eras.file_per_flop, True),
    "memory": ("main memory for each flop/s of peak", eras.memory_per_flop, True),
    "bandwidth": ("memory bandwidth of one processor", eras.streamed, True),
    "bandwidth-balance": ("memory read by one processor for each flop at peak", eras.read_per_flop, True),
    "computing": ("share of the elapsed time in which a job computes", eras.computing, False),
    "rate": ("rate that one processor sustains", rates.sustained_rate, True),
    "peak": ("share of peak that was sustained", synthesis.share_of_peak, False),
    "hour": ("time for an hour of forecast", synthesis.forecast_hour, True),
    "power": ("power for one performance", synthesis.energy, False),
    "clock": ("clock rate", lambda: rates.machine_facts("clock"), True),
    "processors": ("processors of a machine", lambda: rates.machine_facts("cpus"), True),
}


def points() -> dict[str, pd.DataFrame]:
    """Every quantity's points, by its name."""
    return {key: make() for key, (_, make, _) in QUANTITIES.items()}


def points_table(found: dict[str, pd.DataFrame]) -> Table:
    """Every point, with a link to the printed table or the run record that holds its number."""
    body, frames = [], []
    for key, frame in found.items():
        name, unit = QUANTITIES[key][0], frame.attrs["units"]["value"]
        frames.append(frame.drop(columns=["group", "order"]).assign(quantity=name, unit=unit))
        for row in frame.itertuples(index=False):
            link = f'<a href="{escape(row.source)}">{"record" if row.kind == "run" else "table"}</a>'
            texts = cells(*(escape(str(text)) for text in (name, row.year, row.machine, row.what)))
            texts += numbers(f"{escape(row.bound)} {significant(row.value, 3)}")
            body.append(f"<tr>{texts}{cells(escape(unit), link)}</tr>")
    caption = f"All {len(body)} points, and where each number comes from"
    printed = (f"{(frame['kind'] == 'report').sum()} of {QUANTITIES[key][0]}" for key, frame in found.items())
    head = ["quantity", "year", "machine", "what was measured", "value", "unit", "source"]
    link, text = csv_link(pd.concat(frames, ignore_index=True), "points"), ", ".join(printed)
    text = f"Where each number comes from. Printed in reports: {text}"
    return framed(caption, head, body, link, name="points", folded=True, text=text)
