"""What fails in the middle of a forecast: full disks, damaged files, killed processes; and what a disk is asked for."""

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernels import gridpoint
from kernels.gridpoint import Problem, model, stores, writeup
from kernels.runtime.resources import require_disk

SHORT = Problem(hours=4.0, writeup=2.0)
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def start():
    return gridpoint.setup(SHORT)


@pytest.mark.parametrize("overlap", ["none", "both"])
def test_a_disk_that_fills_up_in_a_scan_ends_the_forecast(start, tmp_path, monkeypatch, overlap):
    write, calls = stores.pwrite_all, []

    def refusing(*arguments):
        calls.append(0)
        if len(calls) > 60:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(*arguments)

    monkeypatch.setattr(stores, "pwrite_all", refusing)
    problem = replace(SHORT, files=2, place="cache", overlap=overlap, folder=str(tmp_path), writeup=0.0)
    with pytest.raises(OSError, match="No space left on device"):
        gridpoint.run(problem, start)
    assert not list(tmp_path.iterdir())


def test_a_disk_without_room_is_refused_before_anything_is_made(start, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        model, "require_disk", lambda folder, need, what: asked.append(need) or require_disk(folder, 1 << 60, what)
    )
    with pytest.raises(OSError, match="forecast with its work files"):
        gridpoint.run(replace(SHORT, files=2, place="cache", folder=str(tmp_path)), start)
    assert asked and not list(tmp_path.iterdir())


def used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(("files", "rhs"), [(0, "memory"), (1, "files"), (2, "memory"), (4, "files")])
def test_nothing_is_written_beyond_the_footprint(start, tmp_path, files, rhs):
    place = "cache" if files else "memory"
    problem = replace(SHORT, files=files, place=place, rhs=rhs if files else "memory", folder=str(tmp_path))
    most = []
    gridpoint.run(problem, start, on_writeup=lambda path: most.append(used(tmp_path)))
    promised = gridpoint.footprint(problem).disk
    assert len(most) == len(problem.writeup_steps)
    assert 0.95 * promised <= max(most) <= promised + 4096  # and locks of a few bytes


def test_a_missing_write_up_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no write-up file .*none; give one that a forecast wrote"):
        gridpoint.restart(SHORT, tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="there is no write-up in"):
        writeup.newest(tmp_path)


FORECAST = """
import sys
from dataclasses import replace
from kernels import gridpoint
from kernels.gridpoint import Problem, writeup
problem = Problem(hours=2000.0, writeup=2.0, files=2, place="cache", overlap="both", folder=sys.argv[1])
gridpoint.run(replace(problem, hours=1000.0), gridpoint.setup(problem), on_writeup=writeup.store_in(sys.argv[2]))
"""


def test_a_killed_forecast_restarts_from_its_last_write_up(tmp_path):
    work, kept = tmp_path / "work", tmp_path / "kept"
    work.mkdir(), kept.mkdir()
    process = subprocess.Popen([sys.executable, "-c", FORECAST, str(work), str(kept)], cwd=ROOT)
    try:
        deadline = time.monotonic() + 120
        while len(list(kept.glob("step[0-9]*"))) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert list(work.iterdir())  # nobody could clear up
    newest = writeup.newest(kept)
    step = int(newest.name.removeprefix("step"))
    problem = replace(SHORT, hours=(step + 2) * SHORT.dt / 3600, writeup=0.0, folder=str(work), files=2, place="cache")
    again = gridpoint.run(problem, gridpoint.restart(problem, newest))
    first = gridpoint.restart(problem, kept / "step000004")
    assert gridpoint.run(problem, first).digest == again.digest
