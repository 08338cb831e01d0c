"""What a run will take is compared with what this process may use, before anything starts."""

import re
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from companion import experiments, suite
from companion.bench import Case
from companion.experiments import Experiment
from companion.host import doctor, limits, machine
from companion.mpi import launch
from kernels.contract import Footprint
from kernels.runtime import resources
from peers import __main__ as peers

GIB = 2**30


@pytest.fixture
def host(monkeypatch):
    """``host(cpus=…, memory=…)``: a machine of that size with nothing else to limit us, on which nothing can start."""

    def build(cpus=4, memory=16 * GIB, disk=2**50):
        monkeypatch.setattr(subprocess, "Popen", None)

        def usage(folder):
            free = 2**50 if Path(folder) == limits._SHARED else disk
            return SimpleNamespace(total=free, free=free)

        monkeypatch.setattr(resources, "shutil", SimpleNamespace(disk_usage=usage))
        monkeypatch.setattr(machine, "usable_cpus", lambda: cpus)
        monkeypatch.setattr(resources, "available_memory", lambda: memory)

    return build


@pytest.mark.parametrize("cpus", [1, 2, 3, 64])
def test_four_ranks_a_cpu_and_more_only_when_asked_for(host, cpus):
    host(cpus, memory=1000 * GIB)
    for threads in (1, 2, 4):
        most = 4 * cpus // threads
        for ranks in {1, most}:
            limits.require_ranks(ranks, threads)
        for ranks in (most + 1, 10 * most, 1000):
            with pytest.raises(ValueError, match=rf"^ranks = {ranks} exceeds {most}, .*{cpus} usable.*--oversubscribe"):
                limits.require_ranks(ranks, threads)
            limits.require_ranks(ranks, threads, oversubscribe=True)


@pytest.mark.parametrize("oversubscribe", [False, True])
def test_never_beyond_what_the_machine_holds(host, oversubscribe):
    """Three ranks go, one more does not, whatever was asked for."""
    host(memory=GIB)
    limits.require_ranks(3, oversubscribe=oversubscribe)
    with pytest.raises(MemoryError, match=r"^a job of 4 ranks needs .* ask for"):
        limits.require_ranks(4, oversubscribe=oversubscribe)


def test_what_the_ranks_allocate_counts(host):
    host(memory=10 * GIB)
    kernel = SimpleNamespace(footprint=lambda number: Footprint(8 * GIB + (number > 2) * GIB, 3 * GIB))
    one, two, _, three = cases = [SimpleNamespace(threads=1, kernel=kernel, problem=number) for number in (1, 2, 2, 3)]
    del cases[3]  # two of those left share a state
    limits.require_ranks(2, cases=[one])
    with pytest.raises(MemoryError, match="a job of 2 ranks needs .* GiB of memory, 10.00 GiB are available"):
        limits.require_ranks(2, cases=[three])
    host(memory=100 * GIB, disk=6 * GIB)
    limits.require_ranks(2, cases=[two])
    with pytest.raises(OSError, match="a job of 2 ranks needs 6.00 GiB in .*, 5.70 GiB can be used"):
        limits.require_ranks(2, cases=cases)
    host(memory=10 * GIB)
    limits.require_share(cases, ranks=4, here=2)
    with pytest.raises(MemoryError, match="the part of 3 ranks on one host needs 12.00 GiB"):
        limits.require_share(cases, ranks=4, here=3)


MPI = pytest.mark.skipif(not doctor.mpi().ok, reason="no MPI is installed; install the extra mpi")


@MPI
@pytest.mark.parametrize("name", [entry.id for entry in experiments.REGISTER.values() if entry.ranks])
def test_no_mpi_experiment_starts_what_the_machine_cannot_hold(host, name):
    host(cpus=2, memory=4 * GIB)
    for ranks in (9, 1000, 100_000):
        with pytest.raises(ValueError, match=f"^ranks = {ranks} exceeds 8"):
            experiments.run_record(name, ranks=ranks)
    for ranks in (1000, 100_000):
        with pytest.raises(MemoryError, match=f"^a job of {ranks} ranks needs"):
            experiments.run_record(name, ranks=ranks, oversubscribe=True)
    host(cpus=2, memory=GIB // 8)
    with pytest.raises(MemoryError, match="needs .* of memory, 128.0 MiB are available"):
        experiments.run_record(name)


@MPI
@pytest.mark.parametrize("name", [entry.id for entry in experiments.REGISTER.values() if entry.ranks])
def test_no_mpi_experiment_starts_where_its_files_have_no_room(host, name):
    """The disk of all its cases is compared before a rank starts, in every preset that writes."""
    entry, ranks = experiments.find(name), 2
    for preset in entry.presets:
        disks = limits.total(entry.cases(preset, 1, ranks))[1]
        if not disks:  # what writes nothing of the smallest size writes nothing
            return
        for folder, need in disks.items():
            host(cpus=64, memory=10_000 * GIB, disk=need)
            with pytest.raises(OSError, match=f"^a job of 2 ranks needs .* in {re.escape(folder)}, "):
                experiments.run_record(name, preset, ranks=ranks)


@MPI
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ranks": 9}, "ranks = 9 exceeds 8"),
        ({"ranks": 1000, "oversubscribe": True}, "a job of 1000 ranks needs"),
        ({"ranks": 0}, "ranks = 0 must be a whole number"),
        ({"ranks": True}, "ranks = True must be a whole number"),
        ({"ranks": 2.0}, "ranks = 2.0 must be a whole number"),
        ({"ranks": 10**9}, "ranks = 1000000000 must be a whole number"),
    ],
)
def test_launch_itself_refuses_as_well(host, asked, message):
    host(cpus=2, memory=4 * GIB)
    with pytest.raises((ValueError, MemoryError), match=f"^{message}"):
        launch(["-c", "pass"], **asked)


