"""What figures are drawn with: colours, markers, sizes, axes, and the marks of printed and of measured numbers.

The drawing of a figure to which a reader can add the device at hand carries its panels as JSON: the frame in units of
the drawing, the ends of both axes and whether they are logarithmic, and where rows and columns with names lie.
``book/_static/device/join.js`` puts marks there.
"""

import json
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from supercomputers_rerun.companion.bench import Ratio, median_interval, ratio
from supercomputers_rerun.companion.common import plain_bytes, plural
from supercomputers_rerun.companion.records.runs import OWN, SHAPES

#: Stands for "the colour of the surrounding text"; ``show`` writes it as ``currentColor``.
INK = "#010203"

#: What each colour means, in every figure: whose number it is, or what a part of the time goes into.  Any two differ
#: for readers with red-green colour blindness (the first after Okabe and Ito, darkened where needed) and keep a
#: contrast of at least 3:1 on white and on the book's dark ground.
MEANINGS = {
    "printed": "#0072b2",
    "measured": "#d55e00",
    "computing": "#009e73",
    "communication": "#c050e0",
    "waiting": "#b63834",
    "serial": "#666666",
    "files": "#b4903c",
    "calculated": "#489cb4",  # by a model, a simulation or a count
}
#: Of variants of one measured quantity, which only the figure's own legend tells apart: sizes, threads, strides,
#: builds.  The first is that of measured numbers; that of printed ones is none of them.
VARIANTS = ("measured", "communication", "computing", "waiting", "serial", "files")
SERIES = tuple(MEANINGS[name] for name in VARIANTS)

#: Marks of a report, hollow, one shape a machine; a second machine of today has the diamond.
_DOCUMENT_MARKERS = ("s", "^", "D", "v", "P", "X")

#: Width in inches: at one point a unit it has 346 units, so that 10-point text has about 10 pixels on a phone.
_WIDTH = 4.8
#: Points of the smallest text of a drawing: 9.1 pixels on a phone whose column is 358 pixels wide (of 390).
LEGIBLE = 8.8

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "xtick.minor.pad": 5.0,  # labels of minor ticks, which are shorter, on one line with the others
    "ytick.minor.pad": 5.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "axes.prop_cycle": cycler(color=SERIES),
    "figure.constrained_layout.use": True,
}
_INKED = ("text", "xtick", "ytick", "hatch", "grid", "axes.label", "axes.edge", "axes.title")
STYLE |= {f"{name}{'' if '.' in name else '.'}color": INK for name in _INKED}
STYLE |= dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none")


@contextmanager
def house():
    """Matplotlib with the house style, whatever the reader's settings say; they are back afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


#: By the names that :func:`companion.figures.show` is given.
JOINED = {"p5plus_bandwidth", "p5plus_loops", "nht1_solver", "sustained_rate"}
POINTS = 72  # an inch, as matplotlib's SVG has it


#: Of artists, axes and figures, what a place alone does not say.
_noted: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def tells(artist, **about) -> None:
    """Keep what marks are to say (:mod:`companion.figures.marks`).

    Of an artist its ``kind`` ("printed", "measured", "calculated"), ``run``, ``label``, the rows ``found`` that it
    draws, the words of a ``bound``, or for each mark ``whence`` it is; of an axis a function that says its ``x``.
    """
    _noted.setdefault(artist, {}).update(about)


def noted(artist) -> dict[str, Any]:
    """What :func:`tells` was told."""
    return _noted.get(artist, {})


def axes(rows: int = 1, columns: int = 1, *, height: float | None = None, **subplots):
    """A styled figure and its axes, outside pyplot, so that nothing is displayed twice.

    Parameters
    ----------
    rows, columns : int
        Panels.  Prefer rows: a figure of two columns is hard to read on a phone.
    height : float, optional
        Inches; 3.2 a row by default.
    **subplots
        Passed to ``Figure.subplots`` (``sharex=True`` …).

    Returns
    -------
    (Figure, Axes or ndarray of Axes)
    """
    figure = Figure(figsize=(_WIDTH, height or 3.2 * rows))
    panels = figure.subplots(rows, columns, **subplots)
    for panel in np.ravel(panels):
        panel.set_prop_cycle(cycler(color=SERIES))
    return figure, panels


def meaning(name: str) -> str:
    """The colour of a meaning. ``ValueError`` if :data:`MEANINGS` has no such name."""
    if name not in MEANINGS:
        raise ValueError(f"{name!r} has no colour; choose one of {', '.join(MEANINGS)}")
    return MEANINGS[name]


def series(number: int) -> str:
    """The colour of a variant that has no meaning in :data:`MEANINGS`."""
    return SERIES[number % len(SERIES)]


def hollow(name: str) -> dict:
    """Keywords for bars of printed numbers: their outline, in the colour of a meaning."""
    return {"facecolor": "none", "edgecolor": meaning(name), "linewidth": 1.4}


def plain(value: float) -> str:
    """A tick label without an exponent: 0.01, 1, 1 000, 20 000 000 as 20 M."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= factor:
            return f"{value / (1e3 if letter == ' k' else factor):g}{letter}"
    return f"{value:g}"


