"""Draws the picture of README.md from the data and the committed runs: ``python book/picture.py``."""

from pathlib import Path

import numpy as np

from companion import figures, tables
from companion.figures.parts import case_intervals, converted
from companion.records import runs

PATH = Path(__file__).parent / "images" / "loops.svg"


def rates() -> dict:
    """GFLOPS of the five loops with one thread a core: a processor of Power5+ from its node's rate, and measured here.

    Returns
    -------
    dict of str to pandas.DataFrame, five rows
        ``low``, ``middle`` and ``high``; of the document, which prints one value, all three alike.
    """
    node = tables.load("p5plus", "smt_benefit")["gflops"].sel(mode="no SMT")
    each = (node / tables.load("p5plus", "prose")["physical_cpus"]).values
    found = {"Power5+ (2006)": {"low": each, "middle": each, "high": each}}
    for record in runs.committed("p5plus-smt"):  # of a machine and year the newest takes the place of older ones
        rows = np.flatnonzero(record["kind"].values == "one thread")
        flops = record["flops"].values[rows].astype(float)
        year, name = str(record["date"].values[0])[:4], record["machine"].values[0].split(",")[0]
        seconds = case_intervals(record).loc[rows]
        found[f"{name} ({year})"] = converted(seconds, lambda each, flops=flops: flops / each / 1e9)
    return found


def picture():
    """The figure, and its text alternative."""
    names = tables.load("p5plus", "smt_benefit")["loop"].values
    figure, axis = figures.axes(height=3.4)
    place = np.arange(len(names))
    for number, (label, found) in enumerate(rates().items()):
        spot = place + 0.16 * (number - 1)
        line = figures.points(axis, found["middle"], spot, label=label, host=number > 0, index=number, line=False)
        axis.hlines(spot, found["low"], found["high"], color=line.get_color(), linewidth=1.6)
    axis.set_yticks(place, names)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    figures.log_axis(axis, "x")
    axis.set(xlabel="one processor, one thread [GFLOPS]")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0))
    alt = ". ".join(
        f"{label}: " + ", ".join(f"{name} {value:.2f}" for name, value in zip(names, found["middle"], strict=True))
        for label, found in rates().items()
    )
    return figure, f"Rate of five loops on one processor, in GFLOPS. {alt}."


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    drawn, text = picture()
    figures.save(drawn, PATH, alt=text)
    print(PATH.relative_to(Path.cwd()) if PATH.is_relative_to(Path.cwd()) else PATH.name)
