"""The cost of a day, the marked profile, output rates, and the paired test of a wrong build."""

import numpy as np
import pytest

from companion import experiments, tables
from companion.chapters.xc30.experiments import wrong
from companion.chapters.xc30.figures import evidence, output
from companion.records import runs
from kernels.routines import PROFILE


def test_a_day_has_the_steps_of_its_truncation():
    frame = evidence.day_table(runs.latest("xc30-resolutions"), tables.load("xc30", "forecast"))
    steps = frame.set_index("resolution")["steps"]
    assert steps["TL1279"] == steps["TC1279"] == 86400 / 600
    assert steps["TL2559"] == pytest.approx(144 * 2559 / 1279)
    assert "TL2559" in evidence.day(runs.latest("xc30-resolutions"), tables.load("xc30", "forecast")).alt


def test_the_profile_marks_what_is_here():
    frame = evidence.profile_table(tables.load("p5plus", "drhook"), PROFILE)
    assert len(frame) == 20 and set(frame.loc[frame["here"] != "–", "routine"]) == set(PROFILE)


def test_output_rates_are_bytes_over_seconds():
    record = runs.latest("xc30-storm")
    frame = output.output_rates(record, tables.load("xc30", "hres_io"))
    size = float(record["record_bytes"].values[0])
    np.testing.assert_allclose(frame["rate of a file"].iloc[1:], size / frame["median step"].iloc[1:] / 1e3)
    assert "thousand" in output.requests(record).alt


def test_seen_at_is_the_first_size_that_stays_seen():
    steady = np.array([1.0, 1.1, 0.9, 1.05, 0.95])
    noise = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    late = np.array([1.0, -1.0, 50.0, 50.1, 49.9])
    late = np.concatenate([late, np.full(60, 50.0)])
    found = wrong.seen_at(np.column_stack([steady, noise]))
    assert found[0] == 2 and np.isnan(found[1])
    assert 5 < wrong.seen_at(late[:, None])[0] < 20


def test_a_wrong_constant_differs_by_far_more_than_flags():
    record = experiments.run("xc30-wrong", rounds=1, progress=False)
    fast, off = np.abs(record["difference"].values).max(axis=1)
    assert off > 1e3 * fast and off < 1e-3 * record["error_strict"].values.min()
    assert "pairs" in evidence.wrong(record, 322).alt
