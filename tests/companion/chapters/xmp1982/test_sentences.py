"""Sentences of chapter 1 say what made records hold: medians, intervals, and where nothing can be measured."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from companion import tables
from companion.chapters.xmp1982.figures import accounts, analysed, dots, moved, overlapping, summary, together

SPREAD = np.linspace(0.97, 1.03, 7)
ATTRIBUTES = {"machine": "a machine, 2 CPUs", "preset": "quick", "date": "2026-01-01T00:00:00Z"}


def cases(key, rows, **more):
    """A record whose cases, called ``key``, were observed as ``rows`` have it, with seven samples each."""
    names = sorted({name for row in rows.values() for name in row})
    data = {f"observed_{name}": (("case", "sample"), np.outer([row.get(name, np.nan) for row in rows.values()], SPREAD))
            for name in names}  # fmt: skip
    data["flags"] = ("case", np.full(len(rows), ""))
    return xr.Dataset(data | more, coords={key: ("case", list(rows))}, attrs=ATTRIBUTES)


def job(number, net, up, posts):
    return {f"job_{number}_net": net, f"job_{number}_write_step_1": up, f"job_{number}_posts": posts}


@pytest.fixture
def pairs():
    """A forecast on disk takes 13 s with its jobs, one in buffer memory 7 s; both at once 14 s."""
    rows = {
        "disk4": job(0, 10.0, 1.0, 2.0) | {"complete": 13.0},
        "bmr1": job(0, 4.0, 1.0, 2.0) | {"complete": 7.0},
        "bmr1+disk4": job(0, 4.0, 1.0, 2.0) | job(1, 11.0, 1.5, 2.0) | {"complete": 14.0},
        "disk4+disk4": job(0, 13.0, 1.0, 2.0) | job(1, 13.0, 1.0, 2.0) | {"complete": 16.0},
    }
    throughput = np.tile([20 / 14, 26 / 16], (7, 1))
    return cases("test", rows, pairing=("pairing_number", list(rows)[2:]),
                 throughput=(("round", "pairing_number"), throughput))  # fmt: skip


def test_a_median_is_said_with_its_interval_and_its_doubt():
    assert dots.ranged(2 * SPREAD) == "2.00 (1.94 to 2.06)"
    assert dots.ranged(SPREAD, nothing=1) == "1.00 (0.97 to 1.03, no measurable difference)"
    assert dots.ranged(-0.5 * SPREAD, 100, 0) == "−50 (−52 to −48)"


def test_what_a_pair_lacks_is_idle_time_or_a_longer_forecast(pairs):
    found = together.shortfall(pairs)
    assert found["mixed"].tolist() == [True, False]
    # 28 s of two CPUs, 21.5 s of them used; then 32 s and 32 s
    np.testing.assert_allclose(found["idle"], [6.5 / 14, 0], atol=1e-12)
    np.testing.assert_allclose(found["net"], [1 / 14, 6 / 16])
    text = summary.rest(tables.load("xmp1982", "fig5_3"), pairs)
    assert "short of a factor of two by 0.38 to 0.57" in text and "0.46 to 0.46 of it is idle time" in text
    assert "0.38 to 0.38 comes from net forecasts" in text and "measurably in 1 of 1 pairs" in text
    # Fig. 5.3 by hand: 2250 s of two CPUs, less 845 + 855 s and 266 + 260 s of jobs
    assert f"idle time was {2 - (845 + 855 + 266 + 260) / 1125:.2f}" in text


def test_write_up_steps_are_longer_only_where_that_can_be_measured(pairs):
    text = together.write_steps_said(pairs)
    assert "longer in a pair than alone in 1 of 4 jobs, at most 1.50" in text and "(disk × 4, with BMR × 1)" in text


def test_which_equal_programs_gain_less_than_two():
    values = np.array([[2.0, 1.9, 1.6]] * 7) * SPREAD[:, None]
    names = ["registers+registers", "a small state+a small state", "records on disk+records on disk"]
    record = xr.Dataset({"throughput": (("round", "pairing_number"), values), "pairing": ("pairing_number", names)},
                        attrs=ATTRIBUTES)  # fmt: skip
    text = together.limits_said(record)
    assert "factor of 2.00 (1.94 to 2.06)" in text
    assert "gain of these: a small state 1.90 (1.84 to 1.96), records on disk 1.60 (1.55 to 1.65)." in text


def test_devices_are_compared_job_by_job():
    rows = {
        "ssd": {"job_0_time": 1.0},
        "bmr": {"job_0_time": 1.5},
        "ssd-2-jobs": {"job_0_time": 2.0, "clock": 2.0},
        "bmr-2-jobs": {"job_0_time": 2.0, "clock": 2.0},
        "ssd-with-disk": {"job_0_time": 1.0},
        "bmr-with-disk": {"job_0_time": 3.0},
    }
    counts = {name: ("case", np.ones(len(rows))) for name in ("mwords", "mwords_second", "jobs")}
    text = moved.devices_said(
        tables.printed("xmp1982", "fig7_2"), tables.load("xmp1982", "fig7_3"), cases("test", rows, **counts)
    )
    assert "one job moved 5.65 times as much" in text and "One job takes 1.50" in text
    assert "move 1.000 times (95 % interval" in text and "and 1.50" in text
    assert "no measurable difference) as long in memory and 2.00" in text


def test_threads_and_what_overlapping_hides_have_intervals():
    rows = {"memory": {"normal_clock": 2.0}, "memory, two threads": {"normal_clock": 1.0}, "copy, 1": {}, "copy, 2": {}}
    record = cases("configuration", rows, copiers=("copy", [1, 2]))
    record["seconds"] = (("case", "sample"), np.outer([9, 9, 0.3, 0.3], SPREAD))
    text = overlapping.threads_said(record)
    assert "takes 2.00 times" in text and "1.000 times (95 % interval" in text and "no measurable difference" in text
    names = {"in memory": 1.0, "none": 3.0, "one": 2.5, "both": 2.5, "alone": 2.0}
    record = cases("label", {name: {"net": value} for name, value in names.items()})
    for name, values in {"device": ["none"] + ["disk"] * 4, "overlap": list(names), "paced": ["no"] * 5}.items():
        record[name] = ("case", values)
    assert "hides" in (text := summary.overlap(record)) and "50 % (50 to 50) with disk" in text


def test_accounts_name_the_jobs_that_lose():
    rows = pd.DataFrame([("bmr1", "bmr1", 0, 1.0), ("bmr1+ssd1", "bmr1", 0, 1.5), ("bmr1+bmr1", "bmr1", 0, 1.0)])
    shares = {"executing": 0.5, "waiting": 0.25, "transfers": 0.25, "clock": 1.0}
    data = {f"account_{name}": (("round", "row"), np.outer(SPREAD, share * rows[3])) for name, share in shares.items()}
    data |= {name: ("row", rows[n]) for n, name in enumerate(("account", "account_job", "account_forced"))}
    text = accounts.said(xr.Dataset(data, attrs=ATTRIBUTES))
    assert (
        "add up to 100 to 100 % of the clock" in text
        and "measurable in 1 of 2 jobs (BMR × 1, with SSD × 1: 33 %" in text
    )


def test_a_forecast_beside_the_analysis_is_held_to_itself_alone():
    clocks = {"reference_analysis": 1.0, "reference_forecast": 2.0}
    data = {name: ("round", value * SPREAD) for name, value in clocks.items()}
    forecast = np.outer([1.0, 2.0, 1.0, 4.0], SPREAD[::-1])
    for name, values in (("analysis", np.outer(np.ones(4), SPREAD)), ("forecast", forecast)):
        data[f"{name}_clock"] = (("test_number", "round"), values)
    clock = tables.printed("xmp1982", "fig6_1").query("compiler == 'CFT 15K'").set_index("configuration")["clock"]
    text = analysed.together_said(clock, xr.Dataset(data, attrs=ATTRIBUTES))
    assert "took 5 and 6 % longer" in text and "13 and 24 % longer" in text
    assert "alone, is 1.00 (0.94 to 1.06, no measurable difference) and 0.50 (0.47 to 0.53)." in text
