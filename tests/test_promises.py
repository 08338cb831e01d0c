"""The promises of the page *How it is measured*, one test each.

The first, that a result which fails verification gets no time, is in ``companion/bench/test_bench.py``
(``test_nan_fails_verification``) and ``companion/test_cli.py`` (an unverified result has its own code and no record).
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.contract import Footprint
from supercomputers_rerun.kernels.files import storm
from supercomputers_rerun.kernels.files.ways import solution_writer
from supercomputers_rerun.kernels.memory import latency

ROOT = Path(__file__).resolve().parents[1]
RECORD = min(runs.COMMITTED.glob("p5plus-smt_*.json"))


@pytest.fixture
def refused(call):
    """``refused(*arguments)``: the one sentence with which a command refuses, before it has printed anything."""

    def sentence(*arguments) -> str:
        code, out, err = call(*arguments)
        (line,) = err.strip().splitlines()
        assert (code, out) == (2, "")
        return line

    return sentence


FULL = """
import resource, sys
from supercomputers_rerun.companion.records import runs
record = runs.read(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
runs.save(record, sys.argv[2])
"""


def test_2_a_record_that_standard_output_does_not_take_either_is_on_standard_error(tmp_path):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", FULL, RECORD, tmp_path]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    line, *_, last = done.stderr.splitlines()
    assert done.returncode == 1 and "what was measured stands above, on standard error" in last
    assert json.loads(line) == runs.read(RECORD) and os.listdir(tmp_path) == []


def test_2_a_record_that_the_disk_does_not_take_is_printed(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, RECORD, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "File too large (what was measured stands in the line above" in done.stderr
    assert json.loads(done.stdout) == runs.read(RECORD) and os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["p5plus-latency", "--preset", "huge"], "preset = 'huge' is unknown"),
        (["p5plus-latency", "--threads", 4096], "threads = 4096 is outside 1 …"),
        (["p5plus-exchange", "--ranks", 1000], "ranks = 1000 exceeds"),
        (["p5plus-latency"], "needs 9313.23 GiB of memory"),
        (["xc30-storm"], "needs 9313.23 GiB in "),
    ],
)
def test_3_what_cannot_be_met_is_refused(refused, monkeypatch, tmp_path, arguments, word):
    monkeypatch.setattr(latency, "footprint", lambda problem: Footprint(10**13))
    monkeypatch.setattr(storm, "footprint", lambda problem: Footprint(0, 10**13))
    assert word in refused("run", *arguments, "--out", tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_3_an_mpi_that_is_missing_is_named(refused, monkeypatch, tmp_path):
    monkeypatch.setenv("RERUN_WITHOUT_MPI", "1")
    assert "MPI" in refused("run", "p5plus-exchange", "--out", tmp_path)


def test_4_a_record_is_json_and_nothing_else(refused, tmp_path):
    marker, path = tmp_path / "ran", tmp_path / "record.json"
    path.write_bytes(pickle.dumps(type("Trap", (), {"__reduce__": lambda self: (open, (str(marker), "w"))})()))
    assert "record.json is no run record" in refused("show", path) and not marker.exists()
    record = json.loads(RECORD.read_text())
    record["measurements"][0]["samples"][0] = float("nan")
    path.write_text(json.dumps(record))
    assert "record.json is no run record: it is damaged or not JSON (NaN is not JSON)" in refused("show", path)


def test_4_a_truncated_or_foreign_solution_is_refused(refused, tmp_path):
    path = tmp_path / "solution"
    with solution_writer(path, 5, 2, 1) as writer:
        for _ in range(2):
            writer.write(lambda u: u.fill(1.0))
    whole = path.read_bytes()
    for content in (whole[:-100], whole[: len(whole) // 2], whole[:8] + bytes(5000), pickle.dumps(1), b""):
        path.write_bytes(content)
        assert str(path) in refused("verify", path)


WRITING = """
import signal, sys
from supercomputers_rerun.kernels.files.ways import solution_writer
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
with solution_writer(sys.argv[1], 32, 100_000, 100, "positioned", asynchronous=True) as writer:
    print("ready", flush=True)
    while True:
        writer.write(lambda u: u.fill(1.0))
"""


def end(process: subprocess.Popen, number: int) -> tuple[int, str]:
    """Send a signal to a process and its group, as a terminal does; its code and what it says."""
    others = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=30)
    assert not psutil.wait_procs(others, timeout=10)[1]
    return process.returncode, said


STOPPED = """
import os, signal, time
from supercomputers_rerun.companion import __main__ as command

def app():
    try:
        os.kill(os.getpid(), {number})
        time.sleep(10)
    except BaseException:
        {then}

command.app = app
command.main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("then", ["raise RuntimeError('cannot release un-acquired lock')", "raise", "pass", "1 / 0"])
def test_5_whatever_is_under_way_the_status_is_that_of_the_signal(number, code, then):
    """A lock that a signal interrupts raises an error of its own; a callback of C drops what a signal raised."""
    program = STOPPED.format(number=int(number), then=then)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, "")


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
PIPES = {"start_new_session": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT}


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_5_a_solution_that_is_being_written_leaves_nothing(tmp_path, number, code):
    process = subprocess.Popen([sys.executable, "-c", WRITING, tmp_path / "solution"], **PIPES)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    found, said = end(process, number)
    assert os.listdir(tmp_path) == []
    if number == signal.SIGINT:  # an interrupted lock may raise an error of its own, which ends a user's program with 1
        assert "KeyboardInterrupt" in said and found in (-number, 1), said
    else:
        assert found == code, said


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("command", ["run", "bench"])
def test_5_a_command_leaves_no_process_and_no_file(tmp_path, command, number, code):
    """The signal comes once the command has made a folder for its work."""
    temporary, records = tmp_path / "temporary", tmp_path / "records"
    temporary.mkdir()
    given = [sys.executable, "-m", "supercomputers_rerun.companion", command, "xc30-storm", "--out", records]
    process = subprocess.Popen(given, env={**os.environ, "TMPDIR": str(temporary), "RERUN_BUDGET": "60"}, **PIPES)
    while process.poll() is None and not any(temporary.iterdir()):
        time.sleep(0.05)
    time.sleep(0.5)
    found, said = end(process, number)
    assert found == code and "Traceback" not in said, said
    assert list(temporary.iterdir()) == [] and [path.name for path in records.glob("*.json")] == []