@pytest.mark.parametrize(
    ("need", "message"),
    [
        (Footprint(2**50), "big, n = 10, needs 1048576.00 GiB of memory"),
        (Footprint(0, each_thread=2**50), None),
        (Footprint(0, disk=2**60), "big, n = 10, needs 1073741824.00 GiB in "),
    ],
    ids=["memory", "memory of threads that are not asked for", "disk"],
)
def test_a_case_that_does_not_fit_is_refused_before_the_first_is_set_up(monkeypatch, toy, need, message):
    small, big = (SimpleNamespace(**{name: getattr(toy, name) for name in WORDS}, __name__="toy") for _ in range(2))
    big.footprint = lambda problem: need
    cases = [Case(label, kernel, toy.Problem(10)) for label, kernel in (("n = 1", small), ("n = 10", big))]
    entry = Experiment("big", "toy", "T1", "Too big", lambda preset, threads: cases)
    monkeypatch.setitem(experiments.REGISTER, "big", entry)
    planned = suite.plan(NOWHERE, ["big"], "quick", 1, 0)
    if message is None:
        assert experiments.accept("big") is entry and planned.todo == [entry]
        return
    with pytest.raises((MemoryError, OSError), match=f"^{message}"):
        experiments.run_record("big")
    assert toy.setups == 0
    assert planned.todo == [] and planned.lacking[0].startswith(message)  # bench says so and measures the rest


WORDS = ("setup", "run", "verify", "work", "footprint", "Problem")
NOWHERE = machine._ROOT / "no such folder"


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e300, True, "5"])
def test_seconds_are_zero_or_more_and_at_most_a_year(toy_experiment, seconds):
    with pytest.raises(ValueError, match=r"^budget = .* s must be zero or more and at most 31557600 s, a year$"):
        experiments.accept("toy-sum", budget=seconds)


@pytest.mark.parametrize("name", ["TMPDIR", "TEMP", "TMP"])
def test_another_folder_for_temporary_files_than_asked_for_is_refused(tmp_path, monkeypatch, toy, toy_experiment, name):
    (tmp_path / "file").write_text("")
    (tmp_path / "new").mkdir()
    for other in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(other, raising=False)
    for asked in (tmp_path / "nowhere", tmp_path / "file"):
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setenv(name, str(asked))
        with pytest.raises(OSError, match=f"^{name} = .* takes no files; name a folder"):
            experiments.run_record("toy-sum")
        assert peers.main(["smt"]) == 2
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv(name, str(tmp_path / "." / "new" / ".."))
    assert toy.setups == 0 and experiments.run_record("toy-sum")["machine"]["filesystem"]["source"] == name
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_a_full_folder_of_the_system_is_not_passed_over(tmp_path, monkeypatch, toy, toy_experiment):
    """With no variable set Python goes on from /tmp, where that takes no files, to /var/tmp and others."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(limits, "_DEFAULT", tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path.parent))
    with pytest.raises(OSError, match=f"^{tmp_path}, the folder for temporary files, takes no files; .* TMPDIR"):
        experiments.run_record("toy-sum")
    assert peers.main(["smt"]) == 2 and toy.setups == 0
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert experiments.run_record("toy-sum")["machine"]["filesystem"]["source"] == "default"


def test_peers_ask_for_room_and_ranks_before_the_first_comparison(tmp_path, monkeypatch, capsys):
    from peers import files, mpi

    usage = SimpleNamespace(total=10**6, free=10**6)
    monkeypatch.setattr(resources, "shutil", SimpleNamespace(disk_usage=lambda _: usage))
    assert files.DISK > usage.free and peers.main(["files", "smt"]) == 2
    assert "peers: comparisons of files needs 160.0 MiB in " in capsys.readouterr().err
    monkeypatch.setattr(mpi, "_job", None)
    monkeypatch.setattr(mpi, "_peers", dict)
    monkeypatch.setattr(resources, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match="^a job of 2 ranks needs"):
        next(mpi._on(2))
