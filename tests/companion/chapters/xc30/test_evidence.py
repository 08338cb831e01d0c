"""The cost of a day, the marked profile, output rates, and the paired test of three builds."""

import numpy as np
import pytest
from drawing import cases

from companion import tables
from companion.chapters.xc30.figures import evidence, model, output
from companion.figures.rendering import offered
from companion.records import runs
from kernels.routines import PROFILE


def test_a_day_has_the_steps_of_its_truncation():
    frame = evidence.day_table(runs.latest("xc30-resolutions"), tables.load("xc30", "forecast"))
    steps = frame.set_index("resolution")["steps"]
    assert steps["TL1279"] == steps["TC1279"] == 86400 / 600
    assert steps["TL2559"] == pytest.approx(144 * 2559 / 1279)
    record, about = runs.latest("xc30-resolutions"), [tables.load("xc30", name) for name in ("forecast", "resolutions")]
    shown = offered(evidence.day(record, *about)).set_index("resolution")
    assert shown["cost"]["TL1279"] == 1
    days = steps * model.step_seconds(record).set_index("measured_resolution")["measured_step"]
    np.testing.assert_allclose(shown["cost"], days / days["TL1279"])


def test_the_profile_marks_what_is_here():
    frame = evidence.profile_table(tables.load("p5plus", "drhook"), PROFILE)
    assert len(frame) == 20 and set(frame.loc[frame["here"] != "–", "routine"]) == set(PROFILE)


def test_output_rates_are_bytes_over_seconds():
    record = runs.latest("xc30-storm")
    frame = output.output_rates(record, tables.load("xc30", "hres_io"))
    size = float(record["record_bytes"].values[0])
    np.testing.assert_allclose(frame["rate of a file"].iloc[1:], size / frame["median step"].iloc[1:] / 1e3)


def judged(low, high):
    mean = (np.array(low) + np.array(high)) / 2
    along = ("other", "lead_time")
    return cases(
        [{"seconds": [1.0]}],
        lead=("lead_time", [24.0, 48.0]),
        error_strict=("lead_time", [4.0, 5.0]),
        rounding=1e-12,
        pairs=8,
        difference=(along, mean),
        difference_low=(along, low),
        difference_high=(along, high),
    )


def test_a_build_is_significant_where_its_interval_leaves_zero_out():
    made = judged([[1e-15, 1e-15], [-1e-15, 2e-15], [-3e-6, -3e-6]], [[2e-15, 2e-15], [1e-15, 3e-15], [-1e-6, -1e-6]])
    assert list(evidence.significant(made)) == [2, 1, 2]
    made["build_name"] = ("other", ["a", "b", "c"])
    assert "B, b: significant at 1 of 2 lead times" in evidence.verdicts(made, ("A", "B", "C"))
    alt = evidence.builds(made, ("A", "B", "C"), 322).alt
    assert "B: zero excluded at 1 of 2 lead times" in alt and "at most 2e-06 m" in alt
