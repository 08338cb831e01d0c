"""The command line: exit codes, one sentence on stderr, and no file left behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

from companion import cli, experiments, named
from companion.commands import status
from companion.host import doctor
from companion.host.doctor import Finding
from companion.records import runs, store

ROOT = Path(__file__).resolve().parents[2]


def sentence(stderr):
    """The only line on stderr."""
    (line,) = stderr.strip().splitlines()
    assert line.startswith("companion: ")
    return line


def test_run_writes_one_record(call, toy_experiment, tmp_path):
    code, out, err = call("run", "toy-sum", "--out", tmp_path / "new", "--seed", 3)
    assert (code, err) == (0, "")
    (path,) = (tmp_path / "new").iterdir()
    assert out.splitlines()[-1] == str(path)
    assert runs.read(path)["seed"] == 3
    assert "n = 10: minimum" in out


def test_run_lists(call, toy_experiment):
    code, out, _ = call("run", "--list")
    assert code == 0
    assert any(line.startswith("toy-sum") and "Sums" in line for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent"], "experiment = 'absent' is unknown; python -m companion list shows all"),
        (["p5plus-smtt"], "experiment = 'p5plus-smtt' is unknown; did you mean p5plus-smt or "),
        (["toy-sum", "--preset", "huge"], "preset = 'huge' is unknown to toy-sum; choose one of quick, p"),
        (["toy-sum", "--threads", "100000"], "threads = 100000 is outside 1 …"),
        (["toy-sum", "--threads", "0"], "threads = 0"),
        (["toy-sum", "--budget", "-1"], "budget = -1.0"),
        (["toy-sum", "--rounds", "0"], "rounds = 0"),
        (["toy-sum", "--seed", "-1"], "seed = -1 must be a whole number"),
        ([], "name an experiment"),
    ],
)
def test_bad_requests_are_one_sentence(call, toy_experiment, toy, tmp_path, arguments, message):
    code, _, err = call("run", *arguments, "--out", tmp_path / "new" / "folder")
    assert code == 2
    assert message in sentence(err)
    assert toy.calls == 0 and list(tmp_path.iterdir()) == []


def test_too_little_memory_is_one_sentence(call, toy_experiment, toy, tmp_path, monkeypatch):
    def setup(problem, seed=0):
        raise MemoryError("the sum needs 9 TiB of memory, 1 GiB is available; choose a smaller problem")

    monkeypatch.setattr(toy, "setup", setup)
    code, _, err = call("run", "toy-sum", "--out", tmp_path)
    assert code == 2 and "choose a smaller problem" in sentence(err)


def test_an_unverified_result_has_its_own_code_and_no_record(call, toy_experiment, toy, tmp_path):
    toy.wrong_from = 1
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "new" / "folder")
    assert code == 3 and "not reported" in sentence(err)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_need_is_one_sentence(call, toy_experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "unavailable", lambda entry: "toy-sum needs MPI: none found; install it")
    code, _, err = call("run", "toy-sum", "--out", tmp_path)
    assert code == 2 and "needs MPI" in sentence(err)


def test_an_unwritable_folder_is_found_before_measuring(call, toy_experiment, toy, tmp_path, monkeypatch):
    def refuse(**options):
        raise OSError(30, "Read-only file system", str(options["dir"]))

    monkeypatch.setattr(cli.files.tempfile, "TemporaryFile", refuse)
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "new")
    assert code == 2 and "Read-only file system" in sentence(err)
    assert str(tmp_path / "new") in err
    assert toy.calls == 0 and list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder(call, toy_experiment, toy, tmp_path):
    (tmp_path / "file").write_text("x")
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "file")
    assert code == 2 and "file" in sentence(err)
    assert toy.calls == 0


def test_a_disk_that_fills_while_writing(call, toy_experiment, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runs.os, "fsync", full)
    code, out, err = call("run", "toy-sum", "--out", tmp_path / "new")
    assert code == 2 and "No space left on device (what was measured stands in the line above" in sentence(err)
    assert store.strict_json(out.splitlines()[-1])["experiment"] == "toy-sum"
    assert list(tmp_path.iterdir()) == []


def test_a_defect_keeps_its_traceback(call, toy_experiment, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(toy, "work", lambda problem, threads: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call("run", "toy-sum", "--out", tmp_path)


TAKING_DOWN = """
import signal, sys, time, weakref
signal.signal(signal.SIGINT, signal.default_int_handler)      # a test run in the background ignores it
sys.path.insert(0, {tests!r})
from conftest import ToyKernel, ToyProblem
from companion import experiments
from companion.bench import Case
class Slow(ToyKernel):
    def run(self, problem, state, threads=1, repeats=1):
        class Thing: pass
        thing = Thing()
        weakref.finalize(thing, lambda: (print("running", flush=True), time.sleep(60)))
        del thing
        time.sleep(60)
