"""A run that is killed or interrupted leaves a complete file or none, and the next one cleans up."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from kernels.files.format.solution import SolutionWriter
from kernels.files.format.verification import verify_file
from kernels.files.pending import Pending, WorkFolder, remove_stale

WRITER = textwrap.dedent("""
    import signal, sys, time
    import numpy as np
    signal.signal(signal.SIGINT, signal.default_int_handler)      # a test run in the background ignores it
    from kernels.files.format.solution import SolutionWriter

    path, way, asynchronous = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
    u = np.ones((8, 8, 8, 5))
    with SolutionWriter(path, 8, 1000, 1, way=way, asynchronous=asynchronous) as writer:
        for step in range(1, 4):
            writer.write(step, u)
        print("writing", flush=True)
        for step in range(4, 1001):
            writer.write(step, u)
            time.sleep(0.05)
""")


def start_writer(path, way, asynchronous):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), way, str(asynchronous)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=pathlib.Path(__file__).parents[3],
    )
    assert process.stdout.readline().strip() == "writing", process.stderr.read()
    return process


def end(process, number):
    process.send_signal(number)
    process.wait(30)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    return error


def write_whole(path, way="positioned"):
    with SolutionWriter(path, 8, 2, 1, way=way) as writer:
        for step in (1, 2):
            writer.write(step, np.full((8, 8, 8, 5), float(step)))
    return writer


@pytest.mark.parametrize(("way", "asynchronous"), [("positioned", True), ("mapped", False), ("zarr", False)])
def test_sigkill_leaves_no_file_and_the_next_run_removes_the_rest(tmp_path, way, asynchronous):
    process = start_writer(tmp_path / "s", way, asynchronous)
    living = sorted(os.listdir(tmp_path))
    assert "s" not in living and len(living) == 2, "a temporary and its lock"
    assert remove_stale(tmp_path / "s") == [], "a living writer's temporary is left alone"
    assert sorted(os.listdir(tmp_path)) == living
    end(process, signal.SIGKILL)
    assert "s" not in os.listdir(tmp_path)
    write_whole(tmp_path / "s", way)
    assert os.listdir(tmp_path) == ["s"]
    assert verify_file(tmp_path / "s").crc_errors == ()


def test_sigkill_leaves_an_older_file_whole(tmp_path):
    write_whole(tmp_path / "s")
    before = (tmp_path / "s").read_bytes()
    end(start_writer(tmp_path / "s", "positioned", False), signal.SIGKILL)
    assert (tmp_path / "s").read_bytes() == before
    assert len(remove_stale(tmp_path / "s")) == 1
    assert os.listdir(tmp_path) == ["s"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_control_c_removes_the_temporary(tmp_path, asynchronous):
    error = end(start_writer(tmp_path / "s", "positioned", asynchronous), signal.SIGINT)
    assert "KeyboardInterrupt" in error
    assert os.listdir(tmp_path) == []


def test_control_c_in_the_read_back(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernels.files.format.solution.require_checksums", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "s")
    assert os.listdir(tmp_path) == []


def test_two_writers_of_one_name_do_not_disturb_each_other(tmp_path):
    process = start_writer(tmp_path / "s", "positioned", False)
    write_whole(tmp_path / "s")
    assert process.poll() is None
    assert verify_file(tmp_path / "s").N == 8
    end(process, signal.SIGINT)
    assert os.listdir(tmp_path) == ["s"]


def test_folder_replaces_folder(tmp_path):
    write_whole(tmp_path / "s", "zarr")
    first = verify_file(tmp_path / "s").diagonal
    write_whole(tmp_path / "s", "zarr")
    assert np.array_equal(verify_file(tmp_path / "s").diagonal, first)
    assert os.listdir(tmp_path) == ["s"]


def test_pending_discards_unless_committed(tmp_path):
    with Pending(tmp_path / "a [1]*") as pending:
        pending.part.write_text("x")
    assert os.listdir(tmp_path) == []
    with Pending(tmp_path / "a [1]*") as pending:
        pending.part.write_text("x")
        pending.commit(durable=True)
    assert os.listdir(tmp_path) == ["a [1]*"]


def test_stale_names_with_special_characters(tmp_path):
    pending = Pending(tmp_path / "a [1]*")
    pending.part.write_text("x")
    os.close(pending._claim.handle)  # what the system does to a killed process
    pending._claim.handle = None
    assert remove_stale(tmp_path / "a [1]*") == [pending.part]
    assert os.listdir(tmp_path) == []


def test_work_folder_goes_with_its_owner(tmp_path):
    folder = WorkFolder(tmp_path, "work")
    (folder.path / "file").write_text("x")
    del folder
    deadline = time.monotonic() + 5
    while os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="does not exist; make it or choose another"):
        WorkFolder(tmp_path / "nowhere", "work")
