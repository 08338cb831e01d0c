"""What the chapter shows of analysis, devices and sharing: rates, ratios and the model on this host's own runs."""

import numpy as np
import pytest

from companion import tables
from companion.chapters.xmp1982 import hostmodel
from companion.chapters.xmp1982.experiments import devices, sharing
from companion.chapters.xmp1982.figures import analysed, moved
from companion.records import runs


@pytest.fixture(scope="module")
def own():
    return [runs.latest(f"xmp1982-{name}") for name in ("forecast", "simulator", "overlap")]


def test_rows_that_give_constants_are_met(own):
    frame = hostmodel.residuals(*own)
    gives = frame["calibrates"] != ""
    assert gives.sum() == len(hostmodel.CALIBRATED)
    assert np.abs(frame[gives]["departure"]).max() < 1e-12 and frame["departure"].notna().all()


def test_every_row_that_can_be_is_left_out(own):
    assert hostmodel.leave_one_out(*own)["departure"].notna().all()
    costs = hostmodel.conclusions(*own)
    assert set(costs) == {"measured", "model"}


def test_rates_are_megawords_over_seconds():
    record = runs.latest("xmp1982-devices")
    cases = moved._tests(record)
    one = cases.sel(test="ssd")
    np.testing.assert_allclose(moved.rates(record).sel(test="ssd"), float(one["mwords"]) / one["job_0_time"].values)
    both = cases.sel(test="disks-both")
    mega = float(both["mwords"]) + float(both["mwords_second"])
    np.testing.assert_allclose(moved.rates(record).sel(test="disks-both"), mega / both["clock"].values)


def test_records_and_transfers_are_the_report_s():
    printed = tables.printed("xmp1982", "fig7_2").set_index("test")
    compared = 0
    for case in devices._cases("paper", 1):
        name = case.parameters["test"]
        if name in printed.index and not name.startswith("disks"):
            jobs = devices.TESTS[name]
            assert case.problem.jobs[0].record == float(printed.loc[name, "record_length"])
            assert sum(job[2] for job in jobs if job[0] == jobs[0][0]) == float(printed.loc[name, "transfers"])
            compared += 1
    assert compared >= 4
    pair = [transfers for _place, _factor, transfers in devices.TESTS["disks-both"]]
    assert pair == [float(printed.loc[f"disks-{each}", "transfers"]) for each in ("diop", "biop")]


def test_analysis_and_forecast_of_1982_are_held_to_the_same_machine():
    tests, analyses = (tables.printed("xmp1982", name) for name in ("fig6_3", "fig6_1"))
    found = analysed.printed_together(tests, analyses, tables.load("xmp1982", "fig5_1"))
    assert found[0] == pytest.approx(618 / 493 + 779 / 711) and len(found) == 4


def test_programs_add_both_passes():
    record = runs.latest("xmp1982-analysis")
    names = list(runs.single(record)["step_name"].values.astype(str))
    assert names.count("GAP (analysis)") == 2
    twice = analysed._program(record, "disk", "GAP (analysis)", "cpu")
    frame = analysed.step_times(record)
    steps = frame[frame["what it does"] == "GAP (analysis)"]["CPU, files on disk"]
    assert np.nanmedian(twice) == pytest.approx(steps.sum(), rel=0.3)


def test_halves_of_a_forecast_are_told_apart():
    class Step:
        def __init__(self, number):
            self.number, self.kind, self.clock = number, "normal", 2.0 if number < 10 else 3.0

    found = sharing.steps_of(type("Result", (), {"steps": [Step(n) for n in range(20)]}))
    assert found["first_day"] == 2.0 and found["second_day"] == 3.0
