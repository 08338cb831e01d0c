"""Every mark of a figure says its value, and says it where it is drawn."""

import re

import numpy as np
import pandas as pd
import pytest
from drawing import cases

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.figures.marks import marks

ROWS = [{"label": name, "threads": 1, "seconds": [1.0, 2.0, 4.0]} for name in "ab"]


def said(figure) -> list[str]:
    figure.draw_without_rendering()
    return [" | ".join(mark.said) for mark in marks(figure)]


@pytest.fixture
def runs():
    return [cases(ROWS).assign_attrs(mark=mark, label=label) for mark, label in (("", "A"), ("D", "B"))]


def test_rows_say_value_interval_machine_and_where_a_number_is_printed(runs):
    frames = [figures.with_spread(pd.DataFrame({"what": ["a", "b"]}), rate=figures.intervals(figures.cases(run)))
              for run in runs]  # fmt: skip
    shown = figures.dots(
        runs,
        frames,
        {"rate": "{}, today"},
        printed={"1993": pd.Series({"a": 3.25})},
        xlabel="time of a step [s]",
        name="nht1_steps",
        tables="table_1",
    )
    today = "2 s, samples from 1.00 to 4.00 | time of a step | {} | {}, today | measured: {}, preset quick, 2026-01-02"
    printed = "3.25 s | time of a step | a | report: Fineberg 1993, Table 1"
    found = said(shown.figure)
    assert [each.partition(", page")[0] for each in found] == [
        *(today.format("a", name, name) for name in "AB"), printed, *(today.format("b", name, name) for name in "AB")
    ]  # fmt: skip
    titles = re.findall(r"<title>(.*?)</title>", shown.html, re.DOTALL)
    assert [title.replace("\n", " | ") for title in titles] == found


def test_bars_ranges_bounds_and_sizes_are_said_and_what_is_off_the_axes_is_not():
    figure, axis = figures.axes()
    place = figures.rows(axis, ["one", "two"])
    axis.barh(place, [10, 5], label="computes", **figures.hollow("computing"))
    axis.barh(place, [20, 20], left=[10, 5], label="waits", **figures.hollow("waiting"))
    figures.printed_ranges(axis, place, [30, np.nan], [40, 50])
    axis.set(xlabel="share [%]", xlim=(0, 60))
    assert said(figure) == [
        "10 % | share | one | computes | from the report",
        "20 % | share | one | waits | from the report",
        "30 to 40 % | share | one | from the report",
        "5 % | share | two | computes | from the report",
        "20 % | share | two | waits | from the report",
        "at most 50 % | share | two | from the report",
    ]
    figure, axis = figures.axes()
    figures.bytes_axis(axis, [2**10, 2**20])
    figures.calculated(axis, [2**10, 2**14, 2**30], [1.2345, np.nan, 2], label="model")
    axis.set(xlim=(2**9, 2**20), xlabel="message", ylabel="MB/s")
    assert said(figure) == ["1.23 MB/s | message 1 KB | model | calculated"]


def test_a_bar_of_another_run_is_not_given_to_the_first(runs):
    figure, axis = figures.axes()
    place = figures.rows(axis, ["today", "this run, on 2 ranks", "B (Xeon), on 2 ranks"])
    axis.barh(place, [1, 2, 3], color=figures.meaning("waiting"))
    figures.show(figure, alt="Bars.", run=runs[0])
    assert [each.rpartition(" | ")[2] for each in said(figure)] == [
        "measured: A, preset quick, 2026-01-02", "measured: this run", "measured: B (Xeon)"
    ]  # fmt: skip


def test_doubtful_values_are_crossed_in_the_first_run_and_in_the_reader_s_own():
    flagged = [row | {"flags": "load" if row["label"] == "b" else ""} for row in ROWS]
    every = [cases(flagged).assign_attrs(mark=mark, label=mark) for mark in ("", "D", "*")]
    crosses = []
    for run in every:
        _, axis = figures.axes()
        figures.bars(axis, [0, 1], figures.intervals(figures.cases(run)), label="rate", run=run)
        crosses.append([list(line.get_xdata()) for line in axis.lines if line.get_marker() == "x"])
    assert crosses == [[[1.0]], [], [[1.0]]]
    assert figures.machines(every).endswith("(crossed: doubtful)") and "doubtful" not in figures.machines(every[:2])


def test_names_of_rows_are_no_annotations_and_an_axis_says_its_numbers():
    figure, axis = figures.axes()
    found = pd.DataFrame({"low": 1e-9, "middle": [2e-9, 3e-6], "high": 4e-6, "flagged": False})
    drawn = figures.bars(axis, [0, 1], found, label="D", across=True)
    for row, name in enumerate(["a load", "an open"]):
        axis.annotate("first", (1e-6, row))
        axis.text(0, row - 0.3, name, transform=axis.get_yaxis_transform())
    axis.set_yticks([0, 1], ["", ""])
    axis.set_xlabel("time")
    figures.tells(axis, x=lambda value: f"{1e9 * value:.0f} ns")
    figures.tells(drawn, whence=["D: a load\nmeasured: 2026-01-02", "D\nmeasured: 2026-01-03"])
    assert said(figure) == [
        "2 ns, within 1 ns to 4000 ns | time | a load | D: a load | measured: 2026-01-02",
        "3000 ns, within 1 ns to 4000 ns | time | an open | D | measured: 2026-01-03",
    ]


def test_marks_lie_where_they_are_drawn():
    figure, (upper, lower) = figures.axes(2, 1)
    figures.points(upper, [1, 10, 100], [3, 1, 2], label="a")
    figures.points(lower, [5, 6], [0.1, 0.9], label="b", host=True)
    figures.log_axis(upper, "x")
    html = figures.show(figure, alt="Points.").html
    drawing, _, places = html.partition('<g class="rerun-marks"')
    markers = set(re.findall(r'clip-path="[^"]*">\s*<use href="#([^"]+)"', drawing))
    uses = [re.search(r'href="#([^"]+)" x="([\d.]+)" y="([\d.]+)"', use) for use in re.findall("<use[^>]+>", drawing)]
    drawn = [(float(use[2]), float(use[3])) for use in uses if use and use[1] in markers]
    told = [tuple(map(float, each)) for each in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', places)]
    assert len(told) == 5
    assert all(min(np.hypot(x - a, y - b) for a, b in drawn) < 0.2 for x, y in told)
