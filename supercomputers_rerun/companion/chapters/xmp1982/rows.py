"""What the sections of this chapter share: names of configurations, runs along them, and rows of points.

A configuration of work files is written as their number and place, so that ``2 on SSD, async`` stands for two files on
the SSD with the asynchronous driver.  Printed times that contradict each other are drawn as printed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.common import np, pd, xr
from supercomputers_rerun.companion.records.runs import marked

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


def in_rows(names: Iterable[str], flagged: Any = False, **quantities: Any) -> "pd.DataFrame":
    """Named rows for :func:`companion.figures.dots`: of each quantity the median of its samples, with its interval.

    Parameters
    ----------
    flagged : bool or array_like, (rows,)
        Whether the samples are doubtful.
    **quantities : array_like, (rows, samples)
        NaN where there is no sample.
    """
    what = pd.DataFrame({"what": list(names)})
    spreads = {name: figures.of_samples(samples, [""] * len(what)) for name, samples in quantities.items()}
    return figures.with_spread(what, **spreads).assign(flagged=flagged)


def along(run, rows: Mapping[str, str], key: str = "configuration", **quantities: Callable) -> "pd.DataFrame":
    """:func:`in_rows` of the cases of ``rows``, case -> row: what functions make of what was :func:`observed`.

    The coordinate ``key`` names the cases; a row whose case is missing has no samples.
    """
    cases, names = observed(run, key), {key: list(rows)}
    flagged = cases["flagged"].reindex(names, fill_value=False).values
    samples = {name: make(cases).reindex(names).transpose(key, "sample") for name, make in quantities.items()}
    return in_rows(rows.values(), flagged, **samples)


def spreads(cases: "xr.Dataset", name: str, of: Iterable[str], key: str = "configuration") -> "pd.DataFrame":
    """``low``, ``middle`` and ``high`` of what was :func:`observed`, in rows of the cases ``of`` these names."""
    chosen = cases.sel({key: list(of)})
    flags = np.where(chosen["flagged"], "flagged", "")
    return figures.of_samples(chosen[name].transpose(key, "sample").values, flags)


def over(run, name: str, above: str, below: str, key: str = "configuration"):
    """How many times as much one case has of what was :func:`observed` as another: :func:`companion.figures.times`."""
    cases = observed(run, key)[name]
    return figures.times(*(cases.sel({key: each}).values for each in (above, below)))


def two_machines(runs, seconds: Callable) -> list:
    """The first two runs of one preset, the one that takes more ``seconds(run)`` first; none where there is one alone.

    The first stands for the Cray 1-A, the second for the X-MP.  Ratios of the two are drawn in full, as the first.
    """
    same = [run for run in runs if run.attrs["preset"] == runs[0].attrs["preset"]][:2]
    return marked(sorted(same, key=seconds, reverse=True)) if len(same) > 1 else []


def on_host(place: str, folder: "str | tuple[str, ...] | None" = None) -> str:
    """The place of files, or the page cache where their folder refuses to do without it."""
    from supercomputers_rerun.kernels.files.filesystem import direct_refusal
    from supercomputers_rerun.kernels.runtime.resources import bases

    return "cache" if place == "direct" and any(map(direct_refusal, bases(folder))) else place


@figures.styled
def grouped(shown: "figures.Shown", groups: Mapping[str, int], at: float = 0.98, row: float = 0.5) -> "figures.Shown":
    """Name groups of rows in a figure of :func:`companion.figures.dots`, from top to bottom, with a line between them.

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
    """Draw a bound or an ideal, ``words`` above it, across all rows of a figure of :func:`companion.figures.dots`."""
    axis = shown.figure.axes[0]
    axis.axvline(value, color=figures.INK, linewidth=0.8, linestyle=":")
    axis.annotate(words, (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
                  ha="center", size=9, color=figures.INK)  # fmt: skip
    return shown


@figures.styled
def at_mark(axis, place: tuple, words: str, right: float = 8, up: float = 0, weight: str = "bold") -> None:
    """Write what the title says of a mark so many points to its right, or to its left below zero; of NaN nothing."""
    if np.isfinite(place[0]):
        side = "left" if right > 0 else "right" if right < 0 else "center"
        style = {"ha": side, "va": "center", "size": 9, "weight": weight, "color": figures.INK}
        axis.annotate(words, place, xytext=(right, up), textcoords="offset points", **style)


def pale(colour: str) -> dict[str, Any]:
    """Keywords for bars and boxes of a model: pale, with a dashed edge, so that none looks measured."""
    return {"facecolor": (colour, 0.3), "edgecolor": colour, "linestyle": "--", "linewidth": 0.9}
