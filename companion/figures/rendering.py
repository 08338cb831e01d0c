"""A matplotlib figure as inline SVG for a notebook and the book."""

import base64
import contextlib
import inspect
import io
import itertools
import os
import re
import textwrap
from html import escape

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.text import Text

from companion.figures.joined import JOINED, panels
from companion.figures.parts import machines, together
from companion.figures.ranks import rank_title
from companion.figures.slim import slim
from companion.figures.style import INK, LEGIBLE, PAGE, PLAIN
from companion.files import write_text

_counter = itertools.count(1)
#: In the environment: ``page`` where the book is built, where each figure is drawn for a phone and for the width of
#: a page; ``text`` where only what figures say is compared, and none is drawn; ``stored`` where a notebook gets the
#: pictures with which it is committed.
FIGURES = "RERUN_FIGURES"
STORED = "stored"
_FONTS = "'DejaVu Sans', Verdana, sans-serif"


def _column(name, attributes: dict) -> str:
    units = attributes.get("units")
    return f"{name} [{units}]" if units and units != "1" else str(name)


def csv_text(data) -> str:
    """``data`` as CSV with units in the column names. ``TypeError`` for anything else.

    Parameters
    ----------
    data : xarray.Dataset, xarray.DataArray or pandas.DataFrame
        Attributes ``units`` of variables and coordinates go into the header as ``name [unit]``.
    """
    if isinstance(data, xr.DataArray):
        data = data.to_dataset(name=data.name or "value")
    if isinstance(data, xr.Dataset):
        names = {str(name): _column(name, data[name].attrs) for name in data.variables}
        frame = data.to_dataframe().reset_index().rename(columns=names)
        return frame.to_csv(index=False, lineterminator="\n")
    if isinstance(data, pd.DataFrame):
        plain = isinstance(data.index, pd.RangeIndex)
        return data.to_csv(index=not plain, lineterminator="\n")
    raise TypeError(f"data must be an xarray Dataset or a pandas DataFrame, got {type(data).__name__}")


def csv_link(data, name: str) -> str:
    """HTML link that saves ``data`` as ``<name>.csv``; works without a network."""
    packed = base64.b64encode(csv_text(data).encode()).decode()
    return f'<a download="{escape(name)}.csv" href="data:text/csv;charset=utf-8;base64,{packed}">data as CSV</a>'


def _tidy(svg: str, prefix: str, alt: str, width: float) -> str:
    """Matplotlib's file as an element of a page: own ids, page's text colour, fluid width."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    seen: dict[str, int] = {}

    def own(match) -> str:
        """The id under the figure's prefix; Matplotlib gives two equal images of one figure one id."""
        name = match.group(1)
        seen[name] = seen.get(name, 0) + 1
        return f'id="{prefix}-{name}"' if seen[name] == 1 else f'id="{prefix}-{name}-{seen[name]}"'

    svg = re.sub(r'\bid="([^"]+)"', own, svg)
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
    return slim(re.sub(r"<svg[^>]*>", lambda _: root, svg, count=1).strip())


class Shown:
    """A figure that displays itself: SVG where HTML is understood, its alternative text elsewhere."""

    def __init__(self, html: str, alt: str, name: str = "", title: str = "", data=None, png: str = ""):
        self.html = html
        self.alt = alt
        self.name = name
        self.title = title
        self.data = data  # what is drawn, as a table
        self.png = png  # in base64, where a notebook is stored

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        if self.png:
            return {"image/png": self.png, "text/plain": self.alt}
        return {"text/html": self.html, "text/plain": self.alt}


def _described(alt: str) -> str:
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError("alt is empty; say in a sentence or two what the figure shows")
    return " ".join(alt.split())


def _drawn(figure, prefix: str, alt: str, name: str | None = None) -> str:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": prefix, "savefig.dpi": 150}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    inches = figure.get_size_inches()[0]
    svg = _tidy(buffer.getvalue(), prefix, alt, float(np.round(inches * (100 if inches == PAGE else 120))))
    return svg.replace("<svg ", f'<svg data-panels="{escape(panels(figure))}" ', 1) if name in JOINED else svg


