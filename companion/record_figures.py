"""A run record as its chapter shows it: the chapter's tables and figures, drawn from this record.

Which these are stands in :mod:`companion.drawings`.  Tables and the data of figures hold the report's values in columns
of their own, next to those of the run.
"""

import re
from contextlib import nullcontext
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd

from companion import drawings, experiments, files
from companion.figures import beside
from companion.figures.rendering import Shown, offered, picture, undrawn
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


def _title(html: str, alt: str) -> str:
    found = re.search(r"<strong>(.*?)\.</strong>", html)
    return f"{unescape(found[1])}. {alt}" if found else alt


def piece(name: str, shown: Any) -> _Piece:
    """What a call of a chapter's figures gave, as text and as a picture where it is one."""
    if isinstance(shown, Shown):
        data = offered(shown)
        stem = re.search(r'data-name="([^"]*)"', shown.html)
        text = _title(shown.html, shown.alt) + ("" if data is None else f"\n{_lines(medians(data))}")
        return _Piece(stem[1] if stem else name, text, picture(shown))
    if isinstance(shown, Table):
        return _Piece(name, shown.text)
    if isinstance(shown, pd.DataFrame):
        return _Piece(name, _lines(shown))
    sentences = [shown] if isinstance(shown, str) else [each for each in shown if isinstance(each, str)]
    return _Piece(name, "\n".join(sentences))


def drawn_from(run, every: list[drawings.Drawing]) -> tuple[list[tuple[str, Any]], list[str]]:
    """What of ``every`` drawing a run gives, by name, and a sentence for each that it does not."""
    made: list[tuple[str, Any]] = []
    left = []
    for drawing in every:
        if drawing.experiment != run.attrs["experiment"]:
            continue
        name = drawing.function.rpartition(".")[2]
        absent = [other for other in drawing.others if runs.latest(other) is None]
        if absent:
            left.append(f"{name} also takes a run of {', '.join(absent)}, of which none is committed")
            continue
        try:
            made.append((name, drawing(run)))
        except beside.LACKING as error:
            left.append(f"{name} does not find in this record what it draws ({' '.join(str(error).split())[:120]})")
    for figure in experiments.find(run.attrs["experiment"]).figures:
        try:
            made.append((figure.__name__, figure([run])))
        except beside.LACKING as error:
            left.append(f"{figure.__name__} does not find in this record what it draws ({error})")
    return made, left


def pieces(record: dict[str, Any], drawn: bool = True) -> tuple[list[_Piece], list[str]]:
    """All of the chapter's tables and figures of this experiment, and a sentence for each that cannot be drawn.

    Without ``drawn``, figures are their data alone.
    """
    with beside.alone(), nullcontext() if drawn else undrawn():
        found, left = drawn_from(runs.dataset([record]), drawings.every_drawing())
    # numbers that a cell goes on with say nothing alone
    return list(dict.fromkeys(one for name, shown in found if (one := piece(name, shown)).text)), left


def write(record: dict[str, Any], found: list[_Piece], folder: Path) -> list[Path]:
    """Each picture as an SVG file in ``folder``, named after the record and the figure."""
    paths, stem = [], runs.file_name(record).removesuffix(".json")
    for number, each in enumerate(each for each in found if each.svg):
        name = f"{stem}_{each.name}"
        path = folder / f"{name if folder / f'{name}.svg' not in paths else f'{name}_{number}'}.svg"
        files.write_text(path, each.svg, overwrite=True)
        paths.append(path)
    return paths
