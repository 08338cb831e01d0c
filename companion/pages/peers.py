"""The page of peers: our kernels compared with other software, from the committed peer records."""

import os
import textwrap

import numpy as np
import pandas as pd
from matplotlib.transforms import blended_transform_factory

from companion.figures.parts import log_axis
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, SERIES, axes, series
from companion.figures.tabular import Table, significant
from companion.labels import plural
from companion.pages.peer_tables import (
    FAMILIES,
    RATES,
    absent_table,
    alone_table,
    columns,
    conclusion,
    origin,
    overview,
    pairs,
    rates_table,
    ratios_table,
    runs,
    sentence,
    summaries,
)

__all__ = ["FAMILIES", "absent_table", "conclusion", "family", "overview", "runs"]


#: Cases of a family up to which each has a row of its own in the figure.
_FEW = 10
#: Series of a figure up to which each build of a program has a mark of its own.
_MOST = 8
_MARKERS = ("o", "s", "D", "^", "v", "P")
_SMALLEST = 8  # points of the letters of a legend
_STEP = 0.085  # inches between the peers of a row
_LINE, _LETTERS = 0.17, 56  # inches and letters of a line of a row's title


def _short(groups: list[str]) -> dict[str, str]:
    """Names of groups without the words that all begin with: those make the heading."""
    common = os.path.commonprefix(groups) if len(groups) > 1 else ""
    cut = common.rfind(", ") + 2 if ", " in common else 0
    return {group: group[cut:] for group in groups}


def _series(peers: pd.Series) -> pd.Series:
    """The mark of each peer: its name, or where there are too many the program that it is a build or a call of."""
    return peers if peers.nunique() <= _MOST else peers.str.split(r"[ ,]", regex=True).str[0]


