"""Experiments of chapter 1: what they ask for, and the arithmetic of their figures."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from supercomputers_rerun.companion import common, tables
from supercomputers_rerun.companion.chapters.xmp1982 import banks, blocks, day, forecast, overlap, rows, second_cpu


def test_every_configuration_of_the_report_has_its_place():
    printed = tables.load("xmp1982", "write_ups")["configuration"].values
    assert set(printed) - {"cray1a-disk4"} == set(forecast.CONFIGURATIONS)
    tests = {second_cpu.printed_name(pair) for pair in second_cpu.PAIRINGS}
    assert tests == set(tables.load("xmp1982", "fig5_3")["test"].values) - {"ecmwf"}
    kept = {second_cpu.printed_name(test) for test in second_cpu.ACCOUNTED}
    accounted = tables.load("xmp1982", "fig5_5")["test"].values
    assert {"disk4" if name.startswith("disk4-") else name for name in accounted} == kept
    assert rows.label("ssd2-async+bmr1") == "2 on SSD, async + 1 in buffer"
    assert rows.label("cray1a-disk4") == "Cray 1-A, 4 on disk"


def test_records_and_transfers_are_those_of_the_report():
    printed, compared = tables.printed("xmp1982", "fig7_2").set_index("test"), 0
    for case in blocks.devices.cases("paper", 1):
        name = case.parameters["test"]
        if name in printed.index and not name.startswith("disks"):
            _, each = blocks.TESTS[name]
            assert case.problem.jobs[0].record == float(printed.loc[name, "record_length"])
            assert sum(job[2] for job in each if job[0] == each[0][0]) == float(printed.loc[name, "transfers"])
            compared += 1
    assert compared >= 4
    pair = [transfers for _place, _factor, transfers in blocks.TESTS["disks-both"][1]]
    assert pair == [float(printed.loc[f"disks-{each}", "transfers"]) for each in ("diop", "biop")]


def test_balance_is_that_of_the_report_and_memory_is_saved_without_overlap():
    share = overlap.balance()
    assert share["SSD"] == pytest.approx(0.048, abs=0.002)
    assert share["BMR"] / share["SSD"] == pytest.approx(245.76 / 43.50)
    assert overlap.saved() == pytest.approx([29, 42], abs=1)  # the report: at least a third of main memory


def test_the_second_cpu_of_1982_is_held_to_the_same_places():
    found = second_cpu.printed_worth()
    assert found["disk4+disk4"] == pytest.approx(2 * (779 + 5 * 42.2) / 1176)
    assert found["ssd1+disk4"] == pytest.approx((679 + 5 * 41.5 + 779 + 5 * 42.2) / 1172)
    assert found.max() < 2 < second_cpu.printed_worth("async").max()
    paired, usual, steps = second_cpu.printed_parts()
    assert steps.iloc[0].tolist()[:2] == [29 / 20, 41 / 21]
    assert list((paired - usual).iloc[0]) == [770 - 675, 156 - 104, pytest.approx(230 - 5 * 42.2)]


def test_what_a_pair_is_worth_is_both_alone_over_both_at_once():
    complete = (("case", "sample"), [[2.0, 4.0], [4.0, 5.0], [3.0, 6.0]])
    flags = ("case", ["", "", ""])
    run = xr.Dataset({"observed_complete": complete, "flags": flags}, {"test": ("case", ["a", "b", "a+b"])})
    assert second_cpu.gains(run).loc["a+b"].tolist() == [2.0, 1.5]


def test_rows_have_the_median_and_its_interval_and_a_missing_case_has_none():
    """Of nine samples the interval leaves out the least and the largest."""
    samples = (("case", "sample"), [[9.0, 1, 2, 3, 4, 5, 6, 7, 8], [10.0] * 9])
    run = xr.Dataset(
        {"observed_net": samples, "flags": ("case", ["load", ""])}, {"configuration": ("case", ["memory", "disk4"])}
    )
    found = rows.along(run, {"bmr1": "buffer", "memory": "none"}, net=lambda cases: 2 * cases["net"])
    assert found["what"].tolist() == ["buffer", "none"] and found["flagged"].tolist() == [False, True]
    assert found[["net_low", "net", "net_high"]].iloc[1].tolist() == [4, 10, 16] and found["net"].isna().iloc[0]


def test_what_a_pair_leaves_idle_is_what_neither_of_its_jobs_takes():
    cases = {"complete": 10.0, "job_0_clock": 6.0, "job_0_posts": 1.0, "job_1_clock": 9.0, "job_1_posts": 1.0}
    assert second_cpu.idle_share(cases) == pytest.approx(30)
    printed = second_cpu.printed_idle().sel(test="ssd1+bmr1")
    assert printed == pytest.approx(100 * (2 * 986 - 703 - 810 - 182 - 210) / 986)


def test_halves_of_a_forecast_are_told_apart():
    steps = [SimpleNamespace(number=n, kind="normal", clock=2.0 if n < 10 else 3.0) for n in range(20)]
    found = forecast._by_day(SimpleNamespace(steps=steps))
    assert found["first_day"] == 2.0
    assert found["second_day"] == 3.0


def test_the_day_is_a_sum_of_parts_that_meets_the_rows_it_was_fitted_to():
    constants = day.constants()
    printed = tables.printed("xmp1982", "fig5_2").set_index("configuration")["net_forecast"]
    for name, layout in (("ssd2-sync", ("ssd", 2)), ("ssd4-sync", ("ssd", 4)), ("disk4", ("disk", 4, "async"))):
        assert day.net(day.Layout(*layout, simulated=True), constants) == pytest.approx(printed[name])
    for each in day.days():
        begins, ends, parts = zip(*each.segments, strict=True)
        assert begins == (0.0, *ends[:-1]) and list(ends) == sorted(ends) and set(parts) <= set(day.PARTS)
        assert each.printed is None or each.end == pytest.approx(each.printed, rel=0.03)
    assert sum(each.printed is not None for each in day.days()) == 6
    assert 11 < day.gained() < 14 and day.off() < 3, "an eighth"


def test_ratios_of_simulated_banks_are_of_the_same_loop():
    point = {"overhead": 8, "latency": 20, "bank_b": 3, "bank_c": 7}
    alone, first, second = banks._ratios(point, 200, 32, 16)
    assert 1 <= alone <= first <= second < 3
    assert banks._ratios(point, 200, 16, 16)[0] == 1


def test_banks_are_drawn_as_a_reader_chooses():
    few, many = banks.bank_times(), banks.bank_times(stride=8, banks=64, cpus=4)
    assert [column for column in many.data][1:] == [f"bank {n}" for n in range(64)] and len(few.data) == len(many.data)
    assert "CPU 3" in many.alt and "CPU 3" not in few.alt


def test_what_a_step_of_1982_moves_is_its_volume_over_a_rate():
    """3.4 Mword are read and as many written, by four disks at 13.35 MB/s, beside 4.61 s of computing."""
    assert forecast.moving_then()["disk"] == pytest.approx(2 * 8 * 3.4 / 13.35)
    assert forecast.moving_then()["disk"] / forecast.step_then() == pytest.approx(0.884, abs=0.001)
    assert forecast.waited()["disk4"] == pytest.approx(100 * (770 - 630) / 770)
    assert overlap.saved_then() == pytest.approx(100 * (592 - 571) / 592)


def test_more_disks_move_a_step_sooner_and_compute_it_as_fast(monkeypatch):
    """20 ms of moving by one disk beside 10 ms of computing."""
    monkeypatch.setattr(forecast, "moving_now", lambda run: {"disk": 0.02})
    monkeypatch.setattr(forecast, "step_now", lambda run: np.array([0.01, 0.009, 0.02]))
    assert [forecast.over_computing(None, disks) for disks in (1, 2, 4)] == pytest.approx([2.0, 1.0, 0.5])


def test_numbers_of_sentences_are_rounded_and_equal_ends_are_one():
    assert [common.rounded(each) for each in (740.6, 18.9, 0.884, 1.0, 9.96)] == ["740", "19", "0.88", "1", "10"]
    assert common.span([1.91, 1.94], 1) == "1.9" and common.span([1.4, 1.6], 1) == "1.4 to 1.6"


def test_the_volume_of_a_day_follows_from_its_steps():
    """(630 - 5 · 16.50 - 3 · 38.61) / 4.61 s are 94 steps, each of which reads 3.4 Mword and writes as many."""
    found = day.facts()
    assert found["volume"] == pytest.approx(2 * 3.4 * 94) and found["cpu_forecast"] == pytest.approx(630 - 5 * 16.5)
    assert (found["overlap_two"], found["overlap_one"]) == pytest.approx((0.94, 0.47))


@pytest.mark.parametrize(("preset", "records"), [("quick", 8), ("paper", 32)])
def test_files_of_larger_records_have_fewer_of_them(preset, records):
    for case in blocks.devices.cases(preset, 1)[: len(blocks.TESTS)]:
        factors = [factor for _, factor, _ in blocks.TESTS[case.parameters["test"]][1]]
        assert [job.records for job in case.problem.jobs] == [{1: records, 2: records / 2}[each] for each in factors]


def test_of_a_search_the_point_counts_that_departs_least_where_it_departs_most(monkeypatch):
    """Wanted 2, 4 and 8.  One CPU alone gives 2.02, 1.99 and 3: the third is out; of the others all three ratios count,
    where the first departs by 1.5 % at most and the second by 5 %."""
    ratios = {1: [2.02, 4.04, 8.12], 2: [1.99, 4.2, 8.0], 3: [3.0, 4.0, 8.0]}
    monkeypatch.setattr(banks, "GRID", {"point": (1, 2, 3)})
    monkeypatch.setattr(banks, "printed", lambda _: (np.array([2.0, 4.0, 8.0]), 32, 16))
    monkeypatch.setattr(banks, "_ratios", lambda point, *_, cpus=(1, 2): np.array(ratios[point["point"]]))
    found = {name: output.value for name, output in banks._fit([]).items()}
    assert found["searched"] == 3 and found["within_2_percent"] == 1
    assert found["largest_departure"] == pytest.approx(0.015)


def test_a_jobs_steps_and_its_post_processing_have_their_numbers(monkeypatch):
    post = [SimpleNamespace(clock=float(n), cpu=10.0 * n) for n in (1, 2)]
    monkeypatch.setattr(forecast, "observe", lambda job: {"net": job})
    found = forecast._observe_job(SimpleNamespace(jobs=[5.0], complete=7.0, posts=post))
    assert found == {"net": 5.0, "complete": 7.0} | {
        "post_1_clock": 1.0, "post_1_cpu": 10.0, "post_2_clock": 2.0, "post_2_cpu": 20.0,
    }  # fmt: skip
