"""Base code, processors, rates and foreign words: the figures say what records and tables say."""

import pytest
from drawing import cases

from companion import experiments, tables
from companion.chapters.nht1 import figures as nht1
from companion.figures.rendering import offered


def base_record():
    common = {"N": 12, "threads": 1}
    return cases(
        [
            {**common, "code": code, "way": way, "seconds": [T_C, 1.1 * T_C, 0.9 * T_C], "observed": observed}
            for code, T_C, T_T in (("fast", 1.0, 1.5), ("slow", 10.0, 10.6))
            for way, observed in (("none", {}), ("array", {"T_T": [T_T, 1.2 * T_T, 0.9 * T_T]}))
        ]
    )


def test_a_slow_base_code_makes_the_same_writing_look_small():
    frame = offered(nht1.base_code(base_record()))
    assert frame["zeta"].tolist() == pytest.approx([50.0, 6.0])
    assert frame["expected"].tolist() == pytest.approx([50.0, 5.0])
    assert (frame["zeta_low"] < frame["zeta"]).all() and (frame["zeta"] < frame["zeta_high"]).all()


def runs_record():
    rows = [(64, 1, "none", 2.0), (64, 2, "none", 1.0), (102, 1, "none", 4.0)]
    written = [(64, 1, "array", 2.2), (64, 2, "array", 1.3), (102, 1, "other", 5.0)]
    return cases(
        [{"N": N, "threads": n, "way": way, "seconds": 3 * [seconds]} for N, n, way, seconds in rows]
        + [
            {"N": N, "threads": n, "way": way, "seconds": 3 * [T_T], "observed": {"T_T": 3 * [T_T]},
             "solution_bytes": 250e6}
            for N, n, way, T_T in written
        ]
    )  # fmt: skip


def test_the_model_keeps_the_writing_and_divides_the_computing():
    frame = offered(nht1.by_processors(runs_record(), tables.printed("nht1", "overheads"), 4, "array"))
    model = frame[frame["kind"] == "model"]
    assert model["zeta"].tolist() == pytest.approx([10.0, 20.0, 30.0, 40.0])
    assert frame[frame["kind"] == "measured"]["zeta"].tolist() == pytest.approx([10.0, 30.0])
    with pytest.raises(ValueError, match="way = 'of their own'"):
        nht1.by_processors(runs_record(), tables.printed("nht1", "overheads"), 4, "of their own")


def test_surviving_rates_are_those_of_the_tables():
    read = tables.load("nht1", "systems"), tables.load("nht1", "prose")
    frame = nht1.surviving_rates(*read, tables.printed("nht1", "table_1"), tables.printed("nht1", "figure_1_axes"))
    rates = dict(zip(frame["what"], frame["rate"], strict=True))
    nbytes = 5 * 8 * 102**3 * 40
    assert rates["CM-2, whole run, at most"] == pytest.approx(nbytes / (18 * 3600) / 1e6)
    assert rates["iPSC/860, whole run, least"] == pytest.approx(nbytes / 3600 / 1e6)
    assert rates["iPSC/860, whole run, most"] == pytest.approx(nbytes / 2600 / 1e6)
    drawn = offered(nht1.rates_then_and_now(frame, runs_record()))
    assert drawn["rate"].iloc[-1] == pytest.approx(50.0) and len(drawn) == len(frame) + 1


def test_whole_runs_and_points_are_drawn_from_their_records():
    grouped = experiments.run("nht1-grouped", rounds=1, progress=False)
    assert (grouped["group_median"].values > 0).all() and grouped["group"].values.tolist() == [1, 2, 4]
    drawn = nht1.grouped(tables.printed("nht1", "figure_1_axes"), 16, grouped)
    assert "4 processes" in drawn.alt and len(offered(drawn)) == 3
    elements = experiments.run("nht1-elements", rounds=1, progress=False)
    frame = nht1.points_table(elements)
    assert frame["processes"].tolist() == [1, 1, 2, 2] and frame["solver"].tolist() == ["waits", "goes on"] * 2
    assert frame["overhead"].tolist() == pytest.approx((100 * (frame["T_T"] / frame["T_C"] - 1)).tolist())
