"""Marks of chapter 2's figures: a shape is a system of the memo, hollow is printed, filled is measured.

Where both times share a row, a marker is CPU time and an upright stroke real time.
"""

import numpy as np
import pandas as pd
import xarray as xr

from companion.bench.statistics import MIN_TREND
from companion.figures.parts import bars, of_samples, points, quotient, rows, times, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, meaning
from companion.figures.tabular import significant
from companion.records.runs import single

SYSTEMS = ("NRAO1", "CLSC", "PSC")
NAMES = ("Convex C1", "X-MP, Toronto", "X-MP, Pittsburgh")
#: Which series was measured, after the systems.
HERE = 3
KINDS = {"cpu": "CPU", "real": "real"}


def measured(record: xr.Dataset) -> str:
    """Machine and day of a run and what its marks are, for the end of a caption."""
    counts = np.isfinite(record["observed_real"].values).sum(axis=1)
    bars = "95 % intervals" if counts.min() >= MIN_TREND else "ranges of samples"
    return f"Filled: {record.attrs['machine']}, {record.attrs['date'][:10]}; medians, {bars}, crosses where flagged."


def samples(record: xr.Dataset, kind: str, chosen=slice(None)) -> pd.DataFrame:
    """Medians and spread of the CPU or real times of the chosen cases."""
    return of_samples(record[f"observed_{kind}"].values[chosen], record["flags"].values[chosen])


def ratios(record: xr.Dataset, kind: str, above, below) -> pd.DataFrame:
    """Times of the cases ``above`` over those of ``below``, one by one: medians with their intervals."""
    found = quotient(samples(record, kind, above), samples(record, kind, below))
    seconds = record[f"observed_{kind}"].values
    for row, pair in enumerate(zip(seconds[above], seconds[below], strict=True)):
        if interval := times(*pair).interval:
            found.loc[row, ["low", "high"]] = interval
    return found


def shares(record: xr.Dataset) -> np.ndarray:
    """CPU time over real time of every case and round, (cases, rounds)."""
    return single(record)["observed_cpu"].values / single(record)["observed_real"].values


def middles(above, below=None) -> tuple[float, float, float]:
    """The median over problems of each one's median, and the ends of its 95 % interval.

    The interval is that of the rounds drawn again, 2000 times; with fewer than six rounds its ends are NaN.

    Parameters
    ----------
    above, below : array_like, (problems, rounds)
        Of two, each problem's is the ratio of its medians.  Rounds that a problem lacks are left out.
    """
    sides = [np.asarray(each, dtype=float) for each in (above, below) if each is not None]
    sides = [each[:, ~np.isnan(each).any(axis=0)] for each in sides]

    def middle(drawn):
        medians = [np.median(each, axis=-1) for each in drawn]
        return np.median(medians[0] / medians[1] if len(medians) > 1 else medians[0], axis=0)

    if min(each.shape[1] for each in sides) < MIN_TREND:
        return float(middle(sides)), np.nan, np.nan
    rng = np.random.default_rng(0)
    again = [each[:, rng.integers(0, each.shape[1], (2000, each.shape[1]))] for each in sides]
    low, high = np.percentile(middle(again), [2.5, 97.5])
    return float(middle(sides)), float(low), float(high)


def typical(above, below=None) -> str:
    """:func:`middles` in words: ``0.83 (0.81 to 0.85)``."""
    middle, *ends = middles(above, below)
    text, low, high = (significant(end, 3) for end in (middle, *ends))
    return f"{text} ({low} to {high})" if np.isfinite(ends).all() else text


def jitter(values) -> np.ndarray:
    """Small shifts that part the marks of one row."""
    return np.resize([-0.18, -0.06, 0.06, 0.18], len(values))


def printed(axis, row: int, system: str, cpu_s: float, real_s: float) -> None:
    """One system's CPU and real time in a row, a thin line between them."""
    index = SYSTEMS.index(system)
    axis.hlines(row, cpu_s, real_s, color=meaning("printed"), linewidth=1)
    points(axis, cpu_s, row, label="_", index=index, line=False)
    axis.plot(real_s, row, "|", color=meaning("printed"), markersize=12, markeredgewidth=2.2)


def rerun(axis, row: int, found: dict[str, pd.DataFrame]) -> None:
    """A run's CPU and real time in a row, each with its spread."""
    spent, real = found["cpu"].iloc[0], found["real"].iloc[0]
    axis.hlines(row, spent["middle"], real["middle"], color=meaning("measured"), linewidth=1)
    bars(axis, [row], found["cpu"], label="_", index=HERE, line=False, across=True)
    axis.plot(real["middle"], row, "|", color=meaning("measured"), markersize=12, markeredgewidth=2.2)
    axis.hlines(row, real["low"], real["high"], color=meaning("measured"), linewidth=3)
    if real["flagged"]:
        axis.plot(real["middle"], row, "x", color=INK, markersize=7)


def median(axis, row: int, values, text: str, edge=None) -> float:
    """The median of a row as a stroke, with its number right of all values or of ``edge``; the median."""
    middle, end = float(np.median(values)), float(np.max(values if edge is None else edge))
    axis.plot([middle, middle], [row - 0.36, row + 0.36], color=INK, linewidth=1.6)
    axis.annotate(text.format(middle), (end, row), (7, 0), textcoords="offset points", va="center", size=9)
    return middle


def beside(axis, names, old: dict, here: pd.DataFrame, label: str, first: int) -> None:
    """Rows with what is printed, name -> values in the shapes from ``first``, and what was measured."""
    place = rows(axis, names, 0.6)
    for number, (name, values) in enumerate(old.items()):
        shift = 0.2 * number - 0.1 * (len(old) - 1)
        points(axis, values, place + shift, label=name, index=first + number, line=False)
    bars(axis, place, here, label=label, index=HERE, line=False, across=True)


def said(figure, record: xr.Dataset, name: str, frame: pd.DataFrame, found: dict[str, pd.DataFrame], **values) -> Shown:
    """The figure of a run, whose data are ``frame`` and what was ``found``, with what its marks are."""
    data = with_spread(frame, **found) if found else frame
    return show(figure, data=data, name=name, run=record, measured=measured(record), **values)