experiments.register(experiments.Experiment("toy-slow", "toy", "T9", "Slow",
                     lambda preset, threads: [Case("slow", Slow(), ToyProblem())]))
from companion.__main__ import main
sys.argv = ["companion", "run", "toy-slow", "--out", {out!r}]
main()
"""


IMPORTING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "companion.bench":
            print("running", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Finder())
from companion.__main__ import main
sys.argv = ["companion", "run", "--list", "--out", {out!r}]
main()
"""


def signalled(program, number, after=0.0, **options):
    """Exit code and standard error of a program that gets a signal once it has said that it runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )
    try:
        assert "running\n" in iter(process.stdout.readline, "")
        time.sleep(after)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, err


#: Each starts an interpreter of its own; what differs in the signal or the stream alone has its day of the week.
WEEKLY = pytest.mark.weekly


@pytest.mark.parametrize(
    ("program", "number", "code", "word"),
    [
        pytest.param(program, number, code, word, id=f"{moment}-{word}", marks=marks)
        for moment, program in (("importing", IMPORTING), ("taking down", TAKING_DOWN))
        for number, code, word, marks in (
            (signal.SIGINT, 130, "interrupted", ()),
            (signal.SIGTERM, 143, "terminated", WEEKLY),  # each day while a real experiment measures, below
        )
    ],
)
def test_a_signal_leaves_nothing(tmp_path, program, number, code, word):
    found, err = signalled(program.format(tests=str(ROOT / "tests"), out=str(tmp_path / "new")), number, 0.1)
    assert found == code
    assert sentence(err) == f"companion: {word}; no unfinished file is left"
    assert os.listdir(tmp_path) == []


ENDED = """
import atexit, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(lambda: (print("running", flush=True), time.sleep(0.5)))
from companion.__main__ import main
sys.argv = ["companion", "run", "--list"]
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=WEEKLY)])
def test_a_signal_after_the_end_changes_nothing(number):
    assert signalled(ENDED, number) == (0, "")


@pytest.fixture
def two_records(record, tmp_path):
    """Two files whose times differ by a factor of two."""
    slower = json.loads(json.dumps(record))
    slower["date"] = "2031-01-01T00:00:00Z"
    for case in slower["measurements"]:
        case["samples"] = [2 * value for value in case["samples"]]
    return runs.save(record, tmp_path), runs.save(slower, tmp_path), slower


def test_compare(call, two_records):
    code, out, err = call("compare", *two_records[:2])
    assert (code, err) == (0, "")
    assert "differs" not in out
    assert [line.split(":")[0] for line in out.splitlines()] == ["n = 10", "n = 20"]
    assert out.count("minima 2.000, medians 2.000") == 2


def test_compare_says_what_differs(call, two_records, tmp_path):
    other = two_records[2]
    other["machine"]["cpu"]["model"] = "POWER5+"
    other["machine"]["software"]["numba"] = "0.1"
    other["measurements"][0]["problem"]["n"] = 11
    other["measurements"][1]["label"] = "n = 99"
    other["preset"] = "paper"
    code, out, _ = call("compare", two_records[0], runs.save(other, tmp_path))
    assert code == 0
    assert "differs: preset: quick and paper" in out
    assert "POWER5+" in out and "differs: numba" in out
    assert "n = 10: not compared, n 10 and 11" in out
    assert "n = 20 = n = 99: minima 2.000" in out  # a label is no part of what was measured


