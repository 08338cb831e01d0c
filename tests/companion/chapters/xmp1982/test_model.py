"""The model of the clock against the report's rows."""

import numpy as np
import pytest

from companion.chapters.xmp1982 import model


def test_each_constant_comes_from_one_row_which_it_reproduces():
    frame = model.residuals()
    calibrating = frame[frame["calibrates"] != ""]
    assert len(calibrating) == len(model.CALIBRATED) == 8
    np.testing.assert_allclose(calibrating["model"], calibrating["printed"], rtol=1e-12)
    assert len(frame) == 30 and frame["printed"].notna().all()


def _predicted(tables, disk):
    frame = model.residuals()
    frame = frame[(frame["calibrates"] == "") & (frame["unexplained"] == "") & frame["table"].isin(tables)]
    return frame[frame["row"].str.startswith("disk") == disk]["departure"].abs()


def test_fast_devices_alone_are_within_one_percent():
    found = _predicted(("fig4_2", "fig5_2"), disk=False)
    assert len(found) == 7 and found.max() < 0.01


def test_disks_and_the_degraded_forecast_are_within_five_percent():
    assert len(_predicted(("fig4_2", "fig5_2"), disk=True)) == 1
    assert _predicted(("fig4_2", "fig5_2"), disk=True).max() < 0.05
    assert _predicted(("fig4_3",), disk=False).max() < 0.05


def test_pairs_are_within_five_percent():
    frame = model.residuals()
    pairs = frame[(frame["table"] == "fig5_4") & (frame["calibrates"] == "") & (frame["unexplained"] == "")]
    assert len(pairs) == 11 and pairs["departure"].abs().max() < 0.05


def test_what_is_called_unexplained_is():
    """An exception that the model explains after all has to go from the list."""
    frame = model.residuals()
    assert (frame[frame["unexplained"] != ""]["departure"].abs() > 0.05).all()


def test_rows_left_out_are_predicted_within_one_percent():
    found = model.leave_one_out()["departure"].abs()
    assert len(found) == 12 and found.max() < 0.01


def test_conclusions_follow_to_a_tenth_of_their_size():
    frame = model.conclusions()
    np.testing.assert_allclose(frame["model"], frame["printed"], rtol=0.1)
    np.testing.assert_allclose(frame["model"][2:], frame["printed"][2:], rtol=0.02)


def test_a_queue_of_jobs_fills_whichever_cpu_is_free():
    assert model.finish([0.0, 0.0], 4, 10.0) == 20.0
    assert model.finish([0.0, 25.0], 3, 10.0) == 30.0
    assert model.finish([5.0, 7.0], 0, 10.0) == 7.0


@pytest.mark.parametrize(
    ("name", "device", "files", "synchronous", "overlapped"),
    [
        ("ssd2-async", "ssd", 2, False, False),
        ("disk4", "disk", 4, False, False),
        ("bmr1-overlapped", "bmr", 1, False, True),
    ],
)
def test_configurations_are_read_as_layouts(name, device, files, synchronous, overlapped):
    found = model.layout(name, True)
    assert (found.device, found.files, found.synchronous, found.overlapped) == (device, files, synchronous, overlapped)


def test_more_overlap_never_costs():
    constants = model.calibrate()
    assert model.net(model.Layout("ssd", 2, False), constants) < model.net(model.Layout("ssd", 2), constants)
    assert model.transfer(model.Layout("bmr", 1, False, True)) < model.transfer(model.Layout("bmr", 1, False))
