"""The figure of limits: every kernel of the peer records under the ceilings of the host that ran it."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist

from companion.figures.parts import log_axis
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.figures.tabular import Table, significant
from companion.labels import plural
from companion.pages.peer_tables import FAMILIES, origin, pairs, sentence
from companion.pages.peers import mark
from companion.records import peer_records

_DASHES = ("-", "--", "-.", ":")


def _cases(records) -> pd.DataFrame:
    """One row a case that has operations and a limit: rate in GFLOPS, operations a byte."""
    frame = pairs(records)
    if frame.empty:
        return frame
    frame = frame[(frame["flops"] > 0) & np.isfinite(frame["share"])]
    frame = frame.drop_duplicates(["group", "label", "threads", "machine"])
    return frame.assign(
        rate=1e-9 * frame["flops"] / frame["ours_fastest"], intensity=frame["flops"] / frame["bytes"].replace(0, np.nan)
    ).reset_index(drop=True)


def _draw(axis, lane: pd.DataFrame, ceiling: dict, families: list[str], ends: tuple[float, float]) -> None:
    """Ceilings of one number of threads, and its cases; what moves no byte stands at the right edge."""
    x = np.geomspace(*ends, 200)
    peak = 1e-9 * ceiling["flops"]
    for number, level in enumerate(ceiling["levels"]):
        roof = np.minimum(1e-9 * level["rate"] * x, peak)
        dashes = _DASHES[number % len(_DASHES)]
        axis.plot(x, roof, color=INK, linewidth=1.2, linestyle=dashes, label=f"bandwidth of {level['level']}")
    for number, name in enumerate(families):
        part = lane[lane["module"] == name]
        axis.plot(part["intensity"].fillna(ends[1]), part["rate"], clip_on=False, label=FAMILIES[name], **mark(number))
    low = min(lane["rate"].min() / 1.6, 1e-9 * ceiling["levels"][-1]["rate"] * ends[0] * 1.2)
    axis.set_ylim(low, 1.25 * peak)


def _words(cases: pd.DataFrame, ceilings: dict) -> dict[str, Any]:
    """Fields of the texts of the figure."""
    roofs = "; ".join(
        f"{plural(int(threads), 'thread')}: peak {significant(1e-9 * each['flops'], 3)} GFLOPS, "
        + ", ".join(f"{level['level']} {significant(1e-9 * level['rate'], 3)} GB/s" for level in each["levels"])
        for threads, each in ceilings.items()
    )
    shares = "; ".join(
        f"{FAMILIES[name]} {significant(100 * part['share'].median(), 2)} %"
        for name, part in cases.groupby("module", sort=False)
    )
    return {"origin": origin(cases), "cases": len(cases), "roofs": roofs, "shares": shares}


def _figure(cases: pd.DataFrame, ceilings: dict) -> Shown:
    families = [name for name in FAMILIES if (cases["module"] == name).any()]
    counts = [threads for threads in ceilings if (cases["threads"] == int(threads)).any()]
    reach = cases["intensity"].dropna()
    ends = float(min(reach.min(), 0.05) / 1.5), float(max(reach.max(), 20.0) * 1.5)
    figure, panels = axes(len(counts), 1, height=3.1 * len(counts) + 1.2, sharex=True)
    for threads, axis in zip(counts, np.ravel(panels), strict=True):
        _draw(axis, cases[cases["threads"] == int(threads)], ceilings[threads], families, ends)
        log_axis(axis)
        axis.set_xlim(*ends)
        axis.set_ylabel("GFLOPS")
        axis.set_title(plural(int(threads), "thread"), loc="left")
    np.ravel(panels)[-1].set_xlabel("floating-point operations a byte")
    handles: dict[str, Artist] = {}
    for axis in np.ravel(panels):
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=2, title=origin(cases), title_fontsize=9)
    columns = ["module", "group", "label", "threads", "rate", "intensity", "flops", "bytes", "ours_fastest", "limit"]
    return show(
        figure,
        **_words(cases, ceilings),
        data=cases[[*columns, "share", "machine", "date"]].rename(
            columns={"rate": "rate [GFLOPS]", "intensity": "intensity [1/B]", "bytes": "bytes [B]",
                     "ours_fastest": "ours_fastest [s]"}
        ),
        name="peers_roofline",
    )  # fmt: skip


def roofline(records) -> Shown | Table:
    """One picture a machine whose ``records`` (``peer_records.committed()``) carry ceilings; else a sentence."""
    cases = _cases(records)
    shown = []
    ceilings = peer_records.ceilings(records)
    for where, part in cases.groupby("machine", sort=False) if len(cases) else ():
        shown.append(_figure(part, ceilings[where, peer_records.NATIVE]))
    if not shown:
        return sentence(
            "No committed run has measured the ceilings of its host, so this figure cannot be drawn; "
            "python -m peers --out data/peers makes one."
        )
    return Shown("".join(each.html for each in shown), " ".join(each.alt for each in shown))
