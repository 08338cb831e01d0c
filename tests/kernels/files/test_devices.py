"""Large blocks written and read: what comes back, what is refused, what is counted."""

import pytest

from supercomputers_rerun.kernels.files import devices
from supercomputers_rerun.kernels.files.devices import Job, Problem


@pytest.mark.parametrize("places", [("memory",), ("cache", "memory")])
def test_records_come_back(tmp_path, places):
    jobs = tuple(Job(place, 1024, 22, 4) for place in places)
    problem = Problem(jobs, str(tmp_path))
    result = devices.run(problem, devices.setup(problem))
    assert [str(check) for check in devices.verify(problem, result) if not check.ok] == []
    assert result.clock >= max(result.seconds) and list(tmp_path.iterdir()) == []


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