def bytes_label(value: float) -> str:
    """A size in powers of 1024: 512 B, 16 KB, 2 MB."""
    for factor, unit in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


def log_axis(axis, which: str = "both") -> None:
    """Logarithmic ``"x"``, ``"y"`` or ``"both"`` axes whose labels are plain numbers."""
    for letter in ("x", "y") if which == "both" else (which,):
        getattr(axis, f"set_{letter}scale")("log")
        ticks = getattr(axis, f"{letter}axis")
        ticks.set_major_locator(LogLocator(numticks=9))
        ticks.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        ticks.set_minor_locator(LogLocator(subs=range(2, 10), numticks=9))
        ticks.set_minor_formatter(FuncFormatter(lambda value, _, ticks=ticks: _between(value, ticks)))


def _between(value: float, ticks) -> str:
    """Label of 2 and 5 between powers of ten where the axis spans so few that it would look bare.

    An upright axis of less than one power has room for more.
    """
    low, high = ticks.get_view_interval()
    lead = value / 10 ** np.floor(np.log10(value) + 1e-9)
    leads = (2, 3, 4, 6, 8) if ticks.axis_name == "y" and high < low * 10 else (2, 5)
    return plain(value) if high <= low * 100 and np.isclose(lead, leads).any() else ""


def bytes_axis(axis, sizes) -> None:
    """Logarithmic x axis of sizes in bytes, labelled in KB, MB, GB of 1024 at every third power of two of ``sizes``."""
    low, high = int(np.floor(np.log2(np.min(sizes)))), int(np.ceil(np.log2(np.max(sizes))))
    tells(axis, x=bytes_label)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_ticks([2.0**power for power in range(low, high + 1, 3)])
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: bytes_label(value)))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _turn(axis, index: Any) -> int:
    """The turn of a measured variant in its figure; the first has the colour of measured numbers."""
    seen = _noted.setdefault(axis.figure, {}).setdefault("variants", [])
    if index not in seen:
        seen.append(index)
    return seen.index(index)


def points(
    axis, x, y, *, label: str, host: bool = False, index: int = 0, line: bool = True, colour: str = "", run=None
):
    """Plot one machine: hollow angular markers for a document's, filled circles for a measured one's.

    ``index`` chooses the shape of a document's machine, and says which variant of a figure is measured.  ``colour``
    names the meaning of a quantity that has one; without it the colour says whether it is printed or measured.
    ``run`` is the run of a measured one; if :meth:`companion.experiments.Experiment.runs` gave it a ``mark``, its
    points have this shape, small but for the reader's own, and stand in no legend.
    """
    paint = meaning(colour) if colour else series(_turn(axis, index)) if host else MEANINGS["printed"]
    shape = "o" if host else _DOCUMENT_MARKERS[index % len(_DOCUMENT_MARKERS)]
    style: dict[str, Any] = {"color": paint, "marker": shape, "markerfacecolor": paint if host else "none"}
    style |= {"linestyle": ("-" if host else "--") if line else "none"} | ({} if host else {"markeredgewidth": 1.4})
    mark = "" if run is None else run.attrs.get("mark", "")
    about = {"kind": "measured" if host else "printed", "run": run, "label": label}
    if mark:
        label = "_nolegend_"
        size, alpha, above = (9, 1.0, 2.5) if mark == OWN else (3.6, 0.65, 1.8)
        style |= {"marker": mark, "markersize": size, "alpha": alpha, "zorder": above, "linewidth": 0.7}
    (drawn,) = axis.plot(x, y, label=label, **style)
    tells(drawn, **about)
    return drawn


