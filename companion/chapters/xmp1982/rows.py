"""What the sections of this chapter share: names of configurations, runs along them, and rows of points.

A configuration of work files is written device × number of files, so that ``SSD × 2, async`` stands for two files on
the SSD with the asynchronous driver.  Printed times that contradict each other are drawn as printed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from companion import figures
from companion.labels import significant
from companion.late import pd, xr

_DEVICES = {"disk": "disk", "bmr": "BMR", "ssd": "SSD"}
#: How to read the points of :func:`dots`.
MARKS = "Filled points are medians, bars the range of the samples, crosses mark flagged cases."


def label(configuration: str) -> str:
    """A configuration for a reader: ``ssd2-async`` is ``SSD × 2, async``, pairs are joined by a plus."""
    text = re.sub(r"(disk|bmr|ssd)(\d)", lambda found: f"{_DEVICES[found[1]]} × {found[2]}", configuration)
    return text.replace("-", ", ").replace("+", " + ").replace("cray1a", "Cray 1-A")


def observed(run, key: str = "configuration") -> "xr.Dataset":
    """What was observed of every sample along ``key`` and ``sample``, and whether the case is ``flagged``."""
    names = [str(name) for name in run.data_vars if str(name).startswith("observed_")]
    found = {name.removeprefix("observed_"): run.variables[name] for name in names}
    data = xr.Dataset(found | {"flagged": run.variables["flags"].astype(str) != ""})
    return data.assign_coords({key: ("case", run[key].values.astype(str))}).swap_dims(case=key)


class Measured(NamedTuple):
    """Samples of a run by row."""

    values: Any  # (rows,) or (rows, n); NaN: none
    flagged: Any = False  # bool (rows,)


def along(run, names, values: Callable, key: str = "configuration") -> Measured:
    """What ``values`` makes of what was :func:`observed`, in the rows of the named cases; NaN where one is missing."""
    cases = observed(run, key)
    found = values(cases).reindex({key: list(names)}).transpose(key, ...).values.reshape(len(names), -1)
    return Measured(found, cases["flagged"].reindex({key: list(names)}).fillna(False).values.astype(bool))


def any_flagged(run) -> bool:
    """Whether a case of a run is flagged: then every row that no case has alone is doubtful."""
    return bool((run["flags"].astype(str) != "").any())


def ranged(values, scale: float = 1.0, digits: int = 2, nothing: float | None = None) -> str:
    """The median of what each round gave, with its interval (the range of under six): ``1.69 (1.52 to 1.85)``.

    "no measurable difference" follows where the interval includes ``nothing``.
    """
    found = figures.of_samples(np.asarray(values, dtype=float)[None], [""]).iloc[0]
    middle, low, high = (f"{scale * found[end]:.{digits}f}".replace("-", "−") for end in ("middle", "low", "high"))
    doubt = nothing is not None and found["low"] <= nothing <= found["high"]
    return f"{middle} ({low} to {high}{', no measurable difference' if doubt else ''})"


def span(values, digits: int = 2) -> str:
    """Least and largest of several numbers."""
    return f"{np.nanmin(values):.{digits}f} to {np.nanmax(values):.{digits}f}"


def medians(values) -> np.ndarray:
    """Median of each row; NaN where a row has no number."""
    return pd.DataFrame(np.asarray(values, dtype=float)).median(axis=1).to_numpy()


def padded(values) -> np.ndarray:
    """Rows of different lengths in one array, NaN where one has no number."""
    return pd.DataFrame([pd.Series(np.asarray(each, dtype=float)) for each in values]).to_numpy()


def _columns(label: str, values) -> dict[str, np.ndarray]:
    """A column for each number of a row."""
    values = np.atleast_2d(np.asarray(values, dtype=float).T).T
    names = [label] if values.shape[1] == 1 else [f"{label}, {n + 1}" for n in range(values.shape[1])]
    return dict(zip(names, values.T, strict=True))


def _least_and_most(values) -> str:
    values = np.concatenate([np.ravel(each) for each in values]).astype(float)
    if not np.isfinite(values).any():
        return "no number"
    return f"{significant(np.nanmin(values), 3)} to {significant(np.nanmax(values), 3)}"


def dots(
    runs,
    rows: Mapping[str, str],
    printed: dict[str, Any],
    here: dict[str, Callable] | Callable[[Any], dict[str, Measured]],
    *,
    xlabel: str,
    title: str,
    key: str = "configuration",
    log: bool = False,
    more: str = "",
    **shown,
) -> "figures.Shown":
    """One line of points a row: printed numbers, if there are any, then medians and range of each run.

    The caption is made of ``xlabel``, the ends of all numbers, ``more`` and how to read the points.

    Parameters
    ----------
    rows : mapping
        Case -> its row.
    printed : dict
        Source -> numbers of each row, (rows,) or (rows, n); NaN where there is none.
    here : dict or callable
        Variant -> what :func:`along` takes, or ``here(run)`` that gives variant -> :class:`Measured`.
    key : str
        The coordinate that names the cases of ``rows``.
    """
    found = [here(run) if callable(here) else {words: along(run, rows, each, key) for words, each in here.items()}
             for run in runs]  # fmt: skip
    names = [*printed, *found[0]]
    columns = 1 if max(map(len, names)) > 25 else 2
    figure, axis = figures.axes(height=1.0 + 0.18 * -(-len(names) // columns) + 0.25 * len(rows))
    place = figures.rows(axis, list(rows.values()), above=0.6, below=0.6)
    shifts = (np.arange(len(names)) - (len(names) - 1) / 2) * 0.44 / max(len(names) - 1, 1)
    for index, (words, values) in enumerate(printed.items()):
        values = np.atleast_2d(np.asarray(values, dtype=float).T).T
        where = np.repeat(place + shifts[index], values.shape[1])
        figures.points(axis, values.ravel(), where, label=words, index=index, line=False)
    for run, several in zip(runs, found, strict=True):
        for index, (words, each) in enumerate(several.items()):
            samples = pd.DataFrame(np.asarray(each.values, dtype=float))
            ends = {"low": samples.min(axis=1), "middle": samples.median(axis=1), "high": samples.max(axis=1)}
            style = {"label": words, "index": index, "line": False, "across": True, "run": run}
            figures.bars(
                axis, place + shifts[len(printed) + index], pd.DataFrame(ends).assign(flagged=each.flagged), **style
            )
    if log:
        figures.log_axis(axis, "x")
    axis.set_xlabel(xlabel, loc="right")
    head = "\n".join(filter(None, [figures.run_title(runs[0]), figures.machines(runs)]))
    figure.legend(loc="outside upper left", ncols=columns, title=head, title_fontsize=9, alignment="left")
    sources = [printed | {words: each.values for words, each in several.items()} for several in found]
    frames = [pd.DataFrame({"row": list(rows.values())} | {column: numbers for words, values in each.items()
              for column, numbers in _columns(words, values).items()}) for each in sources]  # fmt: skip
    then = f"{_least_and_most(printed.values())} in the report, " if printed else ""
    now = _least_and_most([medians(each.values) for each in found[0].values()])
    alt = f"{xlabel[0].upper()}{xlabel[1:]}{', logarithmic' if log else ''}: {then}medians of {now} today. {more}"
    data = figures.together(runs, frames)
    return figures.show(figure, run=runs[0], data=data, title=title, alt=alt, caption=f"{alt} {MARKS}", **shown)
