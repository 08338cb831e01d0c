"""What a run will take is compared with what this process may use, before anything starts."""

import subprocess
import tempfile
from types import SimpleNamespace

import pytest

from supercomputers_rerun.companion import experiments, host, suite
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.experiments import Experiment
from supercomputers_rerun.kernels.contract import Footprint
from supercomputers_rerun.kernels.runtime import resources

GIB = 2**30


@pytest.fixture
def room(monkeypatch):
    """``room(cpus=…, memory=…)``: a machine of that size, on which nothing can start."""

    def build(cpus=4, memory=16 * GIB, disk=2**50):
        monkeypatch.setattr(subprocess, "Popen", None)
        usage = SimpleNamespace(total=disk, free=disk)
        monkeypatch.setattr(resources, "shutil", SimpleNamespace(disk_usage=lambda folder: usage))
        monkeypatch.setattr(host, "usable_cpus", lambda: cpus)
        monkeypatch.setattr(resources, "available_memory", lambda: memory)

    return build


def test_four_ranks_a_cpu_and_more_only_when_asked_for_and_held(room):
    room(cpus=2, memory=2 * GIB)
    host.require_ranks(7)
    host.require_ranks(4, threads=2)
    with pytest.raises(ValueError, match=r"^ranks = 5 exceeds 4, .*2 usable.*--oversubscribe"):
        host.require_ranks(5, threads=2)
    with pytest.raises(MemoryError, match=r"^a job of 8 ranks needs .* ask for fewer ranks"):
        host.require_ranks(8, oversubscribe=True)


def test_what_the_ranks_allocate_counts(room):
    """Cases of two threads: 8 GiB or 9, one of them for the second thread."""
    room(memory=10 * GIB)
    kernel = SimpleNamespace(footprint=lambda number: Footprint(7 * GIB + (number > 2) * GIB, 3 * GIB, GIB))
    one, two, _, three = cases = [SimpleNamespace(threads=2, kernel=kernel, problem=number) for number in (1, 2, 2, 3)]
    del cases[3]  # two of those left share a state
    host.require_ranks(2, cases=[one])
    with pytest.raises(MemoryError, match="a job of 2 ranks needs .* GiB of memory, 10.00 GiB are available"):
        host.require_ranks(2, cases=[three])
    room(memory=100 * GIB, disk=6 * GIB)
    host.require_ranks(2, cases=[two])
    with pytest.raises(OSError, match="a job of 2 ranks needs 6.00 GiB in .*, 5.70 GiB can be used"):
        host.require_ranks(2, cases=cases)
    room(memory=10 * GIB)
    host.require_share(cases, ranks=4, here=2)
    with pytest.raises(MemoryError, match="the part of 3 ranks on one host needs 12.00 GiB"):
        host.require_share(cases, ranks=4, here=3)


@pytest.mark.skipif(not host.mpi().ok, reason="no MPI is installed; install the extra mpi")
@pytest.mark.parametrize("name", [entry.id for entry in experiments.REGISTER.values() if entry.ranks])
def test_no_mpi_experiment_starts_what_the_machine_cannot_hold(room, name):
    room(cpus=2, memory=4 * GIB)
    with pytest.raises(ValueError, match="^ranks = 9 exceeds 8"):
        experiments.run_record(name, ranks=9)
    with pytest.raises(MemoryError, match="^a job of 1000 ranks needs"):
        experiments.run_record(name, ranks=1000, oversubscribe=True)


@pytest.mark.parametrize(
    ("need", "message"),
    [
        (Footprint(2**50), "big, n = 10, needs 1048576.00 GiB of memory"),
        (Footprint(0, disk=2**60), "big, n = 10, needs "),
    ],
)
def test_a_case_that_does_not_fit_is_refused_before_the_first_is_set_up(monkeypatch, tmp_path, make_toy, need, message):
    small, big = make_toy(), make_toy()
    big.footprint = lambda problem: need
    cases = [Case(label, kernel, small.Problem(10)) for label, kernel in (("n = 1", small), ("n = 10", big))]
    entry = Experiment("big", "toy", "T1", "Too big", lambda preset, threads: cases)
    monkeypatch.setitem(experiments.REGISTER, "big", entry)
    with pytest.raises((MemoryError, OSError), match=f"^{message}"):
        experiments.run_record("big")
    planned = suite.plan(tmp_path, ["big"], "quick", 1, 0)
    assert small.setups == 0 and planned.todo == {} and planned.lacking[0].startswith(message)


def test_another_folder_for_temporary_files_than_asked_for_is_refused(tmp_path, monkeypatch, toy, toy_experiment):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="^TMPDIR = .* takes no files; name a folder"):
        experiments.run_record("toy-sum")
    assert toy.setups == 0
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert experiments.run_record("toy-sum")["machine"]["filesystem"]["source"] == "TMPDIR"