@pytest.mark.parametrize(
    ("before", "now", "more"),
    [
        ("kernels.memory.stream", "kernels.memory.stream", {"pages": "default"}),  # a field that one record lacks
        ("kernels.mpi.bt", "kernels.bt.ranks", {}),  # a kernel that moved
    ],
)
def test_compare_finds_the_same_case_in_an_older_record(call, record, tmp_path, before, now, more):
    paths = []
    for year, kernel, fields in ((2033, before, {}), (2034, now, more)):
        for case in record["measurements"]:
            case |= {"kernel": kernel, "problem": case["problem"] | fields}
        paths.append(runs.save(record | {"date": f"{year}-01-01T00:00:00Z"}, tmp_path))
    code, out, _ = call("compare", *paths)
    assert code == 0 and out.count("minima 1.000") == 2


def test_kernels_that_moved_are_where_records_are_led():
    for old, new in named.MOVED.items():
        assert named.kernel(old).__name__ == new and named.kernel(new).Problem


def test_compare_names_machines_by_what_differs(call, two_records, tmp_path):
    other = two_records[2]
    other["machine"]["memory"]["total_bytes"] = 2**40
    code, out, _ = call("compare", two_records[0], runs.save(other, tmp_path))
    assert code == 0 and "differs: machines: " in out and "1024 GiB" in out and "(memory)" in out


def test_compare_of_nothing_in_common(call, two_records, tmp_path):
    other = two_records[2]
    for case in other["measurements"]:
        case["problem"]["n"] += 1
    other["seed"] = 5
    other["date"] = "2032-01-01T00:00:00Z"
    code, _, err = call("compare", two_records[0], runs.save(other, tmp_path))
    assert code == 2 and "no case in common" in sentence(err)


def test_export_csv_has_a_row_per_sample(call, two_records, tmp_path):
    code, out, _ = call("export", *two_records[:2], "--to", tmp_path / "all.csv")
    assert code == 0 and out.strip().endswith("all.csv")
    frame = pd.read_csv(tmp_path / "all.csv")
    # a case that exceeds its share of the budget, as beside other load, has fewer than three
    assert len(frame) == 2 * sum(len(case["samples"]) for case in two_records[2]["measurements"]) >= 4
    assert {"label", "n", "threads", "machine", "date", "seconds"} <= set(frame.columns)
    assert frame["seconds"].notna().all()


def test_export_netcdf(call, two_records, tmp_path):
    assert call("export", two_records[0], "--to", tmp_path / "one.nc")[0] == 0
    with xr.open_dataset(tmp_path / "one.nc", engine="netcdf4") as data:
        assert data.sizes["case"] == 2


def test_export_replaces_nothing_unasked(call, two_records, tmp_path):
    target = tmp_path / "one.csv"
    target.write_text("mine")
    code, _, err = call("export", two_records[0], "--to", target)
    assert code == 2 and "never replaced silently" in sentence(err) and target.read_text() == "mine"
    assert call("export", two_records[0], "--to", target, "--force")[0] == 0
    assert target.read_text() != "mine"


def test_export_knows_two_formats(call, two_records, tmp_path):
    code, _, err = call("export", two_records[0], "--to", tmp_path / "one.xlsx")
    assert code == 2 and ".csv or .nc" in sentence(err)
    assert not (tmp_path / "one.xlsx").exists()


@pytest.mark.parametrize("command", [["doctor"], pytest.param(["run", "--list"], marks=WEEKLY)])
def test_output_that_cannot_be_written_is_one_sentence(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "companion", *command], cwd=ROOT, text=True, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert "No space left on device: 'standard output'" in sentence(done.stderr)


def test_a_reader_who_leaves_early_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "companion", "run", "--list"],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == ("", 0)
    process.stderr.close()


@pytest.fixture(scope="module")
def solution(tmp_path_factory):
    """A solution file of NHT-1's smallest problem, as BT computes it."""
    from kernels.files import application

    problem = application.Problem(IW=5, folder=str(tmp_path_factory.mktemp("solution")))
    result = application.run(problem, application.setup(problem))  # its file lives as long as it does
    yield result.path


def test_verify_prints_the_diagonal_and_the_checks(call, solution):
    code, out, err = call("verify", solution)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    diagonal = [float(line) for line in lines[: 12 * 12 * 5]]  # dumps, points, components
    assert diagonal[:5] != diagonal[5:10]
    assert len(lines) == 12 * 12 * 5 + 6  # checksums, five norms
    assert sum("mean error norm" in line for line in lines) == 5
    assert len(call("verify", solution, "--no-diagonal")[1].splitlines()) == 6