def of_page() -> bool:
    """Whether a page of the book is being built, and not a notebook run by its reader."""
    return os.environ.get(FIGURES) == "page"


@contextlib.contextmanager
def undrawn():
    """Figures that are made in this context have their text and data alone."""
    before = os.environ.get(FIGURES)
    os.environ[FIGURES] = "text"
    try:
        yield
    finally:
        os.environ.pop(FIGURES)
        if before is not None:
            os.environ[FIGURES] = before


@contextlib.contextmanager
def _legible(figure):
    """No text of ``figure`` is smaller than a phone shows legibly, and none is wider than the figure."""
    texts = [(text, text.get_size(), text.get_text()) for text in figure.findobj(Text) if text.get_text()]
    least = LEGIBLE * max(1.0, figure.get_size_inches()[0] / PLAIN)
    for text, size, _ in texts:
        text.set_size(max(size, least))
    room = 0.96 * figure.bbox.width
    for text, _, words in texts:
        width = text.get_window_extent().width if "\n" not in words and not text.get_rotation() else 0
        if width > room:
            text.set_text(textwrap.fill(words, int(len(words) * room / width)))
    yield
    for text, size, words in texts:
        text.set(size=size, text=words)


def _stored(figure) -> str:
    """A picture of at most some 40 KB for the committed notebook, in base64: PNG on white, with a palette."""
    from PIL import Image

    buffer, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90, facecolor="white")
    Image.open(buffer).convert("RGB").quantize(64).save(packed, "PNG", optimize=True)
    return base64.b64encode(packed.getvalue()).decode()


def _drawings(figure, alt: str, name: str | None = None) -> str:
    """The drawing; in the book the one for a phone, then the one for a page, of which its style sheet shows one."""
    prefix = f"f{next(_counter)}"
    if os.environ.get(FIGURES) in ("text", STORED):
        return "<svg></svg>"
    if not of_page():
        return _drawn(figure, prefix, alt, name)
    if any(panel.get_aspect() != "auto" or panel.name == "3d" for panel in figure.axes):
        with _legible(figure):
            return _drawn(figure, prefix, alt, name)
    inches = figure.get_size_inches()
    figure.set_size_inches(PLAIN, inches[1])
    with _legible(figure):
        phone = _drawn(figure, f"{prefix}phone", alt, name)
    figure.set_size_inches(PAGE, inches[1])
    page = _drawn(figure, f"{prefix}page", alt, name)
    figure.set_size_inches(inches)
    return "".join(
        svg.replace('style="display:block', f'class="rerun-{medium}" style="display:{shown}', 1)
        for svg, medium, shown in ((phone, "phone", "block"), (page, "page", "none"))
    )


def save(figure, path, *, alt: str) -> None:
    """Write ``figure`` as an SVG file of its own, for a page outside the book.

    The same figure gives the same bytes.  The text colour follows the reader's colour scheme. ``ValueError`` if ``alt``
    is empty.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path-like
    alt : str
        As for :func:`show`; the title of the file.
    """
    alt = _described(alt)
    write_text(path, _file(_drawn(figure, "picture", alt), alt), overwrite=True)


def _file(svg: str, alt: str) -> str:
    """An element of a page as a file of its own, whose text colour follows the reader's colour scheme."""
    scheme = (
        "svg { color: #1f2328 !important } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 !important } }"
    )
    svg = re.sub(r">", f"><title>{escape(alt)}</title><style>{scheme}</style>", svg, count=1)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE) + "\n"


def picture(shown: "Shown") -> str:
    """The picture of a figure that :func:`show` made, as the text of an SVG file."""
    start, end = shown.html.index("<svg"), shown.html.index("</svg>") + len("</svg>")
    return _file(shown.html[start:end], shown.alt)


