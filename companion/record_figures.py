"""A run record as its chapter shows it: what its section marks by ``@experiment.figure``, drawn from this record."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from companion import experiments, files
from companion.figures.rendering import Shown, picture
from companion.records import runs

#: Rows of a figure's data that are printed; the file of the figure's page has all.
_ROWS = 40


def medians(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that are samples of one quantity, ``"name, 1"``, ``"name, 2"``, as their median."""
    names = [re.sub(r", \d+$", "", str(column)) for column in frame]
    out: dict[str, pd.Series] = {}
    for name in dict.fromkeys(names):
        part = frame.loc[:, [each == name for each in names]]
        count = part.select_dtypes("number").shape[1]
        out |= {f"{name}, median of {count}": part.median(axis=1)} if count == part.shape[1] > 1 else dict(part.items())
    return pd.DataFrame(out)


def text(shown: Any) -> str:
    """What a figure or table of an experiment says, and its data, in lines."""
    if not isinstance(shown, Shown):
        return shown.text
    if shown.data is None:
        return f"{shown.title}. {shown.alt}"
    head = medians(shown.data.head(_ROWS))
    lines = head.to_string(
        index=not isinstance(head.index, pd.RangeIndex), na_rep="", float_format="{:.4g}".format, line_width=200
    )
    more = f"\n… {len(shown.data) - len(head)} more rows" if len(shown.data) > len(head) else ""
    return f"{shown.title}. {shown.alt}\n{lines}{more}"


def drawn_from(run, figures=None) -> tuple[list[Any], list[str]]:
    """What figures, by default all of its experiment, show of one run; a sentence for each that lacks what it takes."""
    made, left = [], []
    for figure in experiments.find(run.attrs["experiment"]).figures if figures is None else figures:
        try:
            made.append(figure([run]))
        except (KeyError, IndexError, ValueError, AssertionError) as error:  # an older run, or another sweep
            left.append(f"{figure.__name__} does not find in this record what it draws ({error})")
    return made, left


def write(record: dict[str, Any], shown: list[Any], folder: Path) -> list[Path]:
    """Each figure as an SVG file in ``folder``, named after the record and the figure."""
    stem = runs.file_name(record).removesuffix(".json")
    found = {f"{stem}_{each.name}.svg": each for each in shown if isinstance(each, Shown) and "<svg" in each.html}
    return [files.write_text(folder / name, picture(each), overwrite=True) for name, each in found.items()]
