"""The check file for ReFrame: made from the register, and run under the local scheduler."""

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cases import tried

from companion import cli, commands, experiments
from companion.mpi import libraries, reframe
from companion.pages import cluster
from companion.records import runs


def test_the_files_name_every_mpi_experiment_and_four_schedulers(tmp_path):
    checks, settings = reframe.write(tmp_path)
    compile(checks.read_text(), checks.name, "exec")
    space = {}
    exec(compile(settings.read_text(), settings.name, "exec"), space)
    partitions = space["site_configuration"]["systems"][0]["partitions"]
    assert [entry["scheduler"] for entry in partitions] == ["local", "slurm", "pbs", "flux"]
    over_mpi = [entry.id for entry in experiments.REGISTER.values() if entry.ranks]
    assert len(over_mpi) >= 10
    assert all(repr(name) in checks.read_text() for name in over_mpi)


def test_variables_of_this_machine_go_to_the_local_partition_alone(tmp_path, monkeypatch):
    library = SimpleNamespace(variables={"MPI4PY_LIBMPI": "/here/libmpi.so"})
    monkeypatch.setattr(reframe.launcher, "libraries", lambda: [library])
    checks, settings = reframe.write(tmp_path)
    space = {}
    exec(compile(settings.read_text(), settings.name, "exec"), space)
    local, *others = space["site_configuration"]["systems"][0]["partitions"]
    assert local["env_vars"] == [["MPI4PY_LIBMPI", "/here/libmpi.so"]]
    assert others and not any("env_vars" in each for each in others)
    assert "libmpi" not in checks.read_text()


def test_files_that_are_there_are_not_replaced(tmp_path):
    reframe.write(tmp_path)
    with pytest.raises(FileExistsError):
        reframe.write(tmp_path)
    reframe.write(tmp_path, force=True)


def test_a_check_keeps_its_time_to_a_hundredth_of_a_second():
    case = {"experiment": "p5plus-exchange", "system": "rerun", "partition": "local", "num_tasks": 2, "result": "pass"}
    assert reframe._check({**case, "time_total": 1.23456})["seconds"] == 1.23


@pytest.mark.weekly  # .ci/run runs checks of two experiments
def test_reframe_runs_a_check_and_keeps_its_record(tmp_path):
    program = shutil.which("reframe", path=str(Path(sys.executable).parent))
    if program is None or not libraries():
        pytest.skip("ReFrame or MPI is not installed here")
    checks, settings = reframe.write(tmp_path)
    report = tmp_path / "report.json"
    command = [program, "-C", settings, "-c", checks, "--system", "rerun:local", "--prefix", tmp_path]
    command += ["--report-file", report, "-n", "experiment=p5plus-sensors", "-r"]
    launcher = Path(libraries()[0].launcher).parent
    environment = {**os.environ, "PATH": f"{launcher}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:]
    summary = json.loads(report.read_text())["session_info"]
    assert summary["num_cases"] == 1 and summary["num_failures"] == 0
    kept = reframe.save_report(report, tmp_path)
    (check,) = reframe.kept(tmp_path)[0]["checks"]
    assert check["experiment"] == "p5plus-sensors" and check["result"] == "pass" and check["ranks"] == 2
    assert check["fastest_s"] > 0 and os.uname().nodename not in kept.read_text()
    (record,) = (tmp_path / "output").rglob("*.json")
    assert runs.read(record)["machine"]["mpi"]["ranks"] == 2


def said_here(command, **_):
    """What a command of ``companion`` says, in this process."""
    assert command[:3] == [sys.executable, "-m", "companion"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = commands.status(cli.app, "python -m companion", command[3:])
    return SimpleNamespace(returncode=code, stderr=errors.getvalue())


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """The module of the checks."""
    pytest.importorskip("reframe")
    path, _ = reframe.write(tmp_path_factory.mktemp("checks"))
    spec = importlib.util.spec_from_file_location("rerun_checks", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        patch.setattr(module, "subprocess", SimpleNamespace(run=said_here))
        yield module


@pytest.mark.parametrize(
    ("cpus", "ranks", "threads", "nodes", "skipped"),
    [
        (None, 10**5, 1, None, "companion: ranks = 100000 exceeds .* say --oversubscribe"),
        (None, -5, 1, None, "companion: ranks = -5 must be a whole number of at least 1"),
        (None, 2, 10**5, None, "companion: threads = 100000 is outside 1"),
        (None, 2, 1, None, None),
        (64, 1000, 2, 32, None),
        (64, 4, 1, 4, None),
        (64, 4, 65, None, "4 ranks of 65 threads: a node has 64 CPUs"),
        (0, 1000, 65, None, None),  # the site's settings do not tell
    ],
)
def test_checks_ask_for_nothing_impossible(checks, cpus, ranks, threads, nodes, skipped):
    """The hook of the check, run on a partition made up: the local one, or one of a cluster."""
    scheduler = SimpleNamespace(registered_name="local" if cpus is None else "slurm")
    said = []
    check = SimpleNamespace(
        ranks=ranks,
        threads=threads,
        executable=sys.executable,
        experiment="p5plus-exchange",
        preset="quick",
        num_tasks_per_node=None,
        current_partition=SimpleNamespace(scheduler=scheduler, processor=SimpleNamespace(num_cpus=cpus)),
        skip_if=lambda condition, why: said.append(why) if condition else None,
    )
    checks.Rerun.ask(check)
    assert bool(said) is bool(skipped) and (not skipped or re.match(skipped, said[-1])), said
    tried()
    if not skipped:
        assert (check.num_tasks, check.num_cpus_per_task, check.num_tasks_per_node) == (ranks, threads, nodes)


def test_a_file_that_is_no_report_is_refused(tmp_path):
    other = tmp_path / "other.json"
    other.write_text("{}")
    with pytest.raises(ValueError, match="other.json is no report of ReFrame"):
        reframe.save_report(other, tmp_path)


def test_the_page_shows_the_last_report():
    found = reframe.kept(cluster.KEPT)[-1]
    assert found["failures"] == 0 and found["cases"] == len(found["checks"])
    over_mpi = {entry.id for entry in experiments.REGISTER.values() if entry.ranks}
    assert len(found["checks"]) >= 10 and {check["experiment"] for check in found["checks"]} <= over_mpi
    assert "p5plus-exchange" in str(cluster.report_table())
