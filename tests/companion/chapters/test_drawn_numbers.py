"""The numbers behind every figure of the stored runs, as ``drawn.csv`` beside this file has them.

A row is a column of what a figure draws, or a text: how many numbers it has, and their mean.  Another sign, factor or
end in a formula of a chapter changes rows; so do new records and new columns.  When a change is meant, look at what
differs and write the file anew::

    PYTHONPATH=tests python tests/companion/chapters/test_drawn_numbers.py
"""

import csv
import math
import re
from functools import cache
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from synthetic import MADE_UP

from supercomputers_rerun.companion import conclusions, experiments, models
from supercomputers_rerun.companion.pages import models as pages
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.records import runs

KEPT = Path(__file__).with_name("drawn.csv")
PICTURES = sorted(name for name in vars(pages) if name.endswith("_picture"))
CONCLUSIONS = sorted({each.document for each in conclusions.conclusions()})
DRAWN = sorted(entry.id for entry in experiments.REGISTER.values() if entry.figures)
NAMES = [*DRAWN, *synthesis.QUANTITIES, *models.PREDICTIONS, *PICTURES, *CONCLUSIONS]
COLUMNS = ("experiment", "figure", "column", "numbers", "mean")


def marks(figure) -> dict[str, pd.Series]:
    """Places of the marks and lines of each panel, along x and y."""
    found = {}
    for number, axis in enumerate(figure.axes if figure else ()):
        for which in "xy":
            ends = [pd.Series(np.ravel(getattr(line, f"get_{which}data")())) for line in axis.lines]
            places = pd.concat(ends) if ends else pd.Series(dtype=float)
            found[f"panel {number}, {which}"] = pd.to_numeric(places, errors="coerce").dropna()
    return found


def numbers_in(text: str) -> pd.Series:
    """Numbers of a text."""
    return pd.Series([float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)], dtype=float)


def said(shown) -> str:
    """What a figure says around its drawing, as a page has it, but where and when it was measured."""
    return escape(f"{shown.words.title} {shown.words.caption} {shown.words.note}")


def columns(name: str, figure: str, shown) -> list[tuple[str, ...]]:
    """Rows of a table, or of what a figure draws and says; of what has neither data nor drawing the text."""
    series: dict[str, pd.Series] = {}
    if (data := getattr(shown, "data", shown)) is not None:
        frame = data.select_dtypes(["number", "bool"]).astype(float)
        series = {str(column): frame[column].dropna() for column in frame}
    if getattr(shown, "figure", None):
        series |= marks(shown.figure) | {"caption": numbers_in(said(shown))}
    if not series:
        series = {"text": numbers_in(shown.alt)}
    found = []
    for column, numbers in series.items():
        numbers = numbers[np.isfinite(numbers)]
        mean = f"{numbers.mean():.5g}" if len(numbers) else ""
        found.append((name, figure, column, str(len(numbers)), mean))
    return found


def drawn(name: str) -> list[tuple[str, ...]]:
    """Rows of an experiment, of its figures on the stored runs alone; of a quantity of all reports; of a model beside a
    figure, with constants of no machine; of a picture of a model; of what a report's conclusions say."""
    if name in synthesis.QUANTITIES:
        return columns(name, "all reports", synthesis.QUANTITIES[name][1]())
    if name in models.PREDICTIONS:
        prediction = models.PREDICTIONS[name]
        run = experiments.find(prediction.experiment).runs()[0] if prediction.experiment else None
        return columns(name, prediction.model, prediction.of(run, MADE_UP))
    if name in PICTURES:
        return columns(name, "model", getattr(pages, name)())
    if name in CONCLUSIONS:
        found = {each.id: numbers_in(each.found().sentence) for each in conclusions.conclusions(name)}
        return columns(name, "conclusions", pd.DataFrame(found))
    entry = experiments.find(name)
    figures = entry.figures if runs.latest(name) is not None else ()
    return [row for figure in figures for row in columns(name, figure.__name__, figure(entry.runs()))]


@cache
def kept() -> dict[str, list[tuple[str, ...]]]:
    """Rows of the file by experiment."""
    found: dict[str, list[tuple[str, ...]]] = {}
    with KEPT.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["experiment"], []).append(tuple(row[name] for name in COLUMNS))
    return found


def near(one: str, other: str) -> bool:
    """Whether two means agree but for the last digit, which another build of a library may round otherwise."""
    return one == other or "" not in (one, other) and math.isclose(float(one), float(other), rel_tol=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_figure_draws_is_what_it_drew(name):
    found, before = drawn(name), kept().get(name, [])
    assert [row[:-1] for row in found] == [row[:-1] for row in before]
    other = [(new, old[-1]) for new, old in zip(found, before, strict=True) if not near(new[-1], old[-1])]
    assert not other, f"what is drawn has changed; is it meant?  See {__name__}"


if __name__ == "__main__":  # with tests on the path
    with KEPT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name in NAMES:
            writer.writerows(drawn(name))
