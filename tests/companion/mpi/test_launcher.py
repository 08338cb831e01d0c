"""Jobs of many ranks: what they say, and how they end when something goes wrong."""

import json
import os

import psutil
import pytest

from supercomputers_rerun.companion import experiments, host
from supercomputers_rerun.companion.experiments import Unavailable
from supercomputers_rerun.companion.host import Finding
from supercomputers_rerun.companion.mpi import JobError, launch, launcher

MPI = pytest.mark.skipif(not host.mpi().ok, reason="no MPI is installed; install the extra mpi")
RANK = """
import json, os, sys, tempfile
from supercomputers_rerun.companion.mpi.job import fail
from supercomputers_rerun.kernels.mpi import world
world.end_with_parent()
comm = world.mpi().COMM_WORLD
comm.Barrier()
shared = [line for line in open("/proc/self/maps") if "/dev/shm/mpich" in line and "(deleted)" not in line]
with open(f"{sys.argv[1]}/{comm.rank}.json", "w") as file:
    json.dump({"pid": os.getpid(), "folder": tempfile.gettempdir(), "shared": shared}, file)
comm.Barrier()
if comm.rank == 1:
    try:
        $
    except Exception as error:
        fail(comm, error)
comm.Barrier()
"""


@MPI
@pytest.mark.parametrize(
    ("last", "error", "said"),
    [
        ("raise MemoryError('N = 9000 does not fit; take 64')", MemoryError, "^N = 9000 does not fit; take 64$"),
        ("raise ArithmeticError('no')", JobError, "^the job of 2 ranks failed on rank 1: ArithmeticError: no$"),
        ("os.kill(os.getpid(), 9)", JobError, "^the job of 2 ranks ended early: a rank was killed by SIGKILL$"),
    ],
    ids=["a refusal", "a defect", "a killed rank"],
)
def test_a_rank_that_fails_ends_the_job_with_one_sentence_and_leaves_nothing(last, error, said, monkeypatch, tmp_path):
    """Inside a job of Slurm, and under another launcher, and beside a file named as a module of Python."""
    for name in ("SLURM_JOB_ID", "SLURM_NNODES", "SLURM_NODELIST", "PMI_SIZE", "PMI_RANK", "PMIX_NAMESPACE"):
        monkeypatch.setenv(name, "1")
    (tmp_path / "random.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said) as caught:
        launch(["-c", RANK.replace("$", last), tmp_path], 2)
    heard = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert not any(each["shared"] for each in heard)
    assert not any(_runs(each["pid"]) for each in heard)
    assert not any(os.path.exists(each["folder"]) for each in heard)
    assert ("Traceback" in getattr(caught.value, "output", "")) is ("Arithmetic" in last)


@pytest.mark.parametrize("heard", [[], [{"piece": '{"schema": '}], [{"other": 1}]])
def test_a_job_that_ends_without_its_record_is_a_sentence(monkeypatch, heard):
    monkeypatch.setattr(launcher, "launch", lambda *_: heard)
    with pytest.raises(JobError, match="^the job of 2 ranks ended without a whole record; run it again$"):
        launcher.run_record("p5plus-exchange", 2)


@MPI
def test_what_a_rank_says_in_part_is_a_sentence_and_its_user_does_not_say_how_mpi_ends(monkeypatch, tmp_path):
    monkeypatch.setenv("MPI4PY_RC_FINALIZE", "0")
    with pytest.raises(JobError, match="^the job of 1 rank was cut short in what a rank said$"):
        launch(["-c", "print('@rerun {')"], 1)
    with launcher.started(["-c", "import os; print('MPI4PY_RC_FINALIZE' in os.environ)"], 1, tmp_path) as process:
        assert process.stdout.read() == "False\n"


def _runs(pid: int) -> bool:
    """Whether a process computes still; one that nobody has waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@MPI
def test_a_record_of_ranks_says_where_they_ran():
    record = experiments.run_record("xc30-moves", ranks=2, rounds=1, progress=False)
    found = record["machine"]["mpi"]
    assert found["ranks"] == 2 and found["library"]
    assert found["host_of_rank"] == [0, 0]
    for case in record["measurements"]:
        assert case["parameters"]["ranks"] == 2
        assert set(case["observed"]) == {"TRGTOL", "TRLTOM", "TRMTOL", "TRLTOG", "messages", "bytes"}
        assert case["observed"]["bytes"] == [case["parameters"]["sent_bytes"]]


def test_a_rank_count_the_program_cannot_use_is_refused_before_the_start(monkeypatch):
    monkeypatch.setattr(launcher, "started", None)
    with pytest.raises(ValueError, match="ranks = 3 cannot be paired; legal are the even numbers 2, 4, 6"):
        experiments.run_record("p5plus-exchange", ranks=3)
    with pytest.raises(ValueError, match="p5plus-bandwidth is no MPI program; leave ranks out"):
        experiments.run_record("p5plus-bandwidth", ranks=2)


def test_without_mpi_a_sentence_says_how_to_get_it(monkeypatch):
    absent = Finding("MPI", False, "mpi4py is not installed", "install mpi4py and an MPI such as mpich")
    monkeypatch.setattr(host, "mpi", lambda: absent)
    monkeypatch.setitem(host.NEEDS, "mpi", lambda: absent)
    with pytest.raises(Unavailable, match="^MPI is missing .*install the extra"):
        launch(["-c", "pass"], 2)
    with pytest.raises(Unavailable, match="^p5plus-exchange needs MPI: mpi4py is not installed; install mpi4py"):
        experiments.run_record("p5plus-exchange", ranks=2)