def calculated(axis, x, y, *, label: str, line: bool = True):
    """Plot what a model, a simulation or a count gives: half-filled circles, a dotted line."""
    style = {"marker": "o", "fillstyle": "left", "markerfacecoloralt": "none", "linestyle": ":" if line else "none"}
    (drawn,) = axis.plot(x, y, label=label, color=meaning("calculated"), **style)
    tells(drawn, kind="calculated")
    return drawn


def modelled(axis, x, y, *, label: str = "model"):
    """Draw what one of the five models (:mod:`companion.models`) predicts: a thin dashed line without marks."""
    return axis.plot(x, y, label=label, color=meaning("calculated"), linestyle="--", linewidth=1.3, zorder=2.6)[0]


def modelled_rows(axis, places, values) -> None:
    """The same of rows: a dashed stroke across each row at its value; NaN draws none."""
    places, values = np.asarray(places, dtype=float), np.asarray(values, dtype=float)
    known = np.isfinite(values)
    ends = places[known] - 0.36, places[known] + 0.36
    style = {"color": meaning("calculated"), "linestyle": "--", "linewidth": 1.6, "zorder": 2.6}
    axis.vlines(values[known], *ends, label="model", **style)


def printed_ranges(axis, place, low, high, *, colour: str = "printed", across: bool = True) -> None:
    """Ranges of a document, hollow: a bar between two ends, a mark of one number, a tick with an arrow of a bound.

    Parameters
    ----------
    place, low, high : array_like
        Where each range lies on the other axis, and its ends; NaN is an open end, and equal ends are one number.
    across : bool
        The ranges run along x, the places along y.
    colour : str
        The meaning of the quantity, where the figure has several.
    """
    paint = meaning(colour)
    for at, least, most in zip(place, np.asarray(low, dtype=float), np.asarray(high, dtype=float), strict=True):
        if np.isfinite([least, most]).all() and least != most:
            bar, start = (axis.barh, {"left": least}) if across else (axis.bar, {"bottom": least})
            (drawn,) = bar(at, most - least, 0.5, **start, **hollow(colour))
            tells(drawn, kind="printed")
            continue
        end = most if np.isnan(least) else least
        x, y = (end, at) if across else (at, end)
        if least == most:
            (drawn,) = axis.plot(x, y, "s", color=paint, markersize=6, markerfacecolor="none", markeredgewidth=1.4)
            tells(drawn, kind="printed")
        else:
            (drawn,) = axis.plot(x, y, "|" if across else "_", color=paint, markersize=13, markeredgewidth=1.6)
            tells(drawn, kind="printed", bound="at least" if np.isnan(most) else "at most")
            away = 24 if np.isnan(most) else -24
            arrow = {"arrowstyle": "<-", "color": paint, "linewidth": 1.4}
            tip = (away, 0) if across else (0, away)
            axis.annotate("", (x, y), xytext=tip, textcoords="offset points", arrowprops=arrow)


#: The letter that stands for a mark below a figure; the first machine of a figure has circles.
LETTERS = dict(zip(("", *SHAPES, OWN), "●◆▲▼■✚✖⬢⬟★", strict=True))


#: What each case of a run took, as :func:`intervals` wants it.
TIMES = ["minimum", "median", "maximum", "median_low", "median_high", "flags"]


def cases(run: xr.Dataset, *names: str) -> pd.DataFrame:
    """Coordinates of each case by their ``names``, its threads, times, flags and work, a case a row."""
    columns = [*names, "threads", *TIMES, "bytes_read", "bytes_written", "flops"]
    return run[[name for name in columns if name not in run.coords]].to_dataframe()[columns]


def intervals(cases: pd.DataFrame) -> pd.DataFrame:
    """Columns ``low``, ``middle`` and ``high``, in seconds, and ``flagged`` of cases along the rows.

    ``middle`` is the median; the others are the ends of its 95 % interval, or least and largest sample where
    there are too few samples for an interval.  ``cases`` has the columns :data:`TIMES` of a record.
    """
    return pd.DataFrame(
        {
            "low": cases["median_low"].fillna(cases["minimum"]),
            "middle": cases["median"],
            "high": cases["median_high"].fillna(cases["maximum"]),
            "flagged": cases["flags"].astype(str) != "",
        }
    )


