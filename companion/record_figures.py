"""A run record as its chapter shows it: the chapter's tables and figures, drawn from this record.

They are those that the section of an experiment marks (``@experiment.figure``).
"""

import re
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from companion import experiments, files
from companion.figures.rendering import picture, undrawn
from companion.figures.tabular import Table
from companion.records import runs

#: Rows of a figure's data that are printed; the file of the figure's page has all.
_ROWS = 40
#: Samples of one quantity are columns "name, 1", "name, 2", …
_SAMPLE = re.compile(r"(.+), \d+$")
_WIDTH = 200


@dataclass(frozen=True)
class _Piece:
    """One table or figure of the chapter, drawn from a record."""

    name: str
    text: str
    svg: str = ""  # a whole file; empty for a table or a sentence


def medians(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns that are samples of one quantity as their median."""
    groups: dict[str, list[str]] = {}
    for column in map(str, frame.columns):
        found = _SAMPLE.match(column)
        groups.setdefault(found[1] if found else column, []).append(column)
    frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    out = {}
    for name, columns in groups.items():
        numbers = all(pd.api.types.is_numeric_dtype(frame[column]) for column in columns)
        if len(columns) > 1 and numbers:
            out[f"{name}, median of {len(columns)}"] = frame[columns].median(axis=1)
        else:
            out |= {column: frame[column] for column in columns}
    return pd.DataFrame(out)


def _lines(frame: pd.DataFrame) -> str:
    head = frame.head(_ROWS)
    text = head.to_string(
        index=not isinstance(frame.index, pd.RangeIndex), na_rep="", float_format=lambda value: f"{value:.4g}",
        line_width=_WIDTH,
    )  # fmt: skip
    return text + (f"\n… {len(frame) - len(head)} more rows" if len(frame) > len(head) else "")


def piece(shown: Any) -> _Piece:
    """What a figure of an experiment gave, as text and as a picture where it is one."""
    if isinstance(shown, Table):
        return _Piece("table", shown.text)
    text = f"{shown.title}. {shown.alt}" + ("" if shown.data is None else f"\n{_lines(medians(_frame(shown.data)))}")
    return _Piece(shown.name, text, picture(shown))


def _frame(data) -> pd.DataFrame:
    return data if isinstance(data, pd.DataFrame) else data.to_dataframe().reset_index()


def drawn_from(run) -> tuple[list[Any], list[str]]:
    """What the figures of an experiment show of one run, and a sentence for each that does not find what it takes."""
    made, left = [], []
    for figure in experiments.find(run.attrs["experiment"]).figures:
        try:
            made.append(figure([run]))
        except runs.LACKING as error:
            left.append(f"{figure.__name__} does not find in this record what it draws ({error})")
    return made, left


def pieces(record: dict[str, Any], drawn: bool = True) -> tuple[list[_Piece], list[str]]:
    """All tables and figures of this experiment, and a sentence for each that cannot be drawn.

    Without ``drawn``, figures are their data alone.
    """
    with nullcontext() if drawn else undrawn():
        found, left = drawn_from(runs.dataset([record]))
        return [piece(shown) for shown in found], left


def write(record: dict[str, Any], found: list[_Piece], folder: Path) -> list[Path]:
    """Each picture as an SVG file in ``folder``, named after the record and the figure."""
    paths, stem = [], runs.file_name(record).removesuffix(".json")
    for number, each in enumerate(each for each in found if each.svg):
        name = f"{stem}_{each.name}"
        path = folder / f"{name if folder / f'{name}.svg' not in paths else f'{name}_{number}'}.svg"
        files.write_text(path, each.svg, overwrite=True)
        paths.append(path)
    return paths
