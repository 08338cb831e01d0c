"""What the sections of this chapter share: names of configurations, runs along them, and rows of points.

A configuration of work files is written as their number and place, so that ``2 on SSD, async`` stands for two files on
the SSD with the asynchronous driver.  Printed times that contradict each other are drawn as printed.
"""

import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.common import np, pd, xr

_DEVICES = {"disk": "on disk", "bmr": "in buffer", "ssd": "on SSD"}


def label(configuration: str) -> str:
    """A configuration for a reader: ``ssd2-async`` is ``2 on SSD, async``, pairs are joined by a plus."""
    text = re.sub(r"(disk|bmr|ssd)(\d)", lambda found: f"{found[2]} {_DEVICES[found[1]]}", configuration)
    return text.replace("-", ", ").replace("+", " + ").replace("cray1a", "Cray 1-A").replace("memory", "no work files")


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


def on_host(place: str, folder: str | None = None) -> str:
    """The place of files, or the page cache where their folder refuses to do without it."""
    from supercomputers_rerun.kernels.files.filesystem import direct_refusal

    return "cache" if place == "direct" and direct_refusal(folder or tempfile.gettempdir()) else place


@figures.styled
def grouped(shown: "figures.Shown", groups: Mapping[str, int], at: float = 0.98, row: float = 0.5) -> "figures.Shown":
    """Name groups of rows in a figure of :func:`dots`, from top to bottom, with a line between them.

    Parameters
    ----------
    groups : mapping
        Name -> how many rows it has.
    at : float
        Part of the panel's width at which the names stand: to its left from the middle on, else to its right.
    row : float
        At which of its rows the name of a group stands: 0 is the first, 1 the last.
    """
    axis, first = shown.figure.axes[0], 0
    for name, count in groups.items():
        if first:
            axis.axhline(first - 0.5, color=figures.INK, linewidth=0.6, alpha=0.4)
        side = "right" if at > 0.5 else "left"
        place = first + (count - 1) * row
        words = {"ha": side, "va": "center", "style": "italic", "size": 9, "color": figures.INK}
        axis.text(at, place, name, transform=axis.get_yaxis_transform(), **words)
        first += count
    return shown


@figures.styled
def bounded(shown: "figures.Shown", value: float, words: str) -> "figures.Shown":
    """Draw a bound or an ideal across all rows of a figure of :func:`dots`, with its ``words`` above it."""
    axis = shown.figure.axes[0]
    axis.axvline(value, color=figures.INK, linewidth=0.8, linestyle=":")
    axis.annotate(words, (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
                  ha="center", size=9, color=figures.INK)  # fmt: skip
    return shown


def pale(colour: str) -> dict[str, Any]:
    """Keywords for bars and boxes of a model: pale, with a dashed edge, so that none looks measured."""
    return {"facecolor": (colour, 0.3), "edgecolor": colour, "linestyle": "--", "linewidth": 0.9}


def padded(values) -> "np.ndarray":
    """Rows of different lengths in one array, NaN where one has no number."""
    return pd.DataFrame([pd.Series(np.asarray(each, dtype=float)) for each in values]).to_numpy()


def dots(
    runs,
    rows: Mapping[str, str],
    printed: dict[str, Any],
    here: dict[str, Callable] | Callable[[Any], dict[str, Measured]],
    *,
    key: str = "configuration",
    **shown,
) -> "figures.Shown":
    """A figure of rows (:func:`companion.figures.dots`): printed numbers, then median and range of each run's samples.

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
    names, frames, sources, old = list(rows.values()), [], [], {}
    for words, values in printed.items():
        values = np.asarray(values, dtype=float).reshape(len(names), -1)
        old[words] = pd.Series(values.ravel(), np.repeat(names, values.shape[1]))
    for run in runs:
        several = here(run) if callable(here) else {words: along(run, rows, each, key) for words, each in here.items()}
        numbers = printed | {words: each.values for words, each in several.items()}
        numbers = {words: pd.DataFrame(np.asarray(each, dtype=float)) for words, each in numbers.items()}
        spreads = {
            words: numbers[words]
            .agg(["min", "median", "max"], axis=1)
            .set_axis(["low", "middle", "high"], axis=1)
            .assign(flagged=each.flagged)
            for words, each in several.items()
        }
        frames.append(figures.with_spread(pd.DataFrame({"what": names}), **spreads))
        source = pd.concat(numbers, axis=1)
        columns = [f"{words}, {n + 1}" if len(numbers[words].columns) > 1 else words for words, n in source]
        sources.append(pd.concat([pd.Series(names, name="row"), source.set_axis(columns, axis=1)], axis=1))
    variants = {column: column for column in spreads}
    return figures.dots(runs, frames, variants, printed=old, names=names, data=sources, **shown)
