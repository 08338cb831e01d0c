"""A matplotlib figure as inline SVG for a notebook and the book, one drawing that a phone and a page can show.

Beside it the box that opens a chapter, its computed sentences, folds, and the figure of rows that most sections draw.
"""

import base64
import inspect
import io
import itertools
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.text import Text

from supercomputers_rerun.companion import notebook_files
from supercomputers_rerun.companion.figures import styled
from supercomputers_rerun.companion.figures.kit import (
    INK,
    JOINED,
    LEGIBLE,
    MEANINGS,
    SERIES,
    axes,
    bars,
    cpu,
    legend,
    log_axis,
    machines,
    modelled_rows,
    named,
    noted,
    panels,
    points,
    printed_ranges,
    rows,
    run_title,
    spread_of,
    tells,
    together,
)
from supercomputers_rerun.companion.figures.marks import told
from supercomputers_rerun.companion.tables import addressed, documents, printed_in

_counter = itertools.count(1)
#: In the environment: ``text`` where only what figures say is compared, and none is drawn; ``stored`` where a notebook
#: gets pictures as PNG, with which it is committed.
FIGURES = "RERUN_FIGURES"
_FONTS = "'DejaVu Sans', Verdana, sans-serif"


def csv_link(data: pd.DataFrame, name: str) -> str:
    """HTML link that saves ``data`` as ``<name>.csv``; works without a network."""
    text = data.to_csv(index=not isinstance(data.index, pd.RangeIndex), lineterminator="\n")
    packed = base64.b64encode(text.encode()).decode()
    return f'<a download="{escape(name)}.csv" href="data:text/csv;charset=utf-8;base64,{packed}">data as CSV</a>'


def _frame(data: xr.Dataset) -> pd.DataFrame:
    """A dataset as a table, whose columns name their units."""
    units = {str(name): data[name].attrs.get("units", "1") for name in data.variables}
    names = {name: f"{name} [{unit}]" for name, unit in units.items() if unit not in ("", "1")}
    return data.to_dataframe().reset_index().rename(columns=names)


def _tidy(svg: str, prefix: str, alt: str, width: float) -> str:
    """Matplotlib's file as an element of a page: own ids, page's text colour, fluid width."""
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.S)
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    svg = svg.replace('xlink:href="data:', 'href="data:').replace(INK, "currentColor")
    svg = re.sub(r"font-family: [^;\"]+", f"font-family: {_FONTS}", svg)
    if "data:image" not in svg:
        # Coordinates need two decimals; the text between the tags keeps every digit.
        svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d+\.\d{2})\d+", r"\1", tag.group()), svg)
    (view, *_) = re.findall(r'viewBox="[^"]+"', svg)
    # The style sheet matplotlib writes into the file would govern the whole page; here it is inherited.
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} role="img" aria-label="{escape(alt)}" '
        f'style="display: block; width: 100%; max-width: {width:.0f}px; height: auto; '
        'stroke-linejoin: round; stroke-linecap: butt; color: inherit">'
    )
    svg = re.sub(r"<svg[^>]*>", lambda _: root, svg, count=1).strip()
    return re.sub(r"\s*\n\s*", "\n", svg)


@dataclass(frozen=True)
class Words:
    """What stands around a drawing: its title above; below it which mark is whose, its caption and the small print.

    ``note`` begins the small print, which says where numbers are printed, and where and when they were measured.
    """

    title: str = ""
    key: str = ""
    caption: str = ""
    note: str = ""
    small: str = ""