def of_samples(samples, flags) -> pd.DataFrame:
    """As :func:`intervals`, of samples in any unit.

    Parameters
    ----------
    samples : array_like, (cases, samples)
        NaN where there is no sample.
    flags : array_like of str, (cases,)
        Empty where nothing is doubtful.
    """
    rows = [row[np.isfinite(row)] for row in np.asarray(samples, dtype=float)]
    ends = [median_interval(row) or ((row.min(), row.max()) if row.size else (np.nan, np.nan)) for row in rows]
    return pd.DataFrame(
        {
            "low": [low for low, _ in ends],
            "middle": [float(np.median(row)) if row.size else np.nan for row in rows],
            "high": [high for _, high in ends],
            "flagged": np.asarray(flags).astype(str) != "",
        }
    )


def sampled(run: xr.Dataset, name: str, rows=slice(None)) -> pd.DataFrame:
    """:func:`of_samples` of the cases ``rows`` of a run: of their times, ``"seconds"``, or of ``"observed_…"``."""
    return of_samples(run[name].values[rows], run["flags"].values[rows])


def converted(found: pd.DataFrame, convert) -> pd.DataFrame:
    """``found``, as :func:`intervals` gives it, in another quantity.

    ``convert`` is monotone and works elementwise; rates fall with time, so that the ends change places.
    """
    ends = [np.asarray(convert(found[name]), dtype=float) for name in ("low", "middle", "high")]
    low, high = np.minimum(ends[0], ends[2]), np.maximum(ends[0], ends[2])
    return pd.DataFrame({"low": low, "middle": ends[1], "high": high, "flagged": found["flagged"].to_numpy()})


def quotient(above: pd.DataFrame, below: pd.DataFrame) -> pd.DataFrame:
    """Of two quantities, row by row; its ends are those that lie farthest apart, so the bars are rather too long."""
    above, below = above.reset_index(drop=True), below.reset_index(drop=True)
    return pd.DataFrame(
        {
            "low": above["low"] / below["high"],
            "middle": above["middle"] / below["middle"],
            "high": above["high"] / below["low"],
            "flagged": above["flagged"] | below["flagged"],
        }
    )


def times(above, below) -> Ratio:
    """How many times as long as ``below`` ``above`` takes: medians, with the 95 % interval and words for a sentence.

    The one way from samples to a headline: ``f"… takes {times(disk, memory).times} as long"`` says median and interval,
    and "no measurable difference" where that includes 1 (:class:`companion.bench.Ratio`). Both sides must be
    alike: same place, driver, threads and work.  Of two that together do what one other case does, give the sum of
    their samples; of one that does it twice, twice its samples. ``ValueError`` where a side has no sample, or one that
    is not above zero.

    Parameters
    ----------
    above, below : array_like
        Samples of one case each, in one unit, all above zero; NaN where there is none: a row of ``seconds`` or of
        ``observed_…`` of a record.
    """
    sides = (np.asarray(samples, dtype=float).ravel() for samples in (below, above))
    return ratio(*(samples[~np.isnan(samples)] for samples in sides))


def ratios(run: xr.Dataset, above, below, name: str = "seconds", under: str = "") -> pd.DataFrame:
    """Times of the cases ``above`` of a run over those of ``below``, one by one, as :func:`bars` takes them.

    The ends are those of the 95 % interval of :func:`times`, or of too few samples those that lie farthest apart.

    Parameters
    ----------
    above, below : array_like of int
        Numbers of cases; ``below`` may be one.
    name, under : str
        The times: ``"seconds"`` or ``"observed_…"``; those of ``below`` are the same unless ``under`` names them.
    """
    flags, found = run["flags"].values.astype(str), []
    for i, j in zip(above, np.broadcast_to(below, np.shape(above)), strict=True):
        upper, lower = run[name].values[i], run[under or name].values[j]
        ratio = times(upper, lower)
        ends = ratio.interval or (np.nanmin(upper) / np.nanmax(lower), np.nanmax(upper) / np.nanmin(lower))
        found.append((float(ends[0]), ratio.medians, float(ends[1]), bool(flags[i] or flags[j])))
    return pd.DataFrame(found, columns=["low", "middle", "high", "flagged"])