def _rows(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Heading, title and pairs of every row of a figure.

    A row is a case under the heading of its group where there are few, otherwise a group without heading.
    """
    short = _short(list(frame["group"].unique()))
    if len(frame[["group", "label"]].drop_duplicates()) > _FEW:
        return [("", short[group], part) for group, part in frame.groupby("group", sort=False)]
    return [
        (short[group], label, part)
        for group, members in frame.groupby("group", sort=False)
        for label, part in members.groupby("label", sort=False)
    ]


def _write(axis, y: float, words: str, **style) -> float:
    """Words from the left edge of the figure, below ``y``; where they end."""
    lines = textwrap.wrap(words, _LETTERS)
    across = blended_transform_factory(axis.figure.transFigure, axis.transData)
    # Left out of the layout: the words reach over the axes, which must not make room for them.
    axis.text(0.012, y + 0.04, "\n".join(lines), transform=across, size=9, va="top", in_layout=False, **style)
    return y + _LINE * len(lines) + 0.04


def _draw(axis, rows, peers: list[str]) -> float:
    """Put every row below the one before, all lengths in inches; the height used."""
    y, ticks, names, last = 0.3, [], [], ""
    for heading, title, part in rows:
        if heading != last:
            y, last = _write(axis, y + 0.03, heading, weight="bold"), heading
        y = _write(axis, y, title)
        top = y
        for threads, lane in part.groupby("threads"):
            present = [peer for peer in peers if (lane["series"] == peer).any()]
            height = 0.14 + _STEP * len(present)
            ticks.append(y + height / 2)
            names.append(plural(threads, "thread"))
            for place, peer in enumerate(present):
                ratios = lane.loc[lane["series"] == peer, "ratio_fastest"]
                at = y + height / 2 + _STEP * (place - (len(present) - 1) / 2)
                axis.plot(ratios, np.full(len(ratios), at), clip_on=False, **mark(peers.index(peer)))
            y += height
        # The line of ratio 1 and the side of the peers, where the points are: titles of rows stay clear of both.
        axis.vlines(1, top, y, color=INK, linewidth=1.3)
        axis.fill_betweenx([top, y], axis.get_xlim()[0], 1, color=INK, alpha=0.07, linewidth=0, zorder=0)
        axis.axhline(y + 0.03, color=INK, alpha=0.18, linewidth=0.6)
        y += 0.06
    axis.set_yticks(ticks, names)
    axis.tick_params(axis="y", length=0)
    return y


def mark(number: int) -> dict:
    """Keywords for ``plot`` of one peer: filled, as everything measured, in a shape and colour of its own."""
    return {
        "linestyle": "none",
        "marker": _MARKERS[(number + number // len(SERIES)) % len(_MARKERS)],  # never shape and colour of another
        "markersize": 5,
        "alpha": 0.85,
        "color": series(number),
        "markeredgewidth": 0,
    }


def _figure(frame: pd.DataFrame, family: str) -> Shown:
    """One machine's ratios of one family."""
    timed = frame[np.isfinite(frame["ratio_fastest"])]
    timed = timed.assign(series=_series(timed["peer"]))
    peers, rows = list(timed["series"].unique()), _rows(timed)
    merged = len(peers) < timed["peer"].nunique()
    shared = " Builds of one program share a mark; the table names each." if merged else ""
    low = min(0.5, timed["ratio_fastest"].min() / 1.15)
    high = max(2.0, timed["ratio_fastest"].max() * 1.15)
    figure, axis = axes()
    axis.set_xlim(low, high)
    bottom = _draw(axis, rows, peers)
    figure.set_size_inches(figure.get_figwidth(), bottom + 1.0 + 0.2 * ((len(peers) + 1) // 2))
    axis.set_ylim(bottom, 0)
    log_axis(axis, "x")
    axis.set_xlim(low, high)
    axis.grid(False)
    axis.spines["left"].set_visible(False)  # it would run through the titles of the rows
    for text, side, step in (("peer faster", "right", -4), ("we are faster", "left", 4)):
        axis.annotate(text, (1, 0.05), (step, 0), textcoords="offset points", ha=side, va="top", size=9)
    axis.set_xlabel("peer's time over ours, fastest samples")
    handles = [axis.plot([], [], **mark(number))[0] for number in range(len(peers))]
    legend = figure.legend(
        handles,
        peers,
        loc="outside upper center",
        ncols=2,
        title=origin(frame),
        title_fontsize=9,
        columnspacing=1.2,
        handletextpad=0.4,
    )
    _fit(legend)
    below = int((timed["ratio_fastest"] < 1).sum())
    return show(
        figure,
        alt=_alt(timed, family),
        title=f"{FAMILIES[family][0].upper()}{FAMILIES[family][1:]} against other software",
        caption=f"A dot is the peer's time over ours: to the right of the line our kernel is faster. {len(timed)} "
        f"ratios, {below} of them below 1.{shared}",
        data=columns(frame),
        name=f"peers_{family}",
    )


def _fit(legend) -> None:
    """Make the letters of a legend smaller until it is as wide as its figure at most."""
    room = legend.figure.bbox.width
    while (width := legend.get_window_extent().width) > room and legend.get_texts()[0].get_size() > _SMALLEST:
        for text in legend.get_texts():
            text.set_size(max(_SMALLEST, text.get_size() * 0.99 * room / width))


def _alt(timed: pd.DataFrame, family: str) -> str:
    below = int((timed["ratio_fastest"] < 1).sum())
    parts = "; ".join(
        f"{part['group']}, {plural(part['threads'], 'thread')}: median {significant(part['median'], 3)}, "
        f"lowest {significant(part['lowest'], 3)}"
        for part in summaries(timed)
    )
    return (
        f"{FAMILIES[family][0].upper()}{FAMILIES[family][1:]} compared with other software: {len(timed)} ratios of a "
        f"peer's time over ours as dots on a logarithmic axis, {below} of them below 1, where the peer is faster. "
        f"{origin(timed)}. Against the fastest peer of each case: {parts}."
    )


def family(records, name: str) -> Shown | Table:
    """The ratios of one of :data:`FAMILIES`: a figure for each machine, then every ratio, and cases without a peer.

    ``records`` are those of :func:`companion.records.peer_records.committed`.
    """
    every = pairs(records, name)
    if every.empty:
        return sentence(f"No committed run has measured this ({FAMILIES[name]}); python -m peers {name} does.")
    if name in RATES:
        return rates_table(records, name)
    beside = every["peer"] != ""
    frame, alone = every[beside].reset_index(drop=True), every[~beside].reset_index(drop=True)
    shown = [
        _figure(part, name)
        for _, part in frame.groupby("machine", sort=False)
        if np.isfinite(part["ratio_fastest"]).any()
    ]
    tables = [ratios_table(frame, name)] if len(frame) else []
    tables += [alone_table(alone, name)] if len(alone) else []
    words = [each.alt for each in shown] or [each.text for each in tables]
    return Shown("".join([*(each.html for each in shown), *(each.html for each in tables)]), " ".join(words))
