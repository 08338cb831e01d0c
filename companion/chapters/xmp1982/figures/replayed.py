"""Figures of chapter 1 that draw the replay of 1982 on paced devices beside the printed times.

Printed seconds are those of the report; replayed ones are measured on paced devices and multiplied by the factor by
which everything was made faster.  They stand in columns and bars of their own.
"""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.figures import label
from companion.chapters.xmp1982.figures.dots import observed
from companion.chapters.xmp1982.figures.together import JOBS, printed_worth
from companion.figures.parts import of_samples, run_title, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, hollow, series
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: Parts of a job in the record, and how a table names them.
_PARTS = {"net": "net", "forecast": "forecast", "posts": "5 jobs"}


def factor(record: xr.Dataset) -> float:
    """How many times as fast as in 1982 the replay was."""
    return float(single(record)["factor"].values.ravel()[0])


def complete(alone: xr.Dataset, pairs: xr.Dataset, record: xr.Dataset) -> pd.DataFrame:
    """Test by test: printed seconds until all was complete, and replayed ones with their spread and flags.

    Tests with all files on four disks follow the others, under the name of their pair and with ``shared``.
    """
    kept = single(record)
    names = [str(name) for name in kept["replay_name"].values]
    tests = [name.partition(",")[0] for name in names]
    printed = pd.concat([alone["total_clock"].to_series(), pairs["complete"].max("job").to_series()])
    values = kept["replay_complete"].transpose("replay_test_number", "round").values
    flagged = observed(record, "test")["flagged"].to_series()
    found = of_samples(values, ["flagged" if flagged[name] else "" for name in names])
    found.insert(0, "printed", printed[tests].to_numpy(float))
    found.insert(1, "shared", [name != test for name, test in zip(names, tests, strict=True)])
    return found.set_axis(pd.Index(tests, name="test"))


def _pairs(found: pd.DataFrame) -> np.ndarray:
    return found.index.str.contains("+", regex=False)


def _off(found: pd.DataFrame) -> str:
    """Least and largest departure from the printed times, in per cent."""
    off = (100 * (found["middle"] / found["printed"] - 1)).round().astype(int)
    return " to ".join(f"{each:+d}".replace("+0", "0").replace("-", "−") for each in (off.min(), off.max())) + " %"


def _filled(axis, found: pd.DataFrame, place, height: float, index: int, text: str) -> None:
    """Bars of medians with their spread; flagged ones are crossed."""
    axis.barh(place, found["middle"], height, color=series(index), label=text)
    axis.hlines(place, found["low"], found["high"], color=INK, linewidth=1.8)
    flagged = found["flagged"].to_numpy(dtype=bool)
    if flagged.any():
        axis.plot(found["middle"][flagged], place[flagged], "x", color=INK, markersize=7, linestyle="none")


def bars(alone: xr.Dataset, pairs: xr.Dataset, record: xr.Dataset) -> Shown:
    """Figs 5.1 and 5.3 as bars: printed hollow, replayed filled, the spread of the rounds drawn."""
    every = complete(alone, pairs, record)
    own, four = every[~every["shared"]], every[every["shared"]]
    figure, axis = axes(height=4.5)
    place = np.arange(len(own)) + 0.6 * _pairs(own)
    at = place[[own.index.get_loc(name) for name in four.index]]
    axis.barh(place, own["printed"], 0.84, label="printed, X-MP 1982", **hollow("printed"))
    twice = own.index.isin(four.index)
    _filled(axis, own, place - 0.16 * twice, 0.3, 0, "replayed on paced devices, a disk for every work file")
    _filled(axis, four, at + 0.16, 0.3, 1, "replayed, all files on four disks")
    axis.set_yticks(place, [label(name) for name in own.index])
    axis.set_ylim(place[-1] + 0.6, -0.6)
    axis.grid(False, axis="y")
    about = run_title(record).replace("\n", "; ")
    figure.legend(loc="outside upper left", ncols=1, title=about, title_fontsize=7.5, alignment="left")
    data, paired = with_spread(every[["printed", "shared"]].reset_index(), replayed=every), _pairs(own)
    off = [_off(each) for each in (own[~paired], own[paired], four)]
    said = {"single": (~paired).sum(), "paired": paired.sum(), "off": off, "factor": factor(record)}
    return show(figure, data=data, name="xmp1982_replayed", run=record, **said)


def worth(found: pd.DataFrame) -> pd.DataFrame:
    """What the second CPU is worth in the replay, by pair: medians of :func:`complete`, both in turn over both at once.

    Alone, files on SSD have the synchronous driver, as for ``together.printed_worth``.
    """
    alone = {name.removesuffix("-sync"): value for name, value in found["middle"][~_pairs(found)].items()}
    paired = found[_pairs(found)]
    values = [sum(alone[half] for half in name.split("+")) / both for name, both in paired["middle"].items()]
    return pd.DataFrame({"worth": values, "shared": paired["shared"]}, index=paired.index)