def bars(
    axis,
    place,
    found: pd.DataFrame,
    *,
    label: str,
    index: Any = 0,
    line: bool | None = None,
    across: bool = False,
    colour: str = "",
    run=None,
):
    """Medians with their spread; flagged ones are crossed.  Other parameters are those of :func:`points`.

    Of a run that is not the first of its figure, the medians alone, those of the reader's own run crossed, too.

    Parameters
    ----------
    place : array_like
        Of each row of ``found`` on the other axis.
    found : pandas.DataFrame
        As :func:`intervals` gives it, in the quantity drawn.
    across : bool
        The quantity runs along x, the places along y, and no line joins the medians unless ``line`` says so.
    """
    line = not across if line is None else line
    place, middle = np.asarray(place, dtype=float), found["middle"].to_numpy(dtype=float)
    x, y = (middle, place) if across else (place, middle)
    drawn = points(axis, x, y, label=label, host=True, index=index, line=line, colour=colour, run=run)
    tells(drawn, found=found)
    mark = "" if run is None else run.attrs.get("mark", "")
    if not mark:
        spread = axis.hlines if across else axis.vlines
        spread(place, found["low"], found["high"], color=drawn.get_color(), linewidth=1.6)
    flagged = found["flagged"].to_numpy(dtype=bool)
    if flagged.any() and mark in ("", OWN):
        axis.plot(x[flagged], y[flagged], "x", color=INK, markersize=7, linestyle="none", zorder=3)
    return drawn


def lines(axis, runs, frames, x: str, y: str, by: str | list[str], label: Callable[..., str]) -> None:
    """A line for each group of cases of each run: medians of ``y`` with their spread against ``x``.

    Parameters
    ----------
    frames : list of pandas.DataFrame
        One for each run, in the order of ``x``; ``y`` as :func:`with_spread` gives it.
    by : str or list of str
        Columns whose values make a group.
    label : callable
        The values of a group to its words in the legend.
    """
    for run, frame in zip(runs, frames, strict=True):
        for key, line in frame.groupby(by, sort=False):
            words = label(*key) if isinstance(key, tuple) else label(key)
            bars(axis, line[x], spread_of(line, y), label=words, index=key, run=run)


def rows(axis, names, above: float = 0.5, below: float = 0.5) -> np.ndarray:
    """Name the rows of a panel from top to bottom, with room ``above`` and ``below`` them; their places."""
    axis.set_yticks(np.arange(len(names)), names)
    axis.set_ylim(len(names) - 1 + below, -above)
    axis.grid(False, axis="y")
    return np.arange(len(names))


def at_right(axis, texts) -> None:
    """A text at the right edge of each row."""
    for row, text in enumerate(texts):
        axis.text(1.01, row, text, transform=axis.get_yaxis_transform(), va="center", size=9)


def together(runs, frames) -> pd.DataFrame:
    """The data of several runs in one table, with a column ``machine`` where there are more than one."""
    if len(runs) == 1:
        return frames[0].reset_index(drop=True)
    named = [frame.assign(machine=cpu(run)) for run, frame in zip(runs, frames, strict=True)]
    return pd.concat(named, ignore_index=True)


def machines(runs) -> str:
    """Which mark is which machine, where a figure has several."""
    said = [f"{LETTERS[run.attrs.get('mark', '')]} {cpu(run)}".replace(" ", "\N{NO-BREAK SPACE}") for run in runs]
    doubtful = any(run.attrs.get("mark") == OWN and (run["flags"].values.astype(str) != "").any() for run in runs)
    return "; ".join(said) + (" (crossed: doubtful)" if doubtful else "") if len(said) > 1 else ""


def legend(axis, place: str) -> None:
    """The legend of a panel, or below all panels.

    ``"below 2"`` is a legend of two columns below all panels, ``"above 2"`` one above the panel, at its middle or at
    the part of its width that follows, ``"above 2 0.4"``; other words are a place within it.
    """
    word, *rest = place.split()
    if not any(each.get_legend_handles_labels()[1] for each in axis.figure.axes):
        return  # a run may lack all that is labelled
    if word == "below":
        axis.figure.legend(loc="outside lower center", ncols=int(rest[0]))
    elif word == "above":
        anchor = float(rest[1]) if rest[1:] else 0.5, 1.0
        axis.legend(loc="lower center", bbox_to_anchor=anchor, ncols=int(rest[0]))
    else:
        axis.legend(loc=place)