@dataclass(eq=False, repr=False)
class Shown:
    """A figure, table or text that displays itself: HTML where that is understood, its alternative text elsewhere."""

    page: str | Callable[[], str]  # HTML, or what makes it, since drawing takes time and not every reader sees it
    alt: str
    data: Any = None  # what is drawn, as a table
    figure: Any = None
    markdown: str = ""  # what JupyterLab shows of a stored notebook that nobody has trusted or run yet
    words: Words = Words()
    name: str = ""  # by which the book refers to a figure
    beside: tuple[tuple, ...] = ()  # printed numbers with what a run has in their place, as :func:`_beside` gives them

    @cached_property
    def html(self) -> str:
        """What a page shows."""
        return self.page if isinstance(self.page, str) else self.page()

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        mode = os.environ.get(FIGURES)
        if mode == "stored" and self.figure is not None:
            return {"image/png": _stored(self), "text/plain": self.alt}
        if mode == "stored" and self.markdown:
            return {"text/markdown": self.markdown, "text/plain": self.alt}
        return {"text/plain": self.alt} | ({} if mode == "text" else {"text/html": self.html})


def _legible(figure) -> None:
    """No text of ``figure`` is smaller than a phone shows legibly, none is wider than the figure, and none black."""
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    for text in texts:
        text.set_size(max(text.get_size(), LEGIBLE))
        if text.get_color() == "black":  # of Matplotlib's own, where a section added it after the house style
            text.set_color(INK)
    room = 0.96 * figure.bbox.width
    for text in texts:
        words = text.get_text()
        width = text.get_window_extent().width if "\n" not in words and not text.get_rotation() else 0
        if width > room:
            text.set_text(textwrap.fill(words, int(len(words) * room / width)))


@styled
def _drawn(figure, prefix: str, alt: str, name: str | None = None) -> str:
    buffer = io.StringIO()
    _legible(figure)
    with mpl.rc_context({"svg.hashsalt": prefix, "savefig.dpi": 150}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = _tidy(buffer.getvalue(), prefix, alt, float(np.round(120 * figure.get_size_inches()[0])))
    svg = f"{svg.removesuffix('</svg>')}{told(figure)}</svg>"
    return svg.replace("<svg ", f'<svg data-panels="{escape(panels(figure))}" ', 1) if name in JOINED else svg


@contextmanager
def _lettered(shown: Shown) -> Iterator:
    """The figure of ``shown`` with its title above the drawing, caption and small print below, outside its frame."""
    figure, words = shown.figure, shown.words
    _legible(figure)
    width, height = figure.get_size_inches()
    added = []
    # The layout stays; legends hang on the lower edge, which a picture that is cut out tightly moves.
    figure.draw_without_rendering()
    layout = figure.get_layout_engine()
    figure.set_layout_engine("none")
    for each in figure.legends:
        each.set_bbox_to_anchor((0, 0, 1, 1), figure.transFigure)

    def write(text: str, y: float, **style) -> float:
        """``text`` in lines as wide as the figure, ``y`` inches above its lower edge; the height that it takes."""
        made = figure.text(0.01, y / height, text, parse_math=False, **style)
        added.append(made)
        longest = made.get_window_extent().width / figure.dpi / (0.97 * width)
        if longest > 1:
            made.set_text(textwrap.fill(text, int(len(text) / longest)))
        return made.get_window_extent().height / figure.dpi

    if words.title:
        write(words.title.rstrip("."), height + 0.1, size=11.5, weight="bold", va="bottom")
    y = -0.1
    for text, alpha in ((words.key, 1), (words.caption, 1), (words.small, 0.75)):
        y -= write(text, y, size=LEGIBLE, va="top", alpha=alpha) + 0.06 if text else 0
    try:
        yield figure
    finally:
        for each in added:
            each.remove()
        for each in figure.legends:
            each.set_bbox_to_anchor(None)
        figure.set_layout_engine(layout)


@styled
def _stored(shown: Shown) -> str:
    """A picture of at most some 40 KB for the committed notebook, in base64: PNG on white, with a palette."""
    from PIL import Image

    buffer, packed = io.BytesIO(), io.BytesIO()
    with _lettered(shown) as figure:
        figure.savefig(buffer, format="png", dpi=90, facecolor="white", bbox_inches="tight")
    few = Image.open(buffer).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE)  # the median cut merges colours
    few.save(packed, "PNG", optimize=True)
    return base64.b64encode(packed.getvalue()).decode()