@pytest.mark.skipif(not host.mpi().ok, reason="no MPI is installed; install the extra mpi")
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_5_a_job_of_two_ranks_leaves_no_process_and_no_file(tmp_path, number, code):
    """The signal comes when both ranks have begun; mpiexec, its proxy and the ranks are four processes."""
    (tmp_path / "tmp").mkdir()
    command = [
        sys.executable,
        "-m",
        "supercomputers_rerun.companion",
        "run",
        "p5plus-sensors",
        "--ranks",
        "2",
        "--out",
        tmp_path / "new",
    ]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, **PIPES)
    while len(psutil.Process(process.pid).children(recursive=True)) < 4 and process.poll() is None:
        time.sleep(0.02)
    time.sleep(1)
    found, said = end(process, number)
    assert found == code and "Traceback" not in said, said
    assert os.listdir(tmp_path) == ["tmp"] and os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_5_a_run_leaves_no_process_and_no_file(tmp_path, number, code):
    """The signal comes when the processes of the experiment write their files."""
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "supercomputers_rerun.companion", "run", "nht1-grouped", "--out", tmp_path / "new"]
    surroundings = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "RERUN_BUDGET": "60"}
    process = subprocess.Popen(command, env=surroundings, **PIPES)
    while not list((tmp_path / "tmp").glob(".*/*")) and process.poll() is None:
        time.sleep(0.02)
    found, said = end(process, number)
    assert found == code and len(said.splitlines()) <= 1, said
    assert os.listdir(tmp_path) == ["tmp"] and os.listdir(tmp_path / "tmp") == []