def with_spread(frame: pd.DataFrame, **quantities: pd.DataFrame) -> pd.DataFrame:
    """``frame`` with three columns a quantity, ``rate``, ``rate_low`` and ``rate_high``, and ``flagged``: the CSV."""
    frame = frame.reset_index(drop=True)
    for name, found in quantities.items():
        for column, end in ((name, "middle"), (f"{name}_low", "low"), (f"{name}_high", "high")):
            frame[column] = found[end].to_numpy()
    frame["flagged"] = np.any([found["flagged"].to_numpy() for found in quantities.values()], axis=0)
    return frame


def quantities(cases: pd.DataFrame, **convert: Callable) -> pd.DataFrame:
    """:func:`with_spread` of quantities that follow from the time of each case: functions of its seconds."""
    found = intervals(cases)
    return with_spread(cases, **{name: converted(found, function) for name, function in convert.items()})


def spread_of(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """One quantity of :func:`with_spread` as :func:`bars` takes it."""
    ends = {f"{name}_low": "low", name: "middle", f"{name}_high": "high", "flagged": "flagged"}
    return frame[list(ends)].set_axis(list(ends.values()), axis=1).reset_index(drop=True)


def cpu(record: xr.Dataset) -> str:
    """Machine of a run, by its label among those of the book: whoever reads the page may have another."""
    about = record.attrs
    return str(about.get("label") or about["machine"].partition(",")[0])


def letter(record: xr.Dataset) -> str:
    """The machine of a run without what stands in brackets: ``F`` of ``F (AMD EPYC Zen 3)``."""
    return cpu(record).partition(" (")[0]


def run_title(record: xr.Dataset) -> str:
    """Machine, preset and day of a run, for the small print of its figure, and of one over MPI its ranks."""
    cpus = str(record.attrs["machine"]).rpartition(", ")[2]
    title = f"{cpu(record)}, {cpus}, preset {record.attrs['preset']}, {record.attrs['date'][:10]}"
    if "ranks" not in record:
        return title
    shared = any("oversubscribed" in str(flags) for flags in record["flags"].values)
    ranks = plural(int(np.max(record["ranks"].values)), "rank")
    return f"{title}, {ranks}{', more than processors' if shared else ''}"


def doubts(record) -> str:
    """A sentence on the flags of a run, for its caption; empty without any."""
    found: dict[str, list[str]] = {}
    for label, flags in zip(record["label"].values, record["flags"].values, strict=True):
        for flag in filter(None, str(flags).split("; ")):
            found.setdefault(flag, []).append(plain_bytes(str(label)))
    total = record.sizes["case"]
    parts = (
        f"{flag}: {', '.join(names) if len(names) < 4 else f'{len(names)} of {total} cases'}"
        for flag, names in found.items()
    )
    return f"In doubt: {'; '.join(parts)}." if found else ""


def one_line(text: str) -> str:
    """What a text says, though it was broken into lines for a phone."""
    return " ".join(text.split())


def named(axis: Axes, which: str) -> dict[str, float]:
    """Place of each row or column that has a name; names of rows may stand above them, as texts in their order."""
    one = getattr(axis, f"{which}axis")
    places = [float(place) for place in one.get_ticklocs()]
    names = [one_line(label.get_text()) for label in one.get_ticklabels()]
    if which == "y" and not any(names):
        texts = [each.get_text() for each in axis.texts if not isinstance(each, Annotation)]
        names = [one_line(text) for text in texts if text]
    if one.get_scale() == "log" or any(name.replace("\N{MINUS SIGN}", "").replace(".", "").isdigit() for name in names):
        return {}
    return {name: place for name, place in zip(names, places, strict=False) if name}


def _panel(axis: Axes, width: float, height: float) -> dict[str, Any]:
    frame = axis.get_position()
    box = frame.x0 * width, (1 - frame.y1) * height, frame.x1 * width, (1 - frame.y0) * height
    panel: dict[str, Any] = {"box": [round(value, 2) for value in box]}
    for which in "xy":
        ends = [float(f"{value:.6g}") for value in getattr(axis, f"get_{which}lim")()]
        log = getattr(axis, f"get_{which}scale")() == "log"
        panel[which] = {"ends": ends, "log": log, "named": named(axis, which)}
    return panel


def panels(figure) -> str:
    """The panels of a figure that was drawn, in their order, as JSON."""
    width, height = figure.get_size_inches() * POINTS
    found = [_panel(axis, width, height) for axis in figure.axes]
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