def test_verify_of_a_damaged_dump_has_its_own_code(call, solution, tmp_path):
    damaged = bytearray(solution.read_bytes())
    damaged[5000] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    code, _, err = call("verify", tmp_path / "damaged", "--no-diagonal")
    assert code == 3 and "checksum" in sentence(err)


def test_verify_of_a_wrong_solution_has_its_own_code(call, tmp_path):
    import numpy as np

    from kernels.files.format.solution import SolutionWriter

    with SolutionWriter(tmp_path / "wrong", 12, 60, 5) as writer:
        for step in range(5, 61, 5):
            writer.write(step, np.ones((12, 12, 12, 5)))
    code, out, err = call("verify", tmp_path / "wrong", "--no-diagonal")
    assert code == 3 and "mean error norm" in sentence(err)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "is truncated"),
        (b"hello, world, this is text", "is not an NHT-1 solution file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), ""),
        ("cut", "is truncated"),
        ("folder", ""),
    ],
    ids=["absent", "empty", "text", "hdf", "cut", "folder"],
)
def test_verify_refuses_foreign_and_truncated_files(call, solution, tmp_path, content, reason):
    path = tmp_path / "foreign"
    if content == "cut":
        path.write_bytes(solution.read_bytes()[:-100])
    elif content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    code, out, err = call("verify", path)
    assert (code, out) == (2, "")
    assert reason in sentence(err) and "foreign" in err


@pytest.mark.parametrize(("required", "code"), [(True, 1), (False, 0)])
def test_doctor_fails_only_on_what_is_required(call, monkeypatch, required, code):
    monkeypatch.setattr(doctor, "CHECKS", (lambda: Finding("X", False, "gone", "fetch it", required),))
    found, out, _ = call("doctor")
    assert found == code and "fetch it" in out


REAL = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
def watch(folder):
    while not any(os.scandir(folder)):
        time.sleep(0.005)
    print("running", flush=True)
threading.Thread(target=watch, args=(os.environ["TMPDIR"],), daemon=True).start()
from companion.__main__ import main
sys.argv = ["companion", "run", {experiment!r}, "--out", {out!r}]
main()
"""


@pytest.mark.parametrize(
    "experiment", ["xc30-storm", *(pytest.param(name, marks=WEEKLY) for name in ("nht1-groups", "nht1-io"))]
)
def test_sigterm_leaves_no_work_folder_of_a_real_experiment(tmp_path, experiment):
    """The signal comes when the first file of the experiment is there."""
    work = tmp_path / "tmp"
    work.mkdir()
    program = REAL.format(experiment=experiment, out=str(tmp_path / "new"))
    code, err = signalled(program, signal.SIGTERM, env={**os.environ, "TMPDIR": str(work)})
    assert code == 143
    assert sentence(err) == "companion: terminated; no unfinished file is left"
    assert os.listdir(work) == [] and os.listdir(tmp_path) == ["tmp"]


BARE = """
import os, sys, tempfile
{before}
from companion.__main__ import main
*others, last = {commands!r}
if others:
    import companion.cli, companion.experiments
for sys.argv in others:
    child = os.fork()
    if not child:
        main()
    sys.stderr.write(f"{{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}}\\n")