@styled
def save(shown: Shown, path) -> None:
    """Write ``shown``, black on white, with title and small print into a file that ends in .svg, .png or .pdf."""
    with _lettered(shown) as figure, mpl.rc_context({"savefig.dpi": 200, "svg.fonttype": "path"}):
        figure.savefig(path, facecolor="white", bbox_inches="tight")


def described(figure) -> str:
    """Its panels in words: what their axes are, and the value of each labelled line in every row, or at both ends."""
    found = []
    for axis in filter(lambda axis: axis.axison and axis.get_xlabel() + axis.get_ylabel(), figure.axes):
        both = (axis.get_ylabel(), axis.get_yscale()), (axis.get_xlabel(), axis.get_xscale())
        words = [f"{name}{', logarithmic' if scale != 'linear' else ''}" for name, scale in both if name]
        found.append(f"{axis.get_title() or axis.get_title('left')} {' against '.join(words)}")
        rows = {round(place): name for name, place in named(axis, "y").items()}
        for line in axis.get_lines():
            if line.get_label().startswith("_") or line.get_transform() != axis.transData:
                continue
            points = [(x, y) for x, y in zip(*line.get_data(), strict=True) if np.isfinite(x + y)]
            if rows:
                values = [f"{rows.get(round(y), '')} {x:.3g}" for x, y in points]
            else:
                values = [f"{y:.3g} at {x:.3g}" for x, y in dict.fromkeys((*points[:1], *points[-1:]))]
            found.append(f"{line.get_label()}: {', '.join(values)}")
    return "; ".join(found) + "." if found else ""


def _with_marks(figure, runs) -> list:
    """Those of ``runs`` of which something is drawn; what no line is noted of is taken to be drawn in another way."""
    lines = [line for axis in figure.axes for line in axis.get_lines()]

    def seen(run) -> bool:
        own = [line for line in lines if noted(line).get("run") is run]
        return not own or any(np.isfinite(np.asarray(line.get_xydata(), dtype=float)).all(axis=1).any() for line in own)

    return [run for run in runs if seen(run)]


#: Where the book puts the number of a figure or table; empty wherever a notebook runs.
NUMBER = '<span class="rerun-number"></span>'


def show(
    figure,
    *,
    data=None,
    name: str = "figure",
    run=None,
    runs=(),
    alt: str = "",
    title: str = "",
    caption: str = "",
    heading: str | None = None,
    tables: str = "",
    note: str = "",
) -> Shown:
    """Display ``figure`` for light and dark pages, with alternative text and its data.

    ``ValueError`` if ``alt`` is empty and no panel has axes to describe.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn on axes from :func:`companion.figures.axes`.  Artists that would be thousands of paths
        are best drawn with ``rasterized=True``.
    data : xarray.Dataset or pandas.DataFrame, or a list of frames, one for each of ``runs``
        What is drawn; offered below the figure as CSV.
    name : str
        Stem of the CSV file's name, and the name by which the book refers to the figure (``fig-<name>``).
    run : xarray.Dataset, optional
        The run that is drawn; the book leads from the figure to the checks of its experiment.
    runs : list of xarray.Dataset, optional
        All runs that are drawn, the first in full; a line below the drawing says which marks are whose.
    alt : str
        What a reader who cannot see the figure must know, where that is not what :func:`described` says of it.
    title : str
        What the figure shows, as a sentence of up to about 90 characters; it stands above the drawing.
    caption : str
        What is compared and what to notice, in at most 25 words below the drawing; ``alt`` where it is not given.
    heading : str, optional
        For the small print, in place of machine, preset and day of the run.
    tables : str
        Printed tables that are drawn, separated by spaces, to which the book leads: ``"smt_benefit"``, or of another
        document ``"p5plus/drhook"``.
    note : str
        What begins the small print: how far a model is from what was measured (:func:`companion.models.said`).
    """
    run = runs[0] if runs and run is None else run
    caption, alt = (caption or alt).strip(), " ".join((alt or described(figure)).split())
    if not alt:
        raise ValueError("alt is empty; say in a sentence or two what the figure shows")
    if isinstance(data, list):
        data = together(runs, data)
    elif isinstance(data, xr.Dataset):
        data = _frame(data)
    known = (each for each in addressed(tables, name.partition("_")[0]) if each[0] in documents())
    printed = printed_in(known)
    if not heading and "machine" in getattr(run, "attrs", {}):
        heading = run_title(run)
    tells(figure, run=run, printed=printed)
    source = [f"{word}: {said}." for word, said in (("Report", printed), ("Measured", heading)) if said]
    small = " ".join([note, *source]).strip()
    words = Words(title, machines(_with_marks(figure, runs)), caption, note, small)
    experiment = getattr(run, "attrs", {}).get("experiment")
    checked = f' data-run="{escape(experiment)}"' if experiment else ""
    drawn = f' data-tables="{escape(tables)}"' if tables else ""

    def html() -> str:
        svg = _drawn(figure, f"f{next(_counter)}", alt, name)
        link = csv_link(data, name) if data is not None else ""
        title, key, small = map(escape, (words.title.rstrip("."), words.key, words.small))
        small = re.sub(r"\d{4}-\d\d-\d\d", r"<time>\g<0></time>", small)
        return (
            f'<figure class="rerun-figure" data-name="{escape(name)}"{checked}{drawn} '
            'style="margin: 0.5em 0; max-width: 100%">'
            + (f'<p class="rerun-title" style="margin: 0; font-weight: 700">{title}</p>' if title else "")
            + svg
            + (f'<p class="rerun-key" style="margin: 0; font-size: 0.85em">{key}</p>' if key else "")
            + f'<figcaption style="font-size: 0.85em">{NUMBER}{escape(words.caption)} {link}'
            + (f'<small class="rerun-small" style="display: block">{small}</small>' if small else "")
            + "</figcaption></figure>"
        )

    return Shown(html, alt, data, figure, words=words, name=name)


