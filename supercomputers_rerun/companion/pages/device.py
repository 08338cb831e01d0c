"""The page that measures its reader's device: figures that it can join, and how far a browser is from native code."""

import json
from html import escape

import pandas as pd

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import experiments
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.pages import synthesis

#: Share of native speed from which a browser's lead by best samples and by medians is named.
_AHEAD = 1.1
#: One row a case; ``data/browser/README.md`` says how it was measured.
_SPEEDS = HOME / "data" / "browser" / "speeds.csv"


def here() -> Shown:
    """Where the page measures, with the printed rate that its sentence compares."""
    frame = synthesis.sustained_rate().query("kind == 'report'").set_index("group")
    printed = {"loop-s10": (frame["value"]["additions in registers"], "Power5+")}
    text = "Here your browser would measure itself. It runs no scripts, or is too old for these."
    return Shown(f'<div id="rerun-device" data-printed="{escape(json.dumps(printed))}"><p>{text}</p></div>', text)


def sustained() -> Shown:
    """What one processor sustains by kind of work; the last chapter draws two of its loops."""
    title, seen = "What one processor sustains, by kind of work", "Hollow: reports. Filled: machines of this book."
    return synthesis.dots(synthesis.sustained_rate(), log=True, name="sustained_rate", title=title, seen=seen)


def bandwidth() -> Shown:
    """Bandwidth of reading, as chapter 4 draws it of the stored runs."""
    entry = experiments.find("p5plus-bandwidth")
    return entry.figures[0](entry.runs())


#: Columns of :data:`_SPEEDS` that are drawn, and their words.
WAYS = {
    "native_512": "native, 512 bits",
    "native_256": "256 bits",
    "native_128": "128 bits",
    "chromium": "Chromium",
    "firefox": "Firefox",
    "node": "Node",
}
#: Rows of the table: working sets in the first cache, in the last one and beyond, and the whole programs.
CASES = (
    "stride-4096-1", "stride-1048576-1", "stride-67108864-1", "stride-4096-16", "stride-67108864-16",
    "loop-s1", "loop-s10", "loop-streaming", "bt-S", "bt-W",
    "forecast-63",
)  # fmt: skip


def speeds() -> pd.DataFrame:
    """Every case and way."""
    return pd.read_csv(_SPEEDS)


def how_far() -> Shown:
    """The best of every way on one machine, and the rate of the faster browser over that of native code of 128 bits."""
    found = speeds().set_index("case").loc[list(CASES)]
    columns = {f"{way}_best": words for way, words in WAYS.items() if f"{way}_best" in found}
    frame = found[["what", "unit", *columns]].rename(columns=columns)
    times = found["unit"].str.startswith(("ns", "ms"))
    rates = found.filter(regex="_(best|median)$").pow(1 - 2 * times, axis=0)
    browsers = (rates[[f"chromium_{each}", f"firefox_{each}"]].max(axis=1) for each in ("best", "median"))
    best, middle = (rate / rates[f"native_128_{each}"] for rate, each in zip(browsers, ("best", "median"), strict=True))
    frame["browser / 128 bits"] = best.round(2)
    first, ahead = found.iloc[0], "; ".join(found["what"][(best > _AHEAD) & (middle > _AHEAD)])
    said = f"By best samples and by medians alike, it is above {_AHEAD} only for: {ahead or 'none'}"
    return table(
        frame.reset_index(drop=True),
        caption=f"Native code and browsers on one machine, {first['machine']}, with {first['made_by']}: the best "
        "sample of each, by programs of the first edition of this book. All took turns; other programs kept at most "
        f"{found['others_busy'].max():.2f} CPUs busy at the start. The last column is the rate of the faster browser "
        f"over that of native code of 128 bits: above 1 the browser is faster. {said}",
        name="device_how_far",
        digits=3,
    )