sys.argv = last
main()
"""


def bare(before, *commands, within=(), **options):
    """Commands in a process of its own after the statements ``before``; the codes of all but the last on stderr.

    ``within`` starts that process.
    """
    text = BARE.format(before=before, commands=[["companion", *map(str, each)] for each in commands])
    command = [*within, sys.executable, "-c", text]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=300, check=False, **options)


def test_interpreted_kernels_are_refused_in_one_line(tmp_path):
    done = bare("", ["run", "p5plus-stream", "--out", tmp_path], env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("companion: NUMBA_DISABLE_JIT is set: ") and os.listdir(tmp_path) == []


@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)])
def test_closed_streams_are_no_files(tmp_path, record, closed):
    """The first file opened would otherwise get the number of standard output, and what is printed."""
    first, target = runs.save(record, tmp_path), tmp_path / "x.csv"
    before = f"import os, sys\nfor number in {closed}: os.close(number)\nsys.stdin = sys.stdout = sys.stderr = None"
    done = bare(before, ["export", first, "--to", target])
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv(target)) == sum(len(case["samples"]) for case in record["measurements"])


def test_a_user_without_name_and_home(tmp_path, record):
    """As in a container; the doctor goes on where a question fails."""
    keep = {name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH", "NUMBA_CACHE_DIR")}
    before = "import pwd; pwd.getpwuid = lambda number: (_ for _ in ()).throw(KeyError(number))"
    done = bare(before, ["run", "--list"], ["show", runs.save(record, tmp_path)], ["doctor"], env=keep)
    assert done.returncode in (0, 1) and done.stderr == "0\n0\n"


def test_no_folder_for_temporary_files_and_a_broken_kernel():
    before = (
        "tempfile._candidate_tempdir_list = lambda: ['/nowhere']\n"
        "sys.modules.update({'kernels.memory': None, 'kernels.processor.smt': None})"
    )
    done = bare(before, ["run", "xc30-storm"], ["doctor"])
    said, code = done.stderr.splitlines()
    assert "No usable temporary directory" in sentence(said) and code == "2"
    assert done.returncode == 1
    assert "MISSING temporary folder" in done.stdout and "CPUs:" in done.stdout


def test_the_doctor_asks_on_where_one_question_fails(call, monkeypatch):
    def broken():
        raise PermissionError(13, "Permission denied", "/proc")

    monkeypatch.setattr(doctor, "CHECKS", (broken, lambda: Finding("X", True, "there")))
    code, out, _ = call("doctor")
    assert code == 0
    assert "absent  broken: cannot be found out" in out
    assert "ok      X: there" in out


def test_export_to_a_full_disk_is_no_success(record, tmp_path):
    """A filesystem of two pages, mounted where nobody else sees it."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare to mount a filesystem")
    record["measurements"][0]["samples"] *= 400
    path = runs.save(record, tmp_path)
    full = tmp_path / "full"
    full.mkdir()
    mount = 'mount -t tmpfs -o size=8k none "$1" || exit 77; shift; "$@"; code=$?; ls "$0" ; exit $code'
    rootless = [] if os.geteuid() == 0 else ["--map-root-user"]
    within = ["unshare", "--mount", *rootless, "sh", "-c", mount, str(full), str(full)]
    done = bare("", *(["export", path, "--to", full / f"x{suffix}"] for suffix in (".csv", ".nc")), within=within)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this system does not let tests mount a filesystem")
    first, code, last = done.stderr.splitlines()
    assert (code, done.returncode) == ("2", 2), done.stdout
    for said in (first, last):
        assert str(full) in sentence(said)
    assert done.stdout == "", "nothing may be left on the full filesystem"


def test_a_terminal_gets_tables_and_a_pipe_lines(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    for terminal, start in ((True, "experiment "), (False, "p5plus-smt ")):
        monkeypatch.setattr("companion.cli.is_terminal", lambda answer=terminal: answer)
        assert status(cli.app, "companion", ["list", "p5plus-smt"]) == 0
        said = capsys.readouterr().out
        assert said.startswith(start) and "Five loops" in said


@pytest.mark.parametrize("shell", ["bash", *(pytest.param(name, marks=WEEKLY) for name in ("zsh", "fish"))])
def test_a_shell_gets_a_script_and_the_names_of_experiments(shell):
    command = Path(sys.executable).with_name("companion")

    def asked(action, **more):
        surroundings = os.environ | {"_COMPANION_COMPLETE": f"{action}_{shell}"} | more
        return subprocess.run([command], env=surroundings, capture_output=True, text=True, check=False).stdout

    assert "_COMPANION_COMPLETE" in asked("source")
    typed = "companion run p5plus-s"
    found = asked("complete", COMP_WORDS=typed, COMP_CWORD="2", _TYPER_COMPLETE_ARGS=typed,
                  _TYPER_COMPLETE_FISH_ACTION="get-args")  # fmt: skip
    assert {"p5plus-smt", "p5plus-stream", "p5plus-sensors"} <= set(re.findall(r"[\w-]+", found))
    assert "nht1-io" not in found
