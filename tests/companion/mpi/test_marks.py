"""No rank outlives its launcher, and no shared memory of a job outlives the next one, however the job ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from cases import tried
from mpi_libraries import EACH, NAMES, gone

from companion.mpi import JobError, launch, launcher, marks
from companion.mpi.processes import MARK

MPI = pytest.mark.skipif(not NAMES, reason="no MPI is installed; install the extra mpi")
RANK = """
import os, sys, tempfile, time
from kernels.mpi import world
comm = world.mpi().COMM_WORLD
comm.Barrier()
from companion.mpi.job import send
send({"pid": os.getpid(), "folder": tempfile.gettempdir()})
"""
SLEEP = "time.sleep(600)"
KILLED = r"^the job of 2 ranks ended early: (a rank|rank 1) was killed by signal 9 \(SIGKILL\)"
CALLER = """
import signal, sys
from companion.mpi import launch, processes
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell has in the background
if sys.argv[1] == "without prctl":
    processes.follow_parent = lambda: None
launch([sys.argv[2]], 3, name=sys.argv[3], hear=lambda message: print("begun", flush=True))
"""


def program(tmp_path, body):
    path = tmp_path / "rank.py"
    path.write_text(RANK + body)
    return str(path)


def left(mark: Path) -> list[str]:
    """Segments that a mark names and that are there."""
    words = (mark / "lock").read_text().split()
    names = marks.segments(int(words[0]), int(words[1]), words[2]) if words else []
    return [name for name in names if (marks.SHARED / name).exists()] + [str(path) for path in mark.glob("vader*")]


@pytest.fixture
def seen(monkeypatch):
    """What every mark names just before it is removed."""
    found, remove = [], marks._remove

    def spy(folder):
        found.append((folder, left(folder)))
        remove(folder)

    monkeypatch.setattr(marks, "_remove", spy)
    return found


@MPI
@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(
    ("body", "error", "said"),
    [
        ("", None, None),
        (
            "from companion.mpi.job import fail\nif comm.rank == 1:\n"
            "    fail(comm, OSError(28, 'No space left on device', 'there'))\ncomm.Barrier()",
            OSError,
            "No space left on device: 'there'$",
        ),
        ("if comm.rank == 1:\n    os.kill(os.getpid(), 9)\ncomm.Barrier()", JobError, KILLED),
        ("raise ArithmeticError", JobError, None),
        (SLEEP, JobError, "^the job of 2 ranks was ended after 120 s without a result"),
        ("if comm.rank:\n    comm.Abort(3)\ntime.sleep(600)", JobError, None),
    ],
    ids=["as it should", "a full folder", "a killed rank", "a defect", "the time limit", "abort"],
)
def test_no_end_of_a_job_leaves_a_process_a_folder_or_shared_memory(
    tmp_path, monkeypatch, seen, name, body, error, said
):
    """The launcher's clock goes on by an hour once both ranks have begun, so that only its sleepers wait for it."""
    heard = []
    late = SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * (len(heard) == 2 and body == SLEEP))
    monkeypatch.setattr(launcher, "time", late)
    arguments = [program(tmp_path, body)], 2, 120, name, heard.append
    if error is None:
        launch(*arguments)
    else:
        with pytest.raises(error, match=said):
            launch(*arguments)
    assert all(gone(entry["pid"]) and not Path(entry["folder"]).exists() for entry in heard if "pid" in entry)
    ((mark, names),) = [entry for entry in seen if f"-{os.getpid()}-" in entry[0].name]
    assert names or name != "MPICH" or error is None or "Arith" in body  # so there was something to remove
    assert not mark.exists() and not any((marks.SHARED / segment).exists() for segment in names)
    tried()


def members(pid):
    """Processes of a launcher's job, by the word that all of them inherit."""
    children = psutil.Process(pid).children(recursive=True)
    tokens = set()
    for child in children:
        with contextlib.suppress(psutil.Error):
            tokens.add(child.environ().get(MARK))
    return children, tokens - {None}


def alive(children, tokens):
    """Which of them live, and whoever else has the word."""
    found = []
    for process in {*children, *psutil.process_iter()}:
        with contextlib.suppress(psutil.Error):
            asked = process in children or process.environ().get(MARK) in tokens
            if asked and process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def killed_at(tmp_path, name, how, moment):
    """Start a job, end its launcher at a moment; its status, the job's processes that live ten seconds later, and its
    marks.  Temporary files go to the folder ``work``."""
    caller, work = tmp_path / "caller.py", tmp_path / "work"
    work.mkdir()
    caller.write_text(CALLER)
    rank = program(tmp_path, SLEEP)
    command, environment = [sys.executable, caller, how, rank, name], {**os.environ, "TMPDIR": str(work)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if moment is None:  # all ranks run
            assert all(process.stdout.readline() for _ in range(3))
        else:
            limit = time.monotonic() + 60
            while not list(marks.SHARED.glob(f"rerun-mpi-*-{process.pid}-*/lock")):
                assert process.poll() is None and time.monotonic() < limit
                time.sleep(0.01)
            time.sleep(moment)
        children, tokens = members(process.pid)
        mine = list(marks.SHARED.glob(f"rerun-mpi-*-{process.pid}-*"))
        number = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}.get(how, signal.SIGKILL)
        process.send_signal(number)
        for child in children if how == "with mpiexec" else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.name().startswith(("mpiexec", "mpirun", "orterun")):
                    child.kill()
        status = process.wait(30)
    finally:
        process.kill()
        process.stdout.close()
    limit = time.monotonic() + 10
    while alive(children, tokens) and time.monotonic() < limit:
        time.sleep(0.05)
    return status, alive(children, tokens), mine


