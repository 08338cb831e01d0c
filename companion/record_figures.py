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
#: Samples of one quantity are columns "name, 1", "name, 2", …
_SAMPLE = re.compile(r"(.+), \d+$")
#: What a figure raises where a run does not hold what it takes: an older one, or another sweep.
LACKING = (KeyError, IndexError, ValueError, AssertionError)


def medians(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that are samples of one quantity as their median."""
    groups: dict[str, list[str]] = {}
    frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    for column in frame:
        found = _SAMPLE.match(column)
        groups.setdefault(found[1] if found else column, []).append(column)
    out = {}
    for name, columns in groups.items():
        if len(columns) > 1 and all(map(pd.api.types.is_numeric_dtype, frame[columns].dtypes)):
            out[f"{name}, median of {len(columns)}"] = frame[columns].median(axis=1)
        else:
            out |= {column: frame[column] for column in columns}
    return pd.DataFrame(out)


def text(shown: Any) -> str:
    """What a figure or table of an experiment says, and its data, in lines."""
    if not isinstance(shown, Shown):
        return shown.text
    if shown.data is None:
        return f"{shown.title}. {shown.alt}"
    frame = shown.data if isinstance(shown.data, pd.DataFrame) else shown.data.to_dataframe().reset_index()
    head = medians(frame.head(_ROWS))
    lines = head.to_string(
        index=not isinstance(head.index, pd.RangeIndex), na_rep="", float_format="{:.4g}".format, line_width=200
    )
    more = f"\n… {len(frame) - len(head)} more rows" if len(frame) > len(head) else ""
    return f"{shown.title}. {shown.alt}\n{lines}{more}"


def drawn_from(run, figures=None) -> tuple[list[Any], list[str]]:
    """What figures, by default all of its experiment, show of one run; a sentence for each that lacks what it takes."""
    made, left = [], []
    for figure in experiments.find(run.attrs["experiment"]).figures if figures is None else figures:
        try:
            made.append(figure([run]))
        except LACKING as error:
            left.append(f"{figure.__name__} does not find in this record what it draws ({error})")
    return made, left


def write(record: dict[str, Any], shown: list[Any], folder: Path) -> list[Path]:
    """Each figure as an SVG file in ``folder``, named after the record and the figure."""
    stem = runs.file_name(record).removesuffix(".json")
    found = {f"{stem}_{each.name}.svg": each for each in shown if isinstance(each, Shown) and "<svg" in each.html}
    return [files.write_text(folder / name, picture(each), overwrite=True) for name, each in found.items()]
