"""Chapter 3: the arithmetic of overheads and waiting on made-up samples."""

import pytest
from drawing import cases

from supercomputers_rerun.companion import experiments, tables
from supercomputers_rerun.companion.chapters.nht1 import background, balance, groups, methods, writing
from supercomputers_rerun.kernels.bt import ranks as bt

HERE = {name: entry for name, entry in experiments.REGISTER.items() if entry.document == "nht1"}


def test_quick_runs_take_at_most_three_seconds_of_samples():
    assert max(entry.seconds("quick") for entry in HERE.values()) <= 3


def run_of(N, threads, way, seconds, **observed):
    """A case with or without writing; a writing one has a solution of 600 MB."""
    row = {"N": N, "threads": threads, "way": way, "seconds": 3 * [seconds], "solution_bytes": 6e8}
    names = ("T_T", "transferring", "stalled", "finish")
    return row | {"observed": {name: 3 * [observed.get(name, 0.0)] for name in names}}


def test_overheads_are_held_against_the_same_code_on_as_many_threads():
    run = cases(
        [
            run_of(102, 1, "none", 10.0),
            run_of(102, 2, "none", 5.0),
            run_of(102, 1, writing.WAY, 12.0, T_T=12.0, transferring=2.0),
            run_of(102, 2, writing.WAY, 6.0, T_T=6.0, transferring=3.0, stalled=0.5, finish=0.25),
            run_of(102, 2, writing.LATER, 6.0, T_T=4.5, transferring=6.0),
            run_of(102, 1, writing.LATER, 6.0, T_T=9.0, transferring=4.0),
            run_of(102, 2, methods.POINTS, 6.0, T_T=9.0, transferring=4.0),
        ]
    )
    one, two = (row for row in writing.written(run).itertuples() if row.way == writing.WAY)
    assert (one.zeta, one.R_IO) == pytest.approx((20.0, 50.0))
    assert (two.zeta, two.writing) == pytest.approx((20.0, 200.0))
    assert list(writing.largest(run).index) == [writing.WAY, writing.LATER, methods.POINTS]
    assert writing.largest(run).loc[writing.WAY, "waiting"] == 0.75
    beside = background.beside_table(run)
    assert beside["run"].tolist() == [0.75, 0.75] and beside["transfers"].tolist() == [2.0, 2.0]


def test_a_call_costs_what_points_wait_and_bytes_what_planes_do():
    """15 million points in 15 s, and 600 MB of planes in 0.3 s: 1 µs and 2 GB/s, so that a call is worth 2000 bytes."""
    run = cases(
        [
            run_of(102, 1, "none", 10.0),
            run_of(102, 1, methods.POINTS, 25.0, T_T=25.0, stalled=15.0, transferring=15.0),
            run_of(102, 1, methods.PLANES, 10.3, T_T=10.3, stalled=0.25, finish=0.05, transferring=0.3),
        ]
    )
    assert methods.costs(run) == pytest.approx((1e-6, 2e9))
    found = methods.by_size(run).set_index("way")
    assert found["bytes"].to_dict() == {methods.POINTS: 40, methods.PLANES: 40 * 102**2}
    assert found["waits"].tolist() == pytest.approx([1.0, 0.3e6 / (6e8 / (40 * 102**2))])
    assert "2 KB" in methods.insight(run).alt and "takes 2.5 times as long" in methods.short(run)[0]


def test_waiting_is_a_share_of_the_computing_between_two_dumps():
    about = {"N": 102, "threads": 1, "NS": 10, "IW": 5, "code": "compiled solver"}
    waited = {"stalled": [0.3] * 6, "finish": [0.1] * 6, "T_T": [2.5] * 6}
    run = cases(
        [
            {**about, "way": "none", "seconds": [2.0] * 6},
            {
                **about,
                "way": balance.ARRAYS,
                "seconds": [2.5] * 6,
                "observed": waited,
            },
        ]
    )
    (row,) = balance.waits(run).itertuples()
    assert (row.computing, row.middle, balance.held(row)) == pytest.approx((1.0, 20.0, 0.2))


def test_the_cm2_computed_for_eighteen_hours_and_the_ipsc_for_what_its_axis_leaves():
    found = balance.balance_1993().set_index("what")
    assert found.loc["CM-2, faster code", "computing"] * 40 == pytest.approx(18 * 3600)
    ends = tables.printed("nht1", "figure_1_axes").query("axis == 'y'")["value"]
    assert found.loc["iPSC/860, second code", "computing"].tolist() == pytest.approx(
        [ends.min() / 1.7 / 40, ends.max() / 1.7 / 40]
    )
    rates = writing.surviving().set_index(["system", "what"])
    assert rates.loc[("iPSC/860", writing.PEAK), "low"].tolist() == [1.0, 10.0]


def test_group_sizes_are_those_of_the_printed_axis():
    (run, *_) = groups.grouped.runs()
    ticks, factor, best = groups._printed()
    assert set(ticks) < set(groups.curve(run)["g"]) and best in ticks and factor == pytest.approx(3600 / 2600)


def test_boxes_of_a_rank_have_two_points_for_each_neighbour():
    """Every number of ranks that leaves them is legal, and another is refused in a sentence."""
    legal = []
    for ranks in range(1, 700):
        try:
            legal.append(bt.Problem.preset("S", ranks=ranks).ranks)
        except ValueError as refusal:
            assert "thinner than the two points" in str(refusal)
    assert legal[:4] == [1, 2, 3, 4] and max(legal) <= 6**3


def test_points_are_written_at_the_rate_of_their_solution():
    """100³ points of 40 bytes, 10 of 50 steps written, in 8 s: 50 MB/s; 8 s over 5 s are 60 %."""
    rows = [
        {"label": f"P = {P}", "threads": 1, "N": 100, "NS": 50, "IW": 5, "P": P, "seconds": 3 * [9.0]}
        | {"observed": {"T_T": 3 * [seconds], "T_C": 3 * [5.0]}}
        for P, seconds in ((1, 8.0), (100, 20.0))
    ]
    said = methods.pointwise([cases(rows)]).alt.splitlines()[-2:]
    assert [line.split()[1:5] for line in said] == [["1", "8.00", "50.0", "60.0"], ["100", "20.0", "20.0", "300"]]