HOW = ["SIGKILL", "without prctl", "with mpiexec", "SIGINT", "SIGTERM"]
#: How, and how many seconds after the job has left its mark; None is once all ranks run.
KILLS = [(how, None) for how in HOW] + [("SIGKILL", 0.0)]
MORE = [(how, moment) for how in HOW for moment in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.2) if (how, moment) not in KILLS]


@MPI
@pytest.mark.skipif(not marks.SHARED.is_dir(), reason="no folder of shared memory")
@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("how, moment", [*KILLS, *(pytest.param(*kill, marks=pytest.mark.weekly) for kill in MORE)])
def test_ranks_die_with_their_launcher_and_the_next_run_clears_what_is_left(tmp_path, name, how, moment):
    status, living, mine = killed_at(tmp_path, name, how, moment)
    assert living == []
    there = {mark: left(mark) for mark in mine if mark.exists()}
    if how in ("SIGINT", "SIGTERM"):
        assert there == {} and list((tmp_path / "work").iterdir()) == []  # it could clear up itself
        assert how == "SIGINT" or moment is not None or status == 128 + signal.SIGTERM
    # as the next job does first; a rank counts as dead while its other threads end and hold the lock
    limit = time.monotonic() + 10
    while marks.clear(marks.SHARED) or any(mark.exists() for mark in mine):
        assert time.monotonic() < limit
        time.sleep(0.05)
    assert not any((marks.SHARED / segment).exists() for names in there.values() for segment in names)
    tried()


@MPI
def test_hydra_writes_no_topology_outside_the_folder_of_the_job(tmp_path):
    """Another job on this machine may write one at that moment, but not three times."""
    if "MPICH" not in NAMES:
        pytest.skip("no MPICH")
    body = "from pathlib import Path\nif comm.rank == 0:\n"
    body += "    send({'found': sorted(map(str, Path('/tmp').glob('hydra_hwloc_xmlfile_*')))})"

    def new():
        before = set(map(str, Path("/tmp").glob("hydra_hwloc_xmlfile_*")))
        told = launch([program(tmp_path, body)], 2, 120, "MPICH")
        return {path for message in told for path in message.get("found", ())} - before

    assert not all(new() for _ in range(3))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(marks, "SHARED", tmp_path)
    return tmp_path


def made(place, name="1-abc", lines=("11 1000 host",), user=None):
    folder = place / f"rerun-mpi-{os.getuid() if user is None else user}-{name}"
    folder.mkdir()
    (folder / "lock").write_text("\n".join(lines))
    return folder


def test_a_dead_launchers_segments_go_and_nothing_else(place):
    ours = marks.segments(11, 1000, "host")
    others = ["mpich_shm_1234abcd_0", *marks.segments(12, 1000, "host"), "sem.mp-abc", "vader_segment.host.0.1.0"]
    for name in (*ours, *others):
        (place / name).write_bytes(b"x")
    folder = made(place)
    (folder / "vader_segment.host.0.2.0").write_bytes(b"x")
    assert marks.clear(place) == [folder]
    assert sorted(path.name for path in place.iterdir()) == sorted(others)


@pytest.mark.parametrize(
    "lines", [(), ("",), ("11 1000",), ("x y z",), ("-1 99999999999999999999 host",), ("\xff" * 3,)]
)
def test_a_mark_that_says_nothing_sensible_goes_alone(place, lines):
    folder, other = made(place, lines=lines), place / "mpich_shm_1_0"
    other.write_bytes(b"x")
    assert marks.clear(place) == [folder]
    assert [path.name for path in place.iterdir()] == [other.name]


def test_what_is_not_ours_or_lives_is_left_alone(place):
    names = marks.segments(11, 1000, "host")
    (place / names[0]).write_bytes(b"x")
    without = place / f"rerun-mpi-{os.getuid()}-2-abc"
    without.mkdir()  # no lock: nobody says that its owner is dead
    (without / "file").write_text("kept")
    target = place / "target"
    target.mkdir()
    (target / "lock").write_text("11 1000 host")
    (place / f"rerun-mpi-{os.getuid()}-3-abc").symlink_to(target)
    aside = made(place, "4-abc")
    (aside / "lock").rename(place / "real")
    (aside / "lock").symlink_to(place / "real")
    made(place, "5-abc", user=os.getuid() + 1)
    if os.getuid() == 0:
        os.chown(made(place, "6-abc"), 12345, 12345)
    mark = marks.Mark()
    mark.sign()
    before = sorted(map(str, place.rglob("*")))
    assert marks.clear(place) == []
    assert sorted(map(str, place.rglob("*"))) == before and (mark.folder / "lock").exists()
    mark.remove()
    assert not mark.folder.exists() and (place / names[0]).exists()


def test_a_segment_of_another_user_stays(place):
    if os.getuid():
        pytest.skip("only root can make another's file")
    names = marks.segments(11, 1000, "host")
    for name in names:
        (place / name).write_bytes(b"x")
    os.chown(place / names[0], 12345, 12345)
    (place / names[1]).unlink()
    (place / names[1]).symlink_to(place / "elsewhere")
    made(place)
    marks.clear(place)
    assert sorted(path.name for path in place.iterdir()) == sorted(names[:2])


def test_the_launcher_is_told_of_no_other_library():
    assert all("HWLOC_XMLFILE" in entry.variables for entry in launcher.libraries() if entry.name == "MPICH")