def explorer(kind: str, data: dict, *, still: Shown) -> Shown:
    """The figure ``still``, in whose place the page shows one that can be steered.

    The page carries the data as JSON, and ``book/_static/explorers.js`` draws them; without a script the picture stays.
    ``ValueError`` for NaN and infinity, of which JSON knows nothing.

    Parameters
    ----------
    kind : str
        ``"banks"`` or ``"clock"``, what ``explorers.js`` can draw.
    data : dict
        What it draws, plain values only; the colours of the book are added.
    still : Shown
        A picture of the same, for paper and where no script runs; its caption serves both.
    """
    whole = {"colours": MEANINGS, "series": SERIES, **data}
    text = json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    head = f'<div class="rerun-explorer" data-kind="{kind}"><script type="application/json">{text}</script>'
    return replace(still, page=lambda: f"{head}{still.html}</div>")


def source(function, seen: str) -> Shown:
    """The source of a function, of a compiled one what it was compiled from; ``seen`` says what the reader sees."""
    function = getattr(function, "py_func", function)
    text = textwrap.dedent(inspect.getsource(function)).strip()
    where = f"{function.__module__.replace('.', '/')}.py"
    html = (
        f'<figure class="rerun-source"><pre><code>{escape(text)}</code></pre>'
        f"<figcaption>{escape(seen)} From <code>{escape(where)}</code></figcaption></figure>"
    )
    return Shown(html, f"{text}\n\n{seen}")