def said(alone: xr.Dataset, pairs: xr.Dataset, record: xr.Dataset) -> str:
    """How far the replay is from the printed times, and what busy channels explain of what pairs lost."""
    found, then = complete(alone, pairs, record), printed_worth(alone, pairs)
    here, paired = worth(found), _pairs(found)
    own, four = (here["worth"][here["shared"] == shared] for shared in (False, True))
    disk = then.index.str.contains("disk")

    def span(values: pd.Series) -> str:
        return f"{values.min():.2f} to {values.max():.2f}"

    return (
        f"The replay of single forecasts with their {JOBS} jobs differs from the printed times by "
        f"{_off(found[~paired])}, that of pairs by {_off(found[paired & ~found['shared']])}. By the printed times the "
        f"factor of the second CPU was {span(then[disk])} where a forecast is on disk and {span(then[~disk])} "
        f"elsewhere. In the replay it is {span(own[four.index])} with a disk for every work file, {span(four)} with "
        f"all files on four disks, and {span(own.drop(four.index))} elsewhere. {_host(record)}"
    )


def beside(record: xr.Dataset) -> str:
    """The net forecast on disk beside one on a faster device: printed, and replayed with all files on four disks."""
    kept, printed, here = single(record), [], []
    for n, (name, job) in enumerate(zip(kept["replay_test"].values, kept["replay_job"].values, strict=True)):
        test, _, where = str(name).partition(",")
        if where and test.split("+")[int(job) - 1] == "disk4" != test.split("+")[2 - int(job)]:
            printed.append(model.printed_net("fig5_4", f"{test}/{int(job)}"))
            here.append(float(kept["replay_net"].isel(replay_row=n).median()))
    return (
        "Beside one on a faster device, a forecast on disk took "
        f"{min(printed):.0f} to {max(printed):.0f} s without its write-up steps, and takes {min(here):.0f} to "
        f"{max(here):.0f} s in the replay on four disks."
    )


def _host(record: xr.Dataset) -> str:
    """How much longer two forecasts take that hardly meet on their channel: what the host may add to every pair."""
    kept = single(record)
    net = dict(zip(kept["replay_test"].values.astype(str), kept["replay_net"].median("round").values, strict=True))
    more = 100 * (net["ssd1+ssd1"] / net["ssd1-sync"] - 1)
    return (
        f"Two forecasts on SSD, whose channel is idle most of the time, take {abs(more):.0f} % "
        f"{'longer' if more >= 0 else 'less'} than one, both without write-up steps. An effect of this size may come "
        "from today's computer, on which both are threads of one process."
    )


def _seconds(values) -> str:
    """Median and range in whole seconds."""
    return f"{np.median(values):.0f} ({np.min(values):.0f} to {np.max(values):.0f})"


def parts_table(
    alone: pd.DataFrame, single_steps: pd.DataFrame, pairs: pd.DataFrame, pair_steps: pd.DataFrame, record: xr.Dataset
) -> Table:
    """Job by job: net forecast, forecast and its five jobs, as printed in Figs 5.1 to 5.4, and replayed."""
    kept = single(record)
    one, ups = (frame.set_index("configuration") for frame in (alone, single_steps))
    both, lines = (frame.set_index(["test", "job"]) for frame in (pairs, pair_steps.astype({"job": int})))
    both.index = both.index.set_levels(both.index.levels[1].astype(int), level=1)
    rows = []
    for n, (test, job) in enumerate(zip(kept["replay_test"].values, kept["replay_job"].values, strict=True)):
        (name, _, where), number = str(test).partition(","), int(job)
        if "+" in name:
            halves = [label(half) for half in name.split("+")]
            text = f"{halves[number - 1]}, with {halves[2 - number]}" + where.replace(" ", ", ", 1)
            line = lines.loc[(name, number)]
            net = float(line["total"]) - float(line["write_sum"])
            clock, posts = float(both.loc[(name, number)]["forecast"]), float(both.loc[(name, number)]["pp_5_jobs"])
        else:
            text, net = label(name), float(ups["net_forecast"][name])
            clock, posts = float(one["forecast_clock"][name]), JOBS * float(one["pp_clock"][name])
        here = {part: _seconds(kept[f"replay_{part}"].isel(replay_row=n).values) for part in _PARTS}
        row = {"job": text}
        for (part, title), value in zip(_PARTS.items(), (net, clock, posts), strict=True):
            row |= {f"{title}, printed": f"{value:.0f}", f"{title}, replayed": here[part]}
        rows.append(row)
    frame = pd.DataFrame(rows)
    return table(frame, name="xmp1982_replayed_parts", units="s", digits=3, run=record, factor=factor(record))
