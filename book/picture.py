"""Draws the picture of README.md from the data and the committed runs: ``python book/picture.py``."""

from pathlib import Path

import numpy as np

from companion import figures, tables
from companion.records import runs

PATH = Path(__file__).parent / "images" / "smt.svg"


def gains() -> dict:
    """Speed-up of each of the five loops by a second thread a core.

    Returns
    -------
    dict of str to ndarray, shape (5,)
        ``"Power5+ (2006)"`` from the printed rates, and one entry for every committed full-size run:
        measured where the machine runs two threads a core, the gain of two
        instruction streams fused in one thread where it does not, which is another thing and called so.
    """
    rates = tables.load("p5plus", "smt_benefit")["gflops"]
    found = {"Power5+ (2006)": (rates.sel(mode="SMT") / rates.sel(mode="no SMT")).values}
    for record in runs.committed("p5plus-smt"):  # of a machine and year the newest takes the place of older ones
        known = bool(np.isfinite(record["S"]).all())
        values = record["S"] if known else record["S_fused" if "S_fused" in record else "S_bound"]
        if values.sizes == {"loop": 5}:
            year = str(record["date"].values[0])[:4]
            note = "two threads a core" if known else "two fused streams in one thread, no SMT"
            found[f"{record['machine'].values[0].split(',')[0]} ({year}),\n{note}"] = values.values
    return found


def picture():
    """The figure, and its text alternative."""
    names = tables.load("p5plus", "smt_benefit")["loop"].values
    figure, axis = figures.axes(height=3.6)
    place = np.arange(len(names))
    for number, (label, values) in enumerate(gains().items()):
        figures.points(
            axis, values, place + 0.16 * (number - 1), label=label, host=number > 0, index=number, line=False
        )
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    axis.set_yticks(place, names)
    axis.invert_yaxis()
    axis.set(
        xlim=(min(0.9, *(0.95 * values.min() for values in gains().values())), 2.1),
        xlabel="speed-up by a second thread or stream",
    )
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0))
    alt = ". ".join(
        f"{label}: " + ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
        for label, values in gains().items()
    )
    return figure, f"Speed-up of five loops by a second thread a core, or a second stream of instructions. {alt}."


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    drawn, text = picture()
    figures.save(drawn, PATH, alt=text)
    print(PATH.relative_to(Path.cwd()) if PATH.is_relative_to(Path.cwd()) else PATH.name)
