"""Jobs of many ranks: what they say, and how they end when something goes wrong."""

import os
import re
import select
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import psutil
import pytest
from mpi_libraries import EACH, gone

from companion import experiments
from companion.experiments import Unavailable
from companion.host import doctor
from companion.host.doctor import Finding
from companion.mpi import JobError, job, launch, launcher, libraries
from kernels.mpi import world

pytestmark = pytest.mark.skipif(not libraries(), reason="no MPI is installed; install the extra mpi")

BEGIN = """
    import os, sys, tempfile, time
    from mpi4py import MPI
    from companion.mpi.job import send
    comm = MPI.COMM_WORLD
    """


def script(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(BEGIN) + textwrap.dedent(body))
    return [str(path)]


@pytest.mark.parametrize("name", EACH)
def test_a_rank_killed_while_it_writes_leaves_one_sentence_and_no_file(tmp_path, name):
    """The command a user types: BT writes through MPI-IO when one of its ranks is killed."""
    for folder in ("work", "records"):
        (tmp_path / folder).mkdir()
    command = [sys.executable, "-m", "companion", "run", "nht1-mpiio", "--ranks", "2", "--rounds", "1000"]
    process = subprocess.Popen(
        [*command, "--budget", "300", "--library", name, "--out", tmp_path / "records"],
        env={**os.environ, "TMPDIR": str(tmp_path / "work")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ranks = _while_writing(process, tmp_path / "work")
        ranks[1].kill()
        begin = time.monotonic()
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert time.monotonic() - begin < 20
    assert process.returncode == 2
    (sentence,) = [line for line in said.replace("\r", "\n").splitlines() if line.startswith("companion:")]
    assert re.search(r"the job of 2 ranks ended early: .* was killed by signal 9 \(SIGKILL\)", sentence)
    assert "Traceback" not in said
    assert all(gone(rank.pid) for rank in ranks)
    assert list((tmp_path / "work").rglob("*")) == list((tmp_path / "records").rglob("*")) == []


@pytest.mark.parametrize("name", EACH)
def test_a_rank_that_crashes_leaves_what_it_said(tmp_path, name):
    # mpiexec kills the other rank, and where that one's end reaches it first it names that signal
    body = """
    if comm.rank == 1:
        print("what it said last", flush=True)
        os.abort()
    comm.Barrier()
    """
    with pytest.raises(JobError, match=r"ended early: .* was killed by signal (6 \(SIGABRT|9 \(SIGKILL)\)") as caught:
        launch(script(tmp_path, body), 2, timeout=60, name=name)
    assert "what it said last" in caught.value.output
    assert caught.value.is_defect or "SIGKILL" in str(caught.value)
    assert JobError("a rank was killed by signal 6 (SIGABRT)", "words").is_defect
    assert not JobError("rank 1 was killed by signal 9 (SIGKILL)", "words").is_defect


@pytest.mark.parametrize("name", EACH)
def test_a_killed_rank_is_named_though_another_met_an_error_of_mpi_first(tmp_path, name):
    """What one rank meets because another has died can reach the launcher before the death itself."""
    body = """
    from companion.mpi.job import fail
    if comm.rank == 0:
        fail(comm, MPI.Exception(MPI.ERR_OTHER))
    time.sleep(0.5)
    os.kill(os.getpid(), 9)
    """
    with pytest.raises(JobError, match=r"ended early: .* was killed by signal 9 \(SIGKILL\)"):
        launch(script(tmp_path, body), 2, timeout=60, name=name)


def _is_rank(process) -> bool:
    """Whether it computes; one that ended between being listed and being asked does not."""
    try:
        return "companion.mpi.job" in process.cmdline() and "python" in process.name()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _while_writing(process, folder):
    """Its ranks, as soon as an unfinished solution file is there."""
    for _ in range(2000):
        if any(folder.rglob("*.nht1.*.part")):
            ranks = [child for child in psutil.Process(process.pid).children(recursive=True) if _is_rank(child)]
            if len(ranks) >= 2:
                return ranks
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    raise AssertionError("no rank began to write")


def test_an_error_whose_line_was_lost_on_its_way_is_still_the_error_of_the_job(tmp_path):
    body = """
    if comm.rank == 1:
        sys.stdout.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # as mpiexec drops what comes while it ends
        send({"error": "MemoryError", "text": "N = 9000 does not fit; take 64", "rank": 1})
        comm.Abort(1)
    comm.Barrier()
    """
    with pytest.raises(MemoryError, match="^N = 9000 does not fit; take 64$"):
        launch(script(tmp_path, body), 2, timeout=120)


def test_a_rank_count_the_program_cannot_use_is_refused_before_the_start(monkeypatch):
    monkeypatch.setattr(launcher, "Group", None)
    with pytest.raises(ValueError, match="ranks = 3 cannot be paired; legal are the even numbers 2, 4, 6"):
        experiments.run_record("p5plus-exchange", ranks=3)
    with pytest.raises(ValueError, match="ranks = 0 must be a whole number of at least 1"):
        experiments.run_record("p5plus-exchange", ranks=0)
    with pytest.raises(ValueError, match="p5plus-bandwidth is no MPI program; leave ranks out"):
        experiments.run_record("p5plus-bandwidth", ranks=2)


def test_without_mpi_a_sentence_says_how_to_get_it(monkeypatch):
    absent = Finding("MPI", False, "mpi4py is not installed", "install mpi4py and an MPI such as mpich")
    monkeypatch.setattr(doctor, "mpi", lambda: absent)
    monkeypatch.setitem(doctor.NEEDS, "mpi", lambda: absent)
    with pytest.raises(Unavailable, match="^MPI is missing .*install the extra"):
        launch(["-c", "pass"], 2)
    with pytest.raises(Unavailable, match="^p5plus-exchange needs MPI: mpi4py is not installed; install mpi4py"):
        experiments.run_record("p5plus-exchange", ranks=2)


def test_a_record_comes_in_pieces_that_a_pipe_takes_whole(monkeypatch):
    """Lines up to PIPE_BUF are never mixed with those of other ranks, also where every character is escaped."""
    written = []
    monkeypatch.setattr(job.os, "write", lambda handle, line: written.append(line))
    monkeypatch.delenv(job.ERRORS, raising=False)
    for letter in ('"', "\\", "x"):
        job.send({"piece": letter * job.PIECE})
    assert max(map(len, written)) <= select.PIPE_BUF


@pytest.mark.parametrize("name", EACH)
def test_a_record_of_ranks_says_where_they_ran_and_no_disk_can_lose_it(tmp_path, monkeypatch, name):
    """The ranks run with all that writes a record taken away."""
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\n"
        "from companion import commands\n"
        "from companion.mpi import job\n"
        "from companion.records import runs, store\n"
        "runs.save = store.write = store.write_text = None\n"
        "sys.exit(commands.status(job.app, 'job'))\n"
    )
    monkeypatch.setattr(launcher, "launch", lambda command, *given: launch([str(path), *command[2:]], *given))
    options = {"ranks": 2, "rounds": 1, "timeout": 300, "library": name, "progress": False}
    record = experiments.run_record("p5plus-transposition", **options)
    found = record["machine"]["mpi"]
    assert found["ranks"] == 2 and len(found["host_of_rank"]) == 2 and found["library"]
    assert len(record["measurements"]) > 1
    for case in record["measurements"]:
        assert case["parameters"]["ranks"] == 2
        assert set(case["observed"]) == {"TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG", "messages", "bytes"}
        assert case["observed"]["bytes"] == [case["parameters"]["sent_bytes"]]


@pytest.mark.parametrize(
    "hosts, variables, transport",
    [
        (["a", "a"], {}, "within one host"),
        (["a", "b"], {}, "chosen by the library"),
        (["a", "a"], {"UCX_TLS": "self,sm"}, "UCX_TLS=self,sm"),  # as a site's module of MPI may
    ],
)
def test_a_transport_that_was_asked_for_is_named(monkeypatch, hosts, variables, transport):
    for name in ("FI_PROVIDER", "UCX_TLS", "OMPI_MCA_pml", "OMPI_MCA_btl"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    library = SimpleNamespace(Get_library_version=lambda: "MPICH Version: 5", Get_version=lambda: (4, 1))
    monkeypatch.setattr(world, "mpi", lambda: library)
    monkeypatch.setattr(world, "gather", lambda comm, value: [[host, [0]] for host in hosts])
    found = world.describe(SimpleNamespace(size=2))
    assert found["transport"] == transport and found["hosts"] == [f"host {n}" for n in range(len(set(hosts)))]
