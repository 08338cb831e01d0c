"""The five models, with values worked out by hand; constants, and how they are found, printed and drawn."""

import math

import numpy as np
import pytest

from supercomputers_rerun.companion import models
from supercomputers_rerun.companion.chapters.constants import measured
from supercomputers_rerun.companion.models import Constants, Level

NAN = float("nan")


def test_calls_and_bytes():
    """A thousand calls of 2 µs, 3 MB at 1 GB/s: 2 ms and 3 ms; a call costs as much as 2000 bytes."""
    assert models.transfer(1000, 2e-6, 3e6, 1e9) == pytest.approx(5e-3)
    assert models.transfer(1000, 2e-6) == pytest.approx(2e-3)
    size = models.half_size(2e-6, 1e9)
    assert size == pytest.approx(2000)
    assert models.transfer(1, 2e-6, size, 1e9) == pytest.approx(2 * 2e-6)


def test_a_toll_weighs_on_short_tasks():
    """Fifty seconds more for 5 s and for 50 s of work: ten times as long fades to twice, the difference stays."""
    work = np.array([5.0, 50.0])
    paid = models.fixed_toll(work, 45.0)
    np.testing.assert_allclose(paid / work, [10.0, 1.9])
    np.testing.assert_allclose(paid - work, 45.0)
    assert models.fixed_toll(10.0, 1.0, rate=5.0) == pytest.approx(3.0)


def test_what_is_shared_bounds_the_gain():
    """A tenth that cannot be divided: 1 / (0.1 + 0.9 / 9) = 5 by nine workers, never more than 10."""
    assert models.amdahl(0.1, 9) == pytest.approx(5.0)
    assert models.amdahl(0.0, 7) == pytest.approx(7.0) and models.amdahl(1.0, 7) == pytest.approx(1.0)
    assert models.amdahl(0.1, 1e12) == pytest.approx(10.0)
    # two jobs of 10 s, 8 s of them at one disk, which is busy for 16 s of the 20 s in turn
    np.testing.assert_allclose(models.shared_device([0.8, 0.5, 0.1], 2), [20 / 16, 2.0, 2.0])
    assert models.two_a_core(1.5, 1.6) == pytest.approx(1.2)


def test_overlap_hides_at_most_the_shorter():
    assert models.overlap(5.0, 3.0) == pytest.approx(5.0)
    assert models.overlap(5.0, 3.0, hidden=0.0) == pytest.approx(8.0)
    assert models.overlap(3.0, 5.0, hidden=0.5) == pytest.approx(6.5)


def test_everybody_waits_for_the_slowest():
    """Two ranks, four steps of 1 s: an interruption of 1 s costs 1 s where it comes to both at once, 2 s apart."""
    together = np.array([[2.0, 1, 1, 1], [2.0, 1, 1, 1]])
    apart = np.array([[2.0, 1, 1, 1], [1.0, 1, 2, 1]])
    assert models.slowest(together) == 5 and models.slowest(apart) == 6


def test_how_far_measured_and_predicted_are_apart():
    found = models.parted([1.0, 2.0, 1.0, NAN], [1.0, 1.0, 4.0, 1.0])
    assert (found.median, found.worst, found.pairs) == (1.0, 0.25, 3)
    assert models.parted([3.0], 2.0) == (1.5, 1.5, 1)
    assert "1.5 in the median, 1.5 at worst" in str(models.parted([3.0], 2.0))
    for wrong in ([NAN], [0.0], [-1.0]):
        with pytest.raises(ValueError, match="above zero"):
            models.parted(wrong, 1.0)


LEVELS = (Level("L1", 32e3, 1e-9), Level("L2", 512e3, 4e-9), Level("memory", math.inf, 100e-9))


def test_a_chase_by_levels():
    """Twice the first cache: half of the loads find it. Four times the second: 1/64, 15/64 and 48/64."""
    expected = [1e-9, 2.5e-9, 4e-9 * 31 / 32 * 0.5 + 1e-9 / 64 + 100e-9 / 2]
    np.testing.assert_allclose(models.chase([16e3, 64e3], LEVELS), expected[:2])
    share = np.array([32, 512 - 32, 2048 - 512]) / 2048
    np.testing.assert_allclose(models.chase(2048e3, LEVELS), share @ [1e-9, 4e-9, 100e-9])


@pytest.mark.parametrize(
    "value, units, words",
    [
        (3.1e-7, "s", "310 ns"),
        (1.9e-9, "s", "1.9 ns"),
        (4e-10, "s", "0.40 ns"),
        (5.24e-6, "s", "5.2 µs"),
        (2.6e10, "byte/s", "26 GB/s"),
        (7.8e8, "byte/s", "780 MB/s"),
        (3.94e10, "flop/s", "39 GFLOP/s"),
        (NAN, "s", "unknown"),
    ],
)
def test_constants_are_said_as_people_say_them(value, units, words):
    assert models.spoken(value, units) == words


def test_what_was_not_measured_is_not_printed():
    said = dict(models.in_words(Constants(write=1e-6, levels=LEVELS)))
    assert said == {
        models.WORDS["write"][0]: "1.0 µs",
        "a load from the cache L1": "1.0 ns",
        "a load from the cache L2": "4.0 ns",
        "a load from memory": "100 ns",
    }
    assert set(models.WORDS) | {"levels"} == set(Constants._fields)


def test_the_rate_of_messages_is_what_more_bytes_take_longer(monkeypatch):
    """8 bytes in 2 µs, a million and eight in 102 µs: 10 GB/s; medians of three."""
    times = {8: 2e-6, 1_000_008: 102e-6}
    cases = [{"problem": {"bytes": size}, "samples": [each, 9.0, each]} for size, each in times.items()]
    monkeypatch.setattr(measured.experiments, "run_record", lambda *_, **__: {"measurements": cases})
    found = measured._messages()
    assert found["message"].value == 2e-6 and found["message_rate"].value == pytest.approx(1e10)
