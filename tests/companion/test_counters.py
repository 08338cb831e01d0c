"""Counters of the processor and of energy: real ones of the system's software, made-up ones of what machines hide."""

import errno
import math
import mmap
import os
import sys

import pytest

from supercomputers_rerun.companion import counters, experiments, host
from supercomputers_rerun.companion.chapters.p5plus.counters import Counted
from supercomputers_rerun.companion.common import Unavailable
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels import shallow_water

PAGE_FAULTS = counters.Event(1, 2)
PROBLEM = shallow_water.Problem.preset("quick")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose counter of energy has 900 of 1000 µJ."""
    folder = tmp_path / "intel-rapl:0"
    folder.mkdir()
    (folder / "energy_uj").write_text("900\n")
    (folder / "max_energy_range_uj").write_text("1000\n")
    monkeypatch.setattr(counters, "_POWER", tmp_path)
    return folder


@pytest.fixture
def made_up(monkeypatch):
    """Four cycles and two instructions of a hundred operations each, whatever runs."""
    monkeypatch.setattr(counters, "counted", lambda call, wanted: (call(), dict.fromkeys(wanted, 100.0) | counts))
    monkeypatch.setitem(host.NEEDS, "counters", lambda: host.Finding("hardware counters", True, "made up"))
    counts = {"cycles": 400.0, "instructions": 200.0, "cache_misses": 5.0}
    return counts


@pytest.mark.skipif(sys.platform != "linux", reason="perf_event_open is Linux's")
def test_pages_that_a_call_touches_are_counted():
    def touch():  # a new map: a bytearray may get memory that another test has touched and freed
        with mmap.mmap(-1, 64 * 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
            return pages[::4096]

    try:
        result, found = counters.counted(touch, {"once": (PAGE_FAULTS,), "twice": (PAGE_FAULTS, PAGE_FAULTS)})
    except OSError as error:
        pytest.skip(f"this system shows no counter: {error}")
    assert len(result) == 2**14 and found["once"] >= 32  # pages of 2 MB at most
    assert found["twice"] == 2 * found["once"]
    files = len(os.listdir("/proc/self/fd"))
    counters.counted(int, {"once": (PAGE_FAULTS,)})
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_counter_that_shared_its_place_is_counted_for_the_whole_time(monkeypatch):
    import struct

    monkeypatch.setattr(os, "read", lambda *_: struct.pack("=QQQ", 30, 100, 25))
    assert counters._count(0) == 120
    monkeypatch.setattr(os, "read", lambda *_: struct.pack("=QQQ", 0, 100, 0))
    assert math.isnan(counters._count(0))


def test_energy_is_what_passed_and_a_counter_may_begin_again(package):
    assert counters.energy_used(lambda: (package / "energy_uj").write_text("950"))[1] == pytest.approx(50e-6)
    assert counters.energy_used(lambda: (package / "energy_uj").write_text("20"))[1] == pytest.approx(70e-6)


def test_energy_that_is_hidden_is_no_number(tmp_path, monkeypatch):
    monkeypatch.setattr(counters, "_POWER", tmp_path)
    assert math.isnan(counters.energy_used(int)[1])


def test_hidden_counters_are_one_sentence(monkeypatch):
    def hidden(event):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(counters, "_opened", hidden)
    with pytest.raises(Unavailable, match=r"^p5plus-counters needs hardware counters: perf_event_open shows none \("):
        experiments.run_record("p5plus-counters")


def test_counts_are_those_of_one_repeat_and_checks_those_of_the_kernel(made_up):
    kernel = Counted(shallow_water, counters.EVENTS)
    state = kernel.setup(PROBLEM)
    result = kernel.run(PROBLEM, state, threads=1, repeats=2)
    assert kernel.counts["cycles"] == 200 and all(check.ok for check in kernel.verify(PROBLEM, result))


def test_a_record_of_made_up_counters_is_drawn(made_up, package, monkeypatch):
    entry = experiments.find("p5plus-counters")
    run = runs.dataset(experiments.run_record(entry.id, budget=0, progress=False))
    (table,) = [figure([run]) for figure in entry.figures]
    assert "0.5" in table.html and "25" in table.html and "flops counted over ours" in table.html
    assert set(run["kernel"].values) == {
        "kernels.shallow_water",
        "kernels.routines.interpolation",
        "kernels.routines.cloud",
    }
