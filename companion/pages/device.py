"""The page that measures its reader's device: figures that it can join, and how far a browser is from native code."""

from pathlib import Path

import pandas as pd

from companion.figures.parts import MARKED, TIMES, bytes_axis, cpu, legend, log_axis, run_title, spread
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.figures.tabular import Table, table
from companion.pages import rates, synthesis
from companion.records import runs

#: Share of native speed from which a browser's lead is named.
_AHEAD = 1.1
#: One row a case; ``data/browser/README.md`` says how it was measured.
_SPEEDS = Path(__file__).resolve().parents[2] / "data" / "browser" / "speeds.csv"


def sustained() -> Shown:
    """What one processor sustains by kind of work, as in the last chapter."""
    return synthesis.dots(
        rates.sustained_rate(),
        log=True,
        name="device_rate",
        title="What one processor sustains, by kind of work",
        seen="Hollow: reports. Filled: the machine of this book.",
    )


def _curve(run, cases: pd.DataFrame, value, lines: list[tuple[str, pd.Series]], ylabel: str, **words: str) -> Shown:
    """Medians of a committed run against the working set, one line each, logarithmic."""
    figure, axis = axes(height=3.0)
    for number, (label, chosen) in enumerate(lines):
        line = cases[chosen].sort_values("nbytes")
        spread(axis, line["nbytes"], line, lambda seconds, line=line: value(seconds, line), label=label, index=number)
    log_axis(axis, "y")
    bytes_axis(axis, cases["nbytes"])
    axis.set(xlabel="working set", ylabel=ylabel)
    legend(axis, "under 2 0.5 -0.2")
    return show(figure, data=cases.reset_index(drop=True), run=run, heading=run_title(run), **words)


def _cases(run, *columns: str) -> pd.DataFrame:
    return run[[*TIMES, *columns, "threads", "bytes_read"]].to_dataframe()


def bandwidth() -> Shown:
    """Bytes a second that one thread asks for, against working set, of the committed run."""
    run = runs.latest("p5plus-bandwidth")
    cases = _cases(run, "nbytes", "stride", "pages", "loads")
    alone = cases[(cases["threads"] == 1) & (cases["loads"] == "vector") & (cases["pages"] == "small")]
    alone = alone[alone["stride"].isin((1, 16))]
    lines = [(f"stride {stride}", alone["stride"] == stride) for stride in (1, 16)]
    return _curve(
        run,
        alone,
        lambda seconds, line: line["bytes_read"] / seconds / 1e9,
        lines,
        "bytes asked for [GB/s]",
        name="device_bandwidth",
        title="Bandwidth of reading",
        caption="Bytes a second that one thread asks for, native code on pages of 4 KB. With stride 16, a whole cache "
        f"line is moved for every four bytes. {MARKED}",
        alt=f"Read bandwidth of one thread on {cpu(run)} against working set, logarithmic, strides 1 and 16.",
    )


def latency() -> Shown:
    """Time of one dependent load against working set, of the committed run."""
    run = runs.latest("p5plus-latency")
    cases = _cases(run, "nbytes", "pattern", "pages", "loads")
    chase = cases[cases["pattern"] == "random"]
    lines = [(f"{pages} pages", chase["pages"] == pages) for pages in sorted(chase["pages"].unique())]
    return _curve(
        run,
        chase,
        lambda seconds, line: 1e9 * seconds / line["loads"],
        lines,
        "time of one load [ns]",
        name="device_latency",
        title="Latency of a load",
        caption="Time until a load has its value, along a random cycle, native code on two kinds of pages. " + MARKED,
        alt=f"Load latency on {cpu(run)} against working set, logarithmic, a line for each kind of pages.",
    )


#: Columns of :data:`_SPEEDS` that are drawn, and their words.
WAYS = {
    "native_512": "native, 512 bits",
    "native_256": "256 bits",
    "native_128": "128 bits",
    "chromium": "Chromium",
    "firefox": "Firefox",
    "node": "Node",
}
#: Cases of the table: working sets in the first cache, in the last one and beyond, and the whole programs.
CASES = (
    "stride-4096-1", "stride-1048576-1", "stride-67108864-1", "stride-4096-16", "stride-67108864-16",
    "latency-4096", "latency-1048576", "latency-67108864", "loop-s1", "loop-s10", "loop-streaming", "bt-S", "bt-W",
    "forecast-63",
)  # fmt: skip


def speeds() -> pd.DataFrame:
    """Every case and way."""
    return pd.read_csv(_SPEEDS)


def how_far() -> Table:
    """The best of every way on one machine, and the better browser over native code of 128 bits.

    The least time is what a way can reach; on a host with others, medians say as much of them as of the ways.
    """
    found = speeds().set_index("case").loc[list(CASES)]
    columns = {f"{way}_best": words for way, words in WAYS.items() if f"{way}_best" in found}
    frame = found[["what", "unit", *columns]].rename(columns=columns)
    browsers, native = found[["chromium_best", "firefox_best"]], found["native_128_best"]
    less = found["unit"].str.startswith(("ns", "ms"))
    share = (browsers.max(axis=1) / native).where(~less, native / browsers.min(axis=1))
    frame["browser / 128 bits"] = share.round(2)
    first, ahead = found.iloc[0], "; ".join(found["what"][share > _AHEAD])
    said = f". It is faster by more than a tenth in: {ahead}. The reasons for that were not measured" if ahead else ""
    return table(
        frame.reset_index(drop=True),
        caption=f"Native code and browsers on one machine, {first['machine']}, with {first['made_by']}: the best "
        f"sample of each. All took turns; other programs kept at most {found['others_busy'].max():.2f} CPUs busy at "
        "the start. The last column is the rate of the faster browser over that of native code of 128 bits: above 1 "
        f"the browser is faster{said}",
        name="device_how_far",
        digits=3,
    )
