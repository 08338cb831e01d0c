"""Scalability, monitoring and the other systems: models against known limits, tables against printed numbers."""

import numpy as np
import pytest

from companion import tables
from companion.chapters.p5plus.experiments import monitoring
from companion.chapters.p5plus.figures import evidence


def test_the_parts_of_a_job_add_up_to_its_wall_time():
    times = tables.load("p5plus", "ifs_times")
    for job in times["job"].values:
        total = sum(evidence.split(times, job).values())
        assert total == pytest.approx(float(times["wall"].sel(job=job)), abs=4)


def test_the_model_of_speed_has_its_limits():
    parts = {"compute": 80.0, "communicate": 10.0, "serial": 10.0}
    assert evidence.model_speed(parts, 1, 0.5) == 1
    assert evidence.model_speed(parts, 1e9, 1.0) == pytest.approx(10)  # Amdahl: 100 over the serial 10
    assert evidence.model_speed({"compute": 5.0, "communicate": 0.0, "serial": 0.0}, 3, 0.5) == pytest.approx(3)
    low, high = (evidence.model_speed(parts, 4, e) for e in (0.0, 1.0))
    assert low < evidence.model_speed(parts, 4, 0.5) < high


def test_performance_keeps_the_printed_powers():
    printed = tables.printed("p5plus", "power_performance")
    frame = evidence.performance(printed, tables.printed("p5plus", "blades"), tables.load("p5plus", "p4_p5"))
    direct = frame.iloc[: len(printed)]
    # power for equal performance, recomputed: the printed values are rounded to two or three digits
    np.testing.assert_allclose(printed["power"].iloc[0] / direct["performance of a kW"], printed["power"], rtol=0.02)
    assert frame["performance of a kW"].isna().sum() == 1  # no power of Power4+ is printed


def test_the_simulation_recovers_n_dt_while_moments_are_few():
    found = monitoring._simulated([])
    lost, count = np.array(found["lost"]["value"]), np.array(found["processors"]["value"])
    for steps, row in zip(found["barriers"]["value"], lost, strict=True):
        few = count <= steps / 50
        np.testing.assert_allclose(row[few], count[few], rtol=0.03)
        assert (row <= count * (1 + 1e-9)).all()
    after = np.array(found["lost_after"]["value"])
    assert np.allclose(after[:, 0], 1) and (np.diff(after, axis=1) > 0).all()


def test_outputs_of_made_up_times():
    def measured(threads, pattern, seconds):
        parameters = {"pattern": pattern, "steps": 8, "period": 4}
        return type("M", (), {"threads": threads, "parameters": parameters, "minimum": seconds,
                              "observed": {"waiting": [0.5]}})  # fmt: skip

    times = {(1, "undisturbed"): 8, (1, "synchronised"): 10, (1, "drifted"): 10,
             (2, "undisturbed"): 8, (2, "synchronised"): 10, (2, "drifted"): 12}  # fmt: skip
    found = monitoring._lost([measured(*key, float(value)) for key, value in times.items()])
    assert found["dt"]["value"] == 1 and found["lost_synchronised"]["value"] == [1, 1]
    assert found["lost_drifted"]["value"] == [1, 2]