@styled
def dots(
    runs,
    frames,
    quantities: dict[str, str],
    *,
    xlabel: str,
    printed=None,
    ranges=None,
    names=(),
    colours=(),
    log: bool = False,
    base: float | None = None,
    legend_at: str = "below 2",
    height: float = 0.0,
    data=None,
    model=None,
    **shown,
) -> Shown:
    """Rows of numbers: printed ones, hollow, and medians of runs with their spread, one below the other in a row.

    The data are the frames and, where these say nothing of a printed number, a column of it.

    Parameters
    ----------
    frames : list of pandas.DataFrame
        One for each of ``runs``, as :func:`with_spread` makes it, with the name of its row in the column ``what``.
    quantities : dict
        The label of each column that is drawn, of the frames that have it; ``{}`` in it is the machine.
    printed : dict, optional
        Label -> the numbers of rows, a ``pandas.Series`` by name of row; a name may occur several times.
    ranges : pandas.DataFrame, optional
        Printed ranges ``low`` and ``high`` by name of row, in the ``colour`` of their meaning if they have several.
    names : sequence of str
        The rows from top to bottom, if these are not all in the order in which they come.
    colours : sequence of str
        Meanings of the quantities, where they have one; those of as many printed series are the same.
    base : float, optional
        Where a line stands to which quotients are held.
    model : dict, optional
        What a model predicts, by name of row: a dashed stroke.  Rows that are not drawn are passed over.
    legend_at : str
        See :func:`companion.figures.legend`.
    **shown
        Passed to :func:`companion.figures.show`.
    """
    printed = {label: pd.Series(values, dtype=float) for label, values in (printed or {}).items()}
    if not len(names):
        parts = [series.index for series in printed.values()] + [frame["what"] for frame in frames]
        names = dict.fromkeys(name for part in parts for name in part)
    names = list(names)
    count = len(printed) + len(quantities)
    shifts = (np.arange(count) - (count - 1) / 2) * 0.44 / max(count - 1, 1)
    figure, axis = axes(height=height or 1.1 + 0.27 * len(names) + 0.2 * -(-count // 2))
    if ranges is not None:
        shown["alt"] = "; ".join(f"{row.Index}: {row.low:.3g} to {row.high:.3g}" for row in ranges.itertuples())
        for colour, part in ranges.groupby(ranges.get("colour", pd.Series("printed", ranges.index))):
            printed_ranges(axis, part.index.map(names.index), part["low"], part["high"], colour=colour)
        axis.axhline(ranges.index.nunique() - 0.5, color=INK, linewidth=0.8)  # they are the first rows
    for number, (label, series) in enumerate(printed.items()):
        place = series.index.map(names.index).to_numpy() + shifts[number]
        colour = colours[number] if colours else ""
        points(axis, series.to_numpy(), place, label=label, index=number, line=False, colour=colour)
    for run, frame in zip(runs, frames, strict=True):
        frame = frame[frame["what"].isin(names)]
        place = frame["what"].map(names.index).to_numpy(dtype=float)
        for number, (column, label) in enumerate(quantities.items()):
            if column not in frame:
                continue
            at, words = place + shifts[len(printed) + number], label.format(cpu(run))
            colour = colours[number] if colours else ""
            bars(axis, at, spread_of(frame, column), label=words, index=number, across=True, colour=colour, run=run)
    if model:
        drawn = {name: value for name, value in model.items() if name in names}
        modelled_rows(axis, [names.index(name) for name in drawn], list(drawn.values()))
    rows(axis, names, above=0.6, below=0.6)
    if log:
        log_axis(axis, "x")
    if base is not None:
        axis.axvline(base, color=INK, linewidth=0.8)
    axis.set_xlabel(xlabel, loc="right")  # a long one has room to the left
    legend(axis, legend_at)
    if data is None:
        once = {label: series for label, series in printed.items() if series.index.is_unique}
        data = [
            frame.assign(**{label: frame["what"].map(series) for label, series in once.items()}) for frame in frames
        ]
    alt = f"{described(figure)} {shown.pop('alt', '')}".replace("nan", "open")
    shown.setdefault("caption", f"{xlabel[0].upper()}{xlabel[1:]}.")  # not all numbers, which a screen reader says
    beside = tuple(_beside(frames, quantities, printed, xlabel))
    return replace(show(figure, runs=runs, data=data, alt=alt, **shown), beside=beside)


def _beside(frames: list[pd.DataFrame], quantities, printed: dict[str, pd.Series], unit: str) -> Iterator[tuple]:
    """A tuple for each row with a number of a run and one of the report: row, unit, the run's number with its ends,
    where the other is printed, and that (of several in a row their median).

    Of as many quantities as printed series each has its own, else all have the first that the frame has.
    """
    frame = frames[0] if frames else pd.DataFrame({"what": []})
    has = [name for name in quantities if name in frame]
    paired = list(quantities) if len(quantities) == len(printed) else has[:1] * len(printed)
    for column, (source, series) in zip(paired, printed.items(), strict=False):
        old = series.dropna().groupby(level=0, sort=False).median()
        if column not in has:
            continue
        for row in frame[frame["what"].isin(old.index) & frame[column].notna()].to_dict("records"):
            ends = (float(row[f"{column}{end}"]) for end in ("", "_low", "_high"))
            yield str(row["what"]), unit, *ends, source, float(old[row["what"]])


def box(*, report: str, mattered: str, findings: Sequence[str], missing: str) -> Shown:
    """The opening of a chapter.

    Parameters
    ----------
    report : str
        What the report is: who measured what, when, for whom.
    mattered : str
        Why it mattered.
    findings : sequence of str
        About three sentences whose numbers are computed from the data or a record where the box is called.
    missing : str
        What cannot be rerun, and why.
    """
    items = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    html = (
        '<aside class="rerun-box" aria-label="This chapter in short" '
        'style="border: 1px solid currentColor; border-radius: 6px; padding: 0.6em 1em; margin: 1em 0">'
        f"<p><strong>The report.</strong> {escape(report)}</p>"
        f"<p><strong>What was found.</strong></p><ul>{items}</ul>"
        "<details><summary>Why it mattered, and what cannot be rerun</summary>"
        f"<p>{escape(mattered)}</p><p>{escape(missing)}</p></details></aside>"
    )
    text = "\n".join([report, mattered, *(f"- {finding}" for finding in findings), missing])
    said = [f"**The report.** {report}", "**What was found.**", "\n".join(f"- {finding}" for finding in findings)]
    return Shown(html, text, markdown="\n\n".join([*said, f"**Why it mattered.** {mattered}", missing]))


def paragraph(*texts: str, tag: str = "") -> Shown:
    """A paragraph of the chapter, or several, in sentences whose numbers are computed where this is called.

    ``tag`` is an element of HTML around the words of each: ``"strong"``, ``"small"``.
    """
    begin, end = (f"<{tag}>", f"</{tag}>") if tag else ("", "")
    html = "".join(f'<p class="rerun-paragraph">{begin}{escape(text)}{end}</p>' for text in texts)
    return Shown(html, "\n".join(texts), markdown="\n\n".join(f"{begin}{text}{end}" for text in texts))


def answer(text: str) -> Shown:
    """The answer to an exercise, a :func:`paragraph` that is folded until a reader opens it."""
    inside = paragraph(text).html
    html = f'<details class="rerun-fold rerun-answer"><summary>Answer</summary>{inside}</details>'
    return Shown(html, text, markdown=html)


def steer(draw: Callable, instead: Shown, **controls) -> Shown | None:
    """``draw`` with sliders and menus, one for each of its parameters in ``controls`` (``ipywidgets.interact``).

    In a notebook that a person has opened; elsewhere (the book, a test, a stored notebook) no hand moves them, and
    ``instead`` is shown.
    """
    if not notebook_files.opened():
        return instead
    from ipywidgets import interact

    @wraps(draw)  # whose parameters interact reads
    def seen(**chosen):
        """``draw``, which says that it is at work: some measure anew."""
        print("at work …")
        shown = draw(**chosen)
        notebook_files.forget()
        return shown

    for control in interact(seen, **controls).widget.kwargs_widgets:
        control.continuous_update = False  # it is drawn when the hand lets go
    return None


def folded(*shown, title: str) -> Shown:
    """Figures and tables that a reader opens when wanted; only ``title`` shows before.

    ``shown`` is what :func:`companion.figures.show` and :func:`companion.figures.table` give; figures and tables inside
    keep their numbers and addresses.
    """
    html = "\n".join(each.html for each in shown)
    text = "\n".join([f"{title}:", *map(repr, shown)])
    return Shown(f'<details class="rerun-fold"><summary>{escape(title)}</summary>{html}</details>', text)
