"""Large blocks written and read: what comes back, what is refused, what is counted."""

import contextlib
import os

import pytest

from supercomputers_rerun.kernels.files import devices
from supercomputers_rerun.kernels.files.devices import Job, Problem
from supercomputers_rerun.kernels.runtime.resources import FOLDERS


@pytest.mark.parametrize("places", [("memory",), ("cache", "memory")])
def test_records_come_back(tmp_path, places):
    jobs = tuple(Job(place, 1024, 22, 4) for place in places)
    problem = Problem(jobs, str(tmp_path))
    result = devices.run(problem, devices.setup(problem))
    assert [str(check) for check in devices.verify(problem, result) if not check.ok] == []
    assert result.clock >= max(result.seconds) and list(tmp_path.iterdir()) == []


def test_jobs_and_copies_lie_in_the_folders_in_turn(tmp_path, monkeypatch):
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    monkeypatch.setenv(FOLDERS, os.pathsep.join(map(str, folders)))
    made, file = [], devices._file
    monkeypatch.setattr(devices, "_file", lambda job, path: made.append(path) or file(job, path))
    problem = Problem((Job("cache", 512, 8, 4, "copy"), Job("cache", 512, 8, 4)))
    assert devices.run(problem, devices.setup(problem)).wrong == (0, 0)
    assert [(path.parts[-3], path.name) for path in made] == [("a", "0"), ("b", "0-copy"), ("b", "1")]
    assert [list(folder.iterdir()) for folder in folders] == [[], []]


@pytest.mark.parametrize("transfers", [3, 6, 8, 11, 14, 16])
@pytest.mark.parametrize("reads", devices.READS)
def test_records_come_back_in_any_order_and_their_copies_are_those_of_the_last_pass(tmp_path, reads, transfers):
    problem = Problem((Job("cache", 512, transfers, 4, reads, growing=True),), str(tmp_path))
    result = devices.run(problem, devices.setup(problem))
    assert result.wrong == (0,) and len(result.transfers[0]) == transfers and result.cpu[0] >= 0
    assert sum(result.transfers[0]) == pytest.approx(result.seconds[0])


def test_records_are_read_in_the_order_that_is_asked_for():
    orders = {reads: devices.order(Job("memory", 512, 16, 8, reads)).tolist() for reads in devices.READS}
    assert orders["forward"] == orders["copy"] == list(range(8)) and orders["backward"] == list(range(8))[::-1]
    assert orders["random"] not in (orders["forward"], orders["backward"])
    assert sorted(orders["random"]) == orders["forward"]


def test_a_file_that_grows_has_no_room_before_it_is_written(tmp_path):
    sizes = {}
    for growing in (False, True):
        with contextlib.closing(
            devices._file(Job("cache", 512, 8, 4, growing=growing), tmp_path / f"{growing}")
        ) as file:
            sizes[growing] = os.fstat(file.handle).st_size
    assert sizes == {False: 4 * 4096, True: 0}


def test_a_copy_that_went_wrong_is_counted(tmp_path, monkeypatch):
    problem = Problem((Job("cache", 512, 8, 4, "copy"),), str(tmp_path))
    write, lost = devices.BlockFile.write, []

    def forgetful(file, record, data):
        if file.path.name.endswith("-copy") and record == 2:
            lost.append(record)
            data = memoryview(bytes(len(data)))
        write(file, record, data)

    monkeypatch.setattr(devices.BlockFile, "write", forgetful)
    assert devices.run(problem, devices.setup(problem)).wrong == (1,) and lost == [2]
    assert devices.work(problem).bytes_written == 8 * 4096 and devices.footprint(problem).disk == 8 * 4096


def test_a_record_that_comes_back_wrong_is_counted(tmp_path, monkeypatch):
    problem = Problem((Job("cache", 512, 8, 4),), str(tmp_path))
    state = devices.setup(problem)
    read = devices.BlockFile.read
    monkeypatch.setattr(devices.BlockFile, "read", lambda file, record, data: read(file, record ^ 1, data))
    result = devices.run(problem, state)
    assert result.wrong == (4,) and not all(check.ok for check in devices.verify(problem, result))


@pytest.mark.parametrize("transfers, written", [(4, 4), (6, 4), (8, 4), (11, 7), (12, 8), (16, 8)])
def test_bytes_are_counted(transfers, written):
    work = devices.work(Problem((Job("memory", 512, transfers, 4),)))
    assert (work.bytes_written, work.bytes_read) == (4096 * written, 4096 * (transfers - written))


def test_the_error_of_a_second_job_is_raised(tmp_path, monkeypatch):
    problem = Problem((Job("memory", 512, 8, 4), Job("cache", 512, 8, 4)), str(tmp_path))
    state = devices.setup(problem)

    def full(file, record, data):
        raise OSError("the disk is full")

    write = devices.BlockFile.write
    broken = lambda file, record, data: (full if file.handle else write)(file, record, data)  # noqa: E731
    monkeypatch.setattr(devices.BlockFile, "write", broken)
    with pytest.raises(OSError, match="full"):
        devices.run(problem, state)
    assert list(tmp_path.iterdir()) == []