#: Where the book puts the number of a figure or table; empty wherever a notebook runs.
NUMBER = '<span class="rerun-number"></span>'


def run_stem(name: str, run=None) -> str:
    """``name`` with machine and day of a run, so that files of two runs have two names.

    Parameters
    ----------
    run : xarray.Dataset, optional
        A run as :func:`companion.records.runs.load` gives it: attributes ``machine`` and ``date``.
    """
    about = getattr(run, "attrs", {})
    parts = [str(about.get("machine", "")).splitlines()[:1], [str(about.get("date", ""))[:10]]]
    found = [re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-").lower()[:40] for group in parts for part in group]
    return "_".join([name, *filter(None, found)])


def show(
    figure,
    *,
    data=None,
    name: str | None = None,
    run=None,
    runs=(),
    alt: str,
    title: str | None = None,
    caption: str | None = None,
    heading: str | None = None,
    tables: str = "",
) -> Shown:
    """Display ``figure`` for light and dark pages, with alternative text and its data.

    ``ValueError`` if ``alt`` is empty.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn on axes from :func:`companion.figures.axes`.  Artists that would be thousands of paths
        are best drawn with ``rasterized=True``.
    data : xarray.Dataset or pandas.DataFrame, or a list of frames, one for each of ``runs``
        What is drawn; offered below the figure as CSV.
    name : str, optional
        Stem of the CSV file's name, and the name by which the book refers to the figure (``fig-<name>``).
    run : xarray.Dataset, optional
        The run that is drawn; its machine and day enter the name of the CSV file, and the book leads from the figure
        to the checks of its experiment.
    runs : list of xarray.Dataset, optional
        All runs that are drawn, the first in full; the heading says which marks are whose.
    alt : str
        What a reader who cannot see the figure must know: axes, ranges, and the finding.
    title : str, optional
        A few words, set bold before the caption.
    caption : str, optional
        What to see in the figure, shown below it; the alternative text if not given.
    heading : str, optional
        A line above the panels; of ``runs`` the machine, preset and day of the first unless it is given.
    tables : str
        Printed tables that are drawn, separated by spaces, to which the book leads: ``"smt_benefit"``, or of another
        document ``"p5plus/drhook"``.
    """
    run = runs[0] if runs and run is None else run
    alt = _described(alt)
    data = together(runs, data) if isinstance(data, list) else data
    heading = rank_title(runs[0]) if runs and heading is None else heading
    if lines := "\n".join(filter(None, [heading, machines(runs)])):
        figure.suptitle(lines, size=9)
    svg = _drawings(figure, alt, name)
    experiment = getattr(run, "attrs", {}).get("experiment")
    checked = f' data-run="{escape(experiment)}"' if experiment else ""
    drawn = f' data-tables="{escape(tables)}"' if tables else ""
    link = csv_link(data, run_stem(name or "figure", run)) if data is not None else ""
    head = f"<strong>{escape(title.rstrip('.'))}.</strong> " if title else ""
    html = (
        f'<figure class="rerun-figure" data-name="{escape(name or "figure")}"{checked}{drawn} '
        'style="margin: 0.5em 0; max-width: 100%">'
        f'{svg}<figcaption style="font-size: 0.85em">{NUMBER}{head}{escape(caption or alt)} {link}</figcaption>'
        "</figure>"
    )
    png = _stored(figure) if os.environ.get(FIGURES) == STORED else ""
    return Shown(html, alt, name or "figure", title or "", data, png)


def source(function) -> Shown:
    """The source of a function, as a page shows the loop that it times; of a compiled one what it was compiled from."""
    function = getattr(function, "py_func", function)
    text = textwrap.dedent(inspect.getsource(function)).strip()
    where = f"{function.__module__.replace('.', '/')}.py"
    html = (
        f'<figure class="rerun-source"><pre><code>{escape(text)}</code></pre>'
        f"<figcaption>The loop itself, from <code>{escape(where)}</code></figcaption></figure>"
    )
    return Shown(html, text)
