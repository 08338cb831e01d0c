"""A record as text: every case, quantity and unit."""

from supercomputers_rerun.companion.records import runs


def test_every_case_and_quantity_is_said_with_its_unit(record):
    record["outputs"] = {
        "run_time": {"value": [1.0, 2.5], "units": "s", "dims": ["run"]},
        "way": {"value": ["a, b", "c"], "units": "1", "dims": ["run"]},
    }
    said = runs.text(record)
    assert all(f"  {case['label']}: minimum " in said for case in record["measurements"])
    assert "  run time: 1, 2.500 s" in said and "  way: a, b; c" in said
    assert "GFLOPS" in said and record["title"] in said.splitlines()[0]


def test_rates_follow_from_work_and_the_fastest_sample(record):
    case = record["measurements"][0]
    case["samples"], case["work"]["flops"], case["work"]["bytes_read"] = [2.0, 1.0, 4.0], 3e9, 5e9
    case["work"]["bytes_written"] = 0
    line = runs.text(record).splitlines()[2]
    assert "minimum 1.000 s (3.000 GFLOPS, 5.000 GB/s), median 2.000 s (1.500 GFLOPS, 2.500 GB/s)" in line
