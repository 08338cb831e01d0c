"""A record as text: every case, quantity and unit, and what was doubted."""

import pytest
from typer.testing import CliRunner

from companion.cli import app
from companion.records import display, runs


def test_every_case_and_quantity_is_said_with_its_unit(record):
    record["outputs"] = {
        "run_time": {"value": [1.0, 2.5], "units": "s", "dims": ["run"]},
        "way": {"value": ["a, b", "c"], "units": "1", "dims": ["run"]},
    }
    said = display.text(record)
    assert all(f"  {case['label']}: minimum " in said for case in record["measurements"])
    assert "  run time: 1, 2.500 s" in said and "  way: a, b; c" in said
    assert "GFLOPS" in said and record["title"] in said.splitlines()[0]


def test_rates_follow_from_work_and_the_fastest_sample(record):
    case = record["measurements"][0]
    case["samples"], case["work"]["flops"], case["work"]["bytes_read"] = [2.0, 1.0, 4.0], 3e9, 5e9
    case["work"]["bytes_written"] = 0
    line = display.text(record).splitlines()[2]
    assert "minimum 1.000 s (3.000 GFLOPS, 5.000 GB/s), median 2.000 s (1.500 GFLOPS, 2.500 GB/s)" in line


def test_flags_and_simulated_are_not_kept_back(record):
    record["measurements"][0]["flags"] = {"load": "others were busy"}
    record["simulated"] = True
    said = display.text(record, samples=True)
    assert "[others were busy]" in said and "simulated: no clock" in said and "samples, s:" in said


@pytest.mark.parametrize("samples", [[], ["--samples"]])
def test_the_command_prints_a_committed_record(samples):
    path = next(iter(sorted(runs.COMMITTED.glob("p5plus-stream*.json"))))
    done = CliRunner().invoke(app, ["show", str(path), "--no-draw", *samples])
    assert done.exit_code == 0 and runs.read(path)["title"] in done.output


def test_work_that_moves_nothing_has_no_rate_of_bytes():
    case = {"label": "a", "samples": [0.5], "flags": {}, "work": {"flops": 10**9, "bytes_read": 0, "bytes_written": 0}}
    assert display.case_rows(case)[0][2:5] == ("0.5000", "2.000", "")
    assert "(2.000 GFLOPS)" in display.case_line(case)
    case["work"] = {"flops": 0, "bytes_read": 10**9, "bytes_written": 0}
    assert display.case_rows(case)[0][2:5] == ("0.5000", "", "2.000")
    case["work"]["bytes_read"] = 0
    assert display.case_line(case) == "a: minimum 0.5000 s, median 0.5000 s"


def test_rows_of_a_table_have_one_statistic_each_with_its_own_rates(record):
    case = record["measurements"][0]
    case["samples"], case["work"]["flops"], case["flags"] = [2.0, 1.0, 4.0], 3e9, {"load": "others were busy"}
    case["work"]["bytes_read"], case["work"]["bytes_written"] = 5e9, 0
    least, middle = display.case_rows(case)
    assert least == (case["label"], "minimum", "1.000", "3.000", "5.000", "load")
    assert middle == ("", "median", "2.000", "1.500", "2.500", "")
    assert len(display.HEADS) == len(least) and set(display.NUMBERS) < set(display.HEADS)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (999_999_999_999_999.0, "999999999999999"),  # a whole number of fifteen digits is one that float64 holds
        (1e15, "1.000e+15"),
        ([0.5] * 12, ", ".join(["0.5000"] * 12)),
        ([0.5] * 13, ", ".join(["0.5000"] * 12) + ", … (13 values)"),
    ],
)
def test_long_numbers_and_long_lists_are_cut(record, value, said):
    record["outputs"] = {"found": {"value": value, "units": "1", "dims": []}}
    assert f"found: {said}" in display.text(record).splitlines()[-1]
