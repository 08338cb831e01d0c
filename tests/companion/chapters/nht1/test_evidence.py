"""Base code, processors, rates and foreign words: the figures say what records and tables say."""

import numpy as np
import pytest
from drawing import cases

from companion import tables
from companion.chapters.nht1 import figures as nht1
from companion.chapters.nht1.figures import evidence
from companion.figures.rendering import offered
from companion.records import runs


def base_record():
    common = {"N": 12, "NS": 20, "IW": 10, "threads": 1}
    return cases(
        [
            {**common, "code": code, "way": way, "seconds": [T_C, 1.1 * T_C, 0.9 * T_C], "observed": observed}
            for code, T_C, waits in (("compiled solver", 1.0, 0.5), ("plain NumPy solver", 10.0, 0.6))
            for way, observed in (
                ("none", {}),
                ("array", {"T_T": [T_C + waits] * 3, "stalled": [waits, 1.2 * waits, 0.9 * waits]}),
            )
        ]
    )


def surviving():
    loaded = [tables.load("nht1", name) for name in ("systems", "prose")]
    printed = [tables.printed("nht1", name) for name in ("table_1", "figure_1_axes", "overheads")]
    return nht1.balance_1993(*loaded, *printed)


def test_a_slow_base_code_makes_the_same_writing_look_small():
    """Half a second over one, and 0.6 over ten; a step of ten of twenty is half the computing."""
    frame = offered(nht1.balance(surviving(), base_record())).dropna(subset=["code"])
    assert frame["middle"].tolist() == pytest.approx([50.0, 6.0])
    assert frame["computing"].tolist() == pytest.approx([0.5, 5.0])
    assert (frame["low"] < frame["middle"]).all() and (frame["middle"] < frame["high"]).all()
    assert "10 times as slow, writing the same solutions adds 6.0 %" in nht1.base(base_record())


def test_what_survives_of_the_balance_by_hand():
    """40 dumps of 42.4 MB at 4.3 MB/s are 395 s; of 18 hours 0.61 %, of the 32 % slower code 0.46 %."""
    found = surviving().set_index("what")
    writing = 40 * 42448320 / 4.3e6
    assert writing == pytest.approx(395, abs=0.5)
    assert found.loc["CM-2, faster code", "zeta"] == pytest.approx(100 * writing / 64800)
    assert found.loc["CM-2, public sample", "zeta"] == pytest.approx(100 * writing / 64800 / 1.32)
    ipsc = found.loc["iPSC/860, second code"]
    assert ipsc["zeta"].tolist() == [70.0, 70.0] and ipsc["computing"].max() == pytest.approx(3600 / 1.7 / 40)


def processors_record():
    def row(threads, way, T_C, waits=0.0, transfers=0.0):
        observed = {
            "T_T": 3 * [T_C + waits],
            "stalled": 3 * [waits],
            "finish": 3 * [0.0],
            "transferring": 3 * [transfers],
        }
        own = {} if way == "none" else {"observed": observed, "solution_bytes": 250e6}
        return {"N": 64, "threads": threads, "way": way, "seconds": 3 * [T_C + waits], **own}

    return cases(
        [
            row(1, "none", 2.0), row(2, "none", 1.0),
            row(1, "records", 2.0, 0.4, 0.3), row(2, "records", 1.0, 0.3, 0.2),
            row(1, "records, asynchronous", 2.0, 0.1, 0.6), row(2, "records, asynchronous", 1.0, 0.3, 0.8),
        ]
    )  # fmt: skip


def test_overheads_by_processors_and_why_they_change():
    """Computing is halved and waiting shortened by a quarter, so that 20 % become 30 %."""
    frame = offered(nht1.by_processors(processors_record(), tables.printed("nht1", "overheads"), "records"))
    assert frame["zeta"].tolist() == pytest.approx([20.0, 30.0])
    (row,) = nht1.processors_table(processors_record(), "records").itertuples()
    assert (row.computing, row.waiting) == pytest.approx((2.0, 4 / 3))
    said = nht1.by_threads(processors_record(), "records")
    assert "20 % (20 to 20) with one thread and 30 % (30 to 30) with 2." in said
    wide = processors_record()
    wide["observed_T_T"][3] = [1.1, 1.3, 1.5]
    assert "30 % (10 to 50) with 2, no measurable difference" in nht1.by_threads(wide, "records")


def test_writing_beside_the_solver_over_writing_in_turn():
    frame = offered(nht1.beside(processors_record(), "records", "records, asynchronous"))
    assert frame["transfers"].tolist() == pytest.approx([2.0, 4.0])
    assert frame["run"].tolist() == pytest.approx([2.1 / 2.4, 1.0])


def test_surviving_rates_are_those_of_the_tables():
    """Stated rates of files and peaks; whole runs from 18 hours and from the ends of an axis."""
    frame = surviving_rates()
    low, high = (frame.set_index(["system", "what"])[end] for end in ("low", "high"))
    nbytes = 5 * 8 * 102**3 * 40
    assert high["CM-2", evidence.WHOLE] == pytest.approx(nbytes / (18 * 3600) / 1e6)
    assert np.isnan(low["CM-2", evidence.WHOLE])
    assert low["iPSC/860", evidence.WHOLE] == pytest.approx(nbytes / 3600 / 1e6)
    assert high["iPSC/860", evidence.WHOLE] == pytest.approx(nbytes / 2600 / 1e6)
    assert [high[name, evidence.FILE] for name in ("Y-MP", "CM-2", "iPSC/860")] == [8, 4.3, 1]
    assert [high[name, evidence.PEAK] for name in ("CM-2", "iPSC/860")] == [25, 10]


