"""Output steps: every record in its place, every call of both codes accounted for."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.files import processes, storm, syscalls
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


@settings(max_examples=12, deadline=None)
@given(
    steps=st.integers(1, 4),
    files=st.integers(1, 5),
    tasks=st.integers(1, 9),
    record_bytes=st.integers(16, 5000),
    small_bytes=st.integers(1, 9000),
    threads=st.integers(1, min(2, usable_cpus())),
)
def test_both_codes_write_the_same(steps, files, tasks, record_bytes, small_bytes, threads):
    problem = storm.Problem(steps, files, tasks, record_bytes, small_bytes)
    result = storm.run(problem, storm.setup(problem), threads)
    failed = [str(check) for check in storm.verify(problem, result) if not check.ok]
    assert not failed
    for number in range(files):
        before, after = (result.folders[name] / f"out-{number:04d}" for name in storm.VARIANTS)
        assert before.read_bytes() == after.read_bytes()
    assert (result.folders["before"] / storm.WRITTEN_BY_MASTER).stat().st_size == small_bytes
    assert not (result.folders["after"] / storm.WRITTEN_BY_MASTER).exists()
    assert (result.seconds["before"] >= result.small_seconds).all() and (result.small_seconds > 0).all()
    assert all(times.shape == (steps,) for times in result.seconds.values())


def test_counts_are_those_of_a_trace(tmp_path):
    """One task by hand: open, a read that gets data, one that gets none, close; the master opens, writes, closes."""
    assert storm.expected_calls(storm.Problem(steps=1, files=2, tasks=1)) == {"before": 3 * 4 + 3 + 2, "after": 2}
    (tmp_path / "small").write_bytes(b"x" * 100)
    assert storm.plain([tmp_path / "small"], 5, 1e-4) == 20
    assert storm.touch_files(storm._names([tmp_path / "small"]), 5, 0.0, np.zeros(100, np.uint8)) == 20


@pytest.mark.parametrize(("kept", "held"), [(1, [4]), (2, [4, 3]), (3, [3, 4, 2]), (9, [0, 1, 2, 3, 4])])
def test_files_that_hold_fewer_steps_have_the_last_ones(tmp_path, kept, held):
    problem = storm.Problem(steps=5, files=2, tasks=1, record_bytes=64, kept=kept, folder=str(tmp_path))
    result = storm.run(problem, storm.setup(problem))
    assert all(check.ok for check in storm.verify(problem, result))
    found = np.fromfile(result.folders["after"] / "out-0001", "<i8").reshape(-1, 8)
    assert found[:, 0].tolist() == held and (found[:, 1] == 1).all()
    assert (result.folders["after"] / "out-0001").stat().st_size == 64 * len(held)
    assert all(len(times) == 5 for times in result.seconds.values())
    assert storm.footprint(problem).disk == 2 * 2 * len(held) * 64 + 4 * 4096


def test_misplaced_records_are_found(tmp_path):
    problem = storm.Problem(steps=3, files=2, tasks=1, record_bytes=64, folder=str(tmp_path))
    result = storm.run(problem, storm.setup(problem))
    path = result.folders["after"] / "out-0001"
    raw = bytearray(path.read_bytes())
    raw[64] ^= 1
    path.write_bytes(raw)
    assert [check.name for check in storm.verify(problem, result) if not check.ok] == ["after: records out of place"]
    path.write_bytes(raw[:-1])
    assert storm._misplaced(problem, result.folders["after"]) == 3
    del result
    assert os.listdir(tmp_path) == []


def test_the_revised_code_alone_flushes_its_records(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    problem = storm.Problem(steps=2, files=3, tasks=0, record_bytes=64, fsync=True, folder=str(tmp_path))
    result = storm.run(problem, storm.setup(problem))
    assert (
        list(result.seconds) == ["after"]
        and len(flushed) == 6
        and storm.work(problem).bytes_written == 6 * 64 + 2 * 4096
    )
    assert all(check.ok for check in storm.verify(problem, result))


def test_small_file_that_vanishes_is_an_error(tmp_path):
    gone = [tmp_path / "gone"]
    with pytest.raises(FileNotFoundError), ThreadPoolExecutor(1) as pool:
        storm._storm(storm.Problem(), gone, storm._names(gone), pool, [2])


def test_sizes_and_nonsense(tmp_path):
    problem = storm.Problem(steps=100_000, files=800, record_bytes=2**20, folder=str(tmp_path))
    with pytest.raises(OSError, match="choose a smaller problem or another folder"):
        storm.run(problem, storm.setup(problem))
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="threads = 0"):
        storm.run(storm.Problem(), storm.setup(storm.Problem()), threads=0)
    assert storm.work(storm.Problem(steps=1, files=1, tasks=1, record_bytes=100, small_bytes=10)).bytes == 240


def test_other_processes_load_the_file_system_and_leave_nothing(tmp_path):
    problem = storm.Problem(steps=2, files=2, tasks=3, record_bytes=64, load=1, folder=str(tmp_path))
    result = storm.run(problem, storm.setup(problem))
    assert result.other_sets > 0 and all(check.ok for check in storm.verify(problem, result))
    assert storm.footprint(problem).memory > storm.footprint(storm.Problem(steps=2)).memory
    del result
    assert os.listdir(tmp_path) == []


def test_a_disturber_told_to_stop_at_once_has_done_something(tmp_path):
    with processes.Disturbers(tmp_path, 2, 16) as others:
        sets = others.stop()
    assert sets >= 4
    assert [list(folder.iterdir()) for folder in tmp_path.iterdir()] == [[], []]


def test_a_disturber_that_cannot_write_is_noticed(tmp_path):
    with processes.Disturbers(tmp_path, 1, 16) as others:
        os.rename(tmp_path / "others-0", tmp_path / "moved")
        time.sleep(0.05)
        with pytest.raises(OSError, match="a process ended early"):
            others.stop()


def test_compiled_code_reads_the_clock_of_python():
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    inside, after = syscalls.monotonic(np.empty(2, np.int64)), time.clock_gettime(time.CLOCK_MONOTONIC)
    assert before - 1e-6 <= inside <= after + 1e-6
