"""A run that is killed or interrupted leaves a complete file or none, and the next one cleans up."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from cases import tried

from companion import files
from kernels.files import pending
from kernels.files.format.solution import SolutionWriter
from kernels.files.format.verification import verify_file
from kernels.files.pending import Pending, WorkFolder, clear, remove_stale

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
def test_sigkill_leaves_no_file_and_the_next_run_removes_the_rest(tmp_path, monkeypatch, way, asynchronous):
    process = start_writer(tmp_path / "s", way, asynchronous)
    living = sorted(os.listdir(tmp_path))
    assert "s" not in living and len(living) == 1, "a temporary"
    assert remove_stale(tmp_path / "s") == [], "a living writer's temporary is left alone"
    with monkeypatch.context() as hidden:
        hidden.setattr(pending, "_started", lambda pid: None)
        assert remove_stale(tmp_path / "s") == [], "also where the system hides the processes of others"
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


def test_control_c_removes_the_temporary_of_an_asynchronous_writer(tmp_path):
    error = end(start_writer(tmp_path / "s", "positioned", True), signal.SIGINT)
    assert "KeyboardInterrupt" in error
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


KILLED = """
import os, signal, sys
from kernels.files.pending import Pending
part = Pending(sys.argv[1]).part
part.mkdir()
(part / "x").write_text("half")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """What a killed writer of the folder ``a [1]*`` left."""
    folder = tmp_path_factory.mktemp("left")
    subprocess.run([sys.executable, "-c", KILLED, folder / "a [1]*"], cwd=pathlib.Path(__file__).parents[3])
    (part,) = folder.iterdir()
    return part


def test_stale_names_with_special_characters(tmp_path, left):
    part = pathlib.Path(shutil.copytree(left, tmp_path / left.name))
    assert remove_stale(tmp_path / "a") == [] and remove_stale(tmp_path / "a [1]") == []
    assert remove_stale(tmp_path / "a [1]*") == [part]
    assert os.listdir(tmp_path) == []


def test_only_what_a_dead_writer_of_ours_left_is_removed(tmp_path, left):
    """Names of other programs, and ours with one part changed: as files, and as folders with something in them."""
    _, mark, token = left.name.removesuffix(".part").rpartition("rerun-")
    host, pid, started, chance = token.split("-")
    own = pathlib.Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19].decode()

    def name(mark=mark, host=host, pid=pid, started=started, chance=chance, base=".x.", end=".part"):
        return f"{base}{mark}{host}-{pid}-{started}-{chance}{end}"

    others = [
        *(".package.json.lock", ".my.precious.lock", ".my.precious.part", ".x.y.part", ".x.1-2.part", ".x.part"),
        *(".x.json.1234-abcdef01.lock", ".x.json.1234-abcdef01.part", ".x.1234-abcdef01.old.part", ".~lock.x#"),
        *(name(mark="rerun"), name(mark="Rerun-"), name(host="0" * 8), name(host=host[:-1]), name(chance=chance[:-1])),
        *(name(chance=chance + "0"), name(chance="g" * 8), name(pid=str(os.getpid()), started=own), name(pid="-1")),
        *(name(base="x."), name(base="."), name(end=".lock"), name(end=".part~"), name(end=".part.bak"), name(end="")),
        *(name(end=".rank-x.part"), name(end=".older.part"), name(end=".part\n"), name(pid=""), name(started="")),
    ]
    for number, other in enumerate(others):
        path = tmp_path / other
        if number % 2:
            path.write_text("mine")
        else:
            (path / "deep").mkdir(parents=True)
            (path / "deep" / "x").write_text("mine")
        tried()
    stranger = tmp_path / name(chance="0" * 8)
    stranger.write_text("of another user")
    if os.geteuid() == 0:
        os.chown(stranger, 12345, 12345)
        others.append(stranger.name)
    ours = [name(), name(end=".rank-3.part"), name(end=".old.part", base=".y.")]
    for path in ours:
        (tmp_path / path).mkdir()
    (tmp_path / name(chance="1" * 8)).symlink_to(tmp_path / others[0])
    (tmp_path / "y").touch()
    for _ in range(2):
        clear(tmp_path)
        files.write_text(tmp_path / "y.json", "{}", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "y", "y.json"])
    assert (tmp_path / others[0] / "deep" / "x").read_text() == "mine"


def test_a_folder_that_is_no_solution_is_not_replaced(tmp_path):
    for holds in ({"letters.txt": "mine"}, {}, {"zarr.json": "{}"}):
        folder = tmp_path / "s"
        folder.mkdir()
        for file, text in holds.items():
            (folder / file).write_text(text)
        for way in ("zarr", "positioned"):
            with pytest.raises(FileExistsError, match="no solution that can be replaced"):
                write_whole(folder, way)
        assert {path.name: path.read_text() for path in folder.iterdir()} == holds
        shutil.rmtree(folder)
        tried()
    write_whole(tmp_path / "s", "zarr")
    (tmp_path / "s" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="no solution that can be replaced"):
        write_whole(tmp_path / "s", "zarr")
    assert (tmp_path / "s" / "notes.txt").read_text() == "mine"
    assert os.listdir(tmp_path) == ["s"]


def test_a_folder_that_comes_while_a_solution_is_written_stays(tmp_path):
    with (
        pytest.raises(FileExistsError, match="no solution"),
        SolutionWriter(tmp_path / "s", 8, 1, 1, way="zarr") as one,
    ):
        one.write(1, np.ones((8, 8, 8, 5)))
        (tmp_path / "s").mkdir()
        (tmp_path / "s" / "notes.txt").write_text("mine")
    assert (tmp_path / "s" / "notes.txt").read_text() == "mine"
    assert os.listdir(tmp_path) == ["s"]


def test_publishing_within_the_block_is_publishing(tmp_path):
    with SolutionWriter(tmp_path / "s", 8, 1, 1) as writer:
        writer.write(1, np.ones((8, 8, 8, 5)))
        writer.publish()
    assert verify_file(tmp_path / "s").N == 8
    assert os.listdir(tmp_path) == ["s"]


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