def surviving_rates():
    read = tables.load("nht1", "systems"), tables.load("nht1", "prose")
    return nht1.surviving_rates(*read, tables.printed("nht1", "table_1"), tables.printed("nht1", "figure_1_axes"))


def methods_record():
    """The three methods of 1993 with two threads on the largest grid; one second of computing, 1.6 GB."""
    observed = {"sequential records, one a plane": 1.0, "five arrays, one a write": 2.0, "40-byte elements": 9.0}
    alone = {"N": 102, "threads": 2, "way": "none", "seconds": 3 * [1.0]}
    other = {"N": 64, "threads": 2, "way": "none", "seconds": 3 * [0.5]}
    return cases(
        [alone, other]
        + [
            {"N": 102, "threads": 2, "way": way, "seconds": 3 * [1 + wait], "solution_bytes": 1.6e9,
             "observed": {"T_T": 3 * [1 + wait], "transferring": 3 * [wait], "stalled": 3 * [wait], "finish": 3 * [0]}}
            for way, wait in observed.items()
        ]
    )  # fmt: skip


def test_rates_of_whole_runs_lie_beside_those_of_writing_alone():
    """1.6 GB in 2, 3 and 10 s; while writing in 1, 2 and 9 s."""
    drawn = offered(nht1.rates_then_and_now(surviving_rates(), methods_record())).dropna(subset=["middle"])
    assert drawn["middle"].tolist() == pytest.approx([800, 1600 / 3, 160, 1600, 800, 1600 / 9])
    sentence = nht1.moved(surviving_rates(), methods_record())
    assert "1/164 of the rate" in sentence and "160 to 800 MB/s" in sentence and "1.1 to 2.0 times as high" in sentence


def test_the_opening_has_the_printed_ranges_and_the_methods_of_1993():
    shown = nht1.opening(tables.printed("nht1", "overheads"), methods_record(), base_record())
    assert offered(shown)["overhead"].tolist() == pytest.approx([100, 200, 900, 6])
    assert "Y-MP 2 to 40, CM-2 below 4, iPSC/860 above 70" in shown.alt and "a solver 10 times as slow" in shown.html


def test_large_writes_are_not_ranked_where_samples_differ_more_than_medians():
    added = nht1.added(tables.printed("nht1", "overheads"), methods_record())
    assert "it adds 100 % (100 to 100) plane by plane and 900 % (900 to 900) point by point" in added
    sentence = nht1.small(methods_record())
    assert "add 100 to 200 %" in sentence and "adds 900 %" in sentence and "cannot rank" not in sentence
    spread = methods_record()
    spread["observed_T_T"][2, 0] = 10.0
    assert "this run cannot rank them" in nht1.small(spread)
    wide = methods_record()
    wide["observed_T_T"][2] = [1.5, 2.0, 3.0]
    assert "100 % (50 to 200) plane by plane" in nht1.added(tables.printed("nht1", "overheads"), wide)


def test_writing_in_the_background_says_when_nothing_is_measured():
    sentence = nht1.later(processors_record(), "records", "records, asynchronous")
    assert "shortens a run to 0.88 (0.88 to 0.88) of its time" in sentence


def mpiio_record():
    rows = {"none": [2.0, 2.0, 2.1], "collective": [3.0, 2.9, 3.1], "elements": [20.0, 21.0, 20.0]}
    common = {"N": 12, "ranks": 2, "label": "a case"}
    return cases([{**common, "way": way, "seconds": T_T, "observed": {"T_T": T_T}} for way, T_T in rows.items()])


def test_overheads_over_mpi_are_of_medians():
    shown = nht1.mpiio(tables.printed("nht1", "overheads"), mpiio_record())
    assert offered(shown)["zeta"].tolist() == pytest.approx([50.0, 900.0]) and "above 70 percent" in shown.alt
    assert "it adds 900 %" in nht1.over_mpi(mpiio_record())


def test_conversion_is_held_against_a_copy_of_the_largest_grid():
    samples = {form: [times * (1 + 0.01 * i) for i in range(8)] for form, times in (("native", 1), ("big-endian", 2))}
    record = cases(
        [
            {"N": N, "format": form, "direction": direction, "seconds": samples[form]}
            for N in (12, 64)
            for form in samples
            for direction in ("encode", "decode")
        ]
    )
    (row,) = nht1.conversion_cost(record).itertuples(index=False)
    assert row[0] == "big-endian" and row[1].startswith("2.00 times (95 % interval") and row[2] == row[1]


@pytest.mark.usefixtures("alone")
def test_whole_runs_and_points_are_drawn_from_their_records():
    grouped = runs.latest("nht1-grouped")
    drawn = nht1.grouped(tables.printed("nht1", "figure_1_axes"), 16, grouped)
    assert (
        f"{grouped['group'].max().item()} processes" in drawn.alt and len(offered(drawn)) == grouped.sizes["group_size"]
    )
    frame = nht1.points_table(runs.latest("nht1-elements"))
    assert set(frame["solver"]) == {"waits", "goes on"}
    assert frame["overhead"].tolist() == pytest.approx((100 * (frame["T_T"] / frame["T_C"] - 1)).tolist())
