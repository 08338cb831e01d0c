"""Rows of points, the report's and a measured machine's on one axis; and records along their configurations."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import bars, of_samples, points, run_title
from companion.figures.parts import rows as named
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.records.runs import single


@dataclass(frozen=True)
class Series:
    """Numbers of one source by row."""

    label: str
    values: np.ndarray  # float64 (rows,) or (rows, n); NaN: none
    host: bool = False  # measured for this book: median and range of the n; else every number is a point
    index: int = 0
    flagged: np.ndarray | None = None  # bool (rows,)


def _draw(axis, series: Series, place: np.ndarray) -> None:
    values = np.atleast_2d(np.asarray(series.values, dtype=float).T).T
    if not series.host:
        where = np.repeat(place, values.shape[1])
        points(axis, values.ravel(), where, label=series.label, index=series.index, line=False)
        return
    samples = pd.DataFrame(values)
    found = pd.DataFrame({"low": samples.min(axis=1), "middle": samples.median(axis=1), "high": samples.max(axis=1)})
    found["flagged"] = False if series.flagged is None else series.flagged
    bars(axis, place, found, label=series.label, index=series.index, line=False, across=True)


def dots(
    rows,
    series: list[Series],
    *,
    record: xr.Dataset,
    name: str,
    tight: bool = False,
    **values,
) -> Shown:
    """One line of points a row, series by series, and the numbers as CSV.

    Series that share a row lie a little above each other; ``tight`` rows are low, for a figure that has to be.
    ``values`` are fields of its templates.
    """
    rows = [str(row) for row in rows]
    columns = _columns([each.label for each in series])
    lines, row = -(-len(series) // columns), 0.36 if any("\n" in row for row in rows) else 0.26
    figure, axis = axes(height=1.0 + 0.18 * lines + (0.21 if tight else row) * len(rows))
    place = named(axis, rows, above=0.6, below=0.6)
    shift = 0.44 / max(len(series) - 1, 1)
    for number, each in enumerate(series):
        _draw(axis, each, place + (number - (len(series) - 1) / 2) * shift)
    about = run_title(record)
    about = about.replace("\n", "; ") if len(about) < 60 else about
    figure.legend(
        loc="outside upper left", ncols=columns, title=about, title_fontsize=9, alignment="left", columnspacing=1.2
    )
    plain = [row.replace("\n", " ") for row in rows]
    return show(figure, data=_frame(plain, series), name=name, run=record, **values)


def _columns(labels: list[str]) -> int:
    """Columns of a legend whose rows are no wider than the figure."""
    for count in (3, 2):
        widest = [max(map(len, part), default=0) for part in np.array_split(labels, count)]
        if sum(widest) + 6 * len(widest) <= 58:
            return count
    return 1


def _frame(rows, series: list[Series]) -> pd.DataFrame:
    frame = pd.DataFrame({"row": rows})
    for each in series:
        values = np.atleast_2d(np.asarray(each.values, dtype=float).T).T
        for n in range(values.shape[1]):
            frame[each.label if values.shape[1] == 1 else f"{each.label}, {n + 1}"] = values[:, n]
    return frame


def observed(record: xr.Dataset, key: str = "configuration") -> xr.Dataset:
    """What was observed of every sample along ``key`` and ``sample``, and whether the case is ``flagged``."""
    record = single(record)
    names = [str(name) for name in record.data_vars if str(name).startswith("observed_")]
    found = {name.removeprefix("observed_"): record.variables[name] for name in names}
    data = xr.Dataset(found | {"flagged": record.variables["flags"].astype(str) != ""})
    return data.assign_coords({key: ("case", record[key].values.astype(str))}).swap_dims(case=key)


def any_flagged(record: xr.Dataset, rows: int) -> np.ndarray:
    """For rows that no case has alone: each is doubtful if a case of the run is."""
    return np.full(rows, bool((single(record)["flags"].astype(str) != "").any()))


def middle(values: xr.DataArray) -> xr.DataArray:
    """Median over the samples."""
    return values.median("sample")


def ranged(values, scale: float = 1.0, digits: int = 2, nothing: float | None = None) -> str:
    """The median of what each round gave, with its interval (the range of under six), for a sentence: ``1.69 (1.52 to
    1.85)``; "no measurable difference" where the interval includes ``nothing``."""
    found = of_samples(np.asarray(values, dtype=float)[None], [""]).iloc[0]
    middle, low, high = (f"{scale * found[end]:.{digits}f}".replace("-", "−") for end in ("middle", "low", "high"))
    doubt = nothing is not None and found["low"] <= nothing <= found["high"]
    return f"{middle} ({low} to {high}{', no measurable difference' if doubt else ''})"


def spread_text(values) -> str:
    """A median with its range, three digits: ``1.23 (1.20 to 1.31)``."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    low, mid, high = values.min(), float(np.median(values)), values.max()
    return f"{mid:.3g}" if values.size == 1 else f"{mid:.3g} ({low:.3g} to {high:.3g})"
