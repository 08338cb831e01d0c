"""The command line: exit codes, one sentence on stderr, and no file left behind."""

import importlib
import json
import os
import subprocess
import sys

import pytest

from supercomputers_rerun.companion import comparison, experiments, host
from supercomputers_rerun.companion.host import Finding
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.files.ways import solution_writer


def sentence(stderr):
    """The only line on stderr."""
    (line,) = stderr.strip().splitlines()
    assert line.startswith("companion: ")
    return line


def test_run_writes_one_record(call, toy_experiment, tmp_path):
    code, out, err = call("run", "toy-sum", "--out", tmp_path / "new", "--seed", 3)
    assert (code, err) == (0, "")
    (path,) = (tmp_path / "new").iterdir()
    assert runs.read(path)["seed"] == 3
    cases, lines = out.splitlines()[:2], out.splitlines()[2:]
    assert [line.partition(": minimum")[0] for line in cases] == ["n = 10", "n = 20"]
    assert [line.split()[0] for line in lines] == ["measured", "median", "report", "ratio", "record"]
    assert lines[0] == "measured  Sums of whole numbers (toy-sum, quick, 1 thread, 2 cases)"
    assert lines[1].startswith("median    n = 10: ") and lines[-1] == f"record    {path}"


def test_list_names_experiments_under_their_reports(call):
    code, out, _ = call("list", "p5plus-smt", "nht1-io")
    assert code == 0 and "Five loops" in out
    assert [line.split()[0] for line in out.splitlines() if line] == ["p5plus:", "p5plus-smt", "nht1:", "nht1-io"]


def test_a_section_that_cannot_be_imported_stops_its_own_experiments(call, monkeypatch):
    monkeypatch.setattr(experiments, "REGISTER", {})
    monkeypatch.setattr(experiments, "BROKEN", {})
    monkeypatch.setattr(experiments.importlib, "import_module", lambda name: 1 / 0)
    experiments._load()
    assert "chapters.p5plus.memory cannot be imported (ZeroDivisionError: " in call("list")[2]
    assert "chapters.p5plus.memory cannot be imported" in sentence(call("run", "p5plus-bandwidth")[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset"], "argument --preset: expected one argument; see --help"),
        (["absent"], "experiment = 'absent' is unknown; companion list shows all"),
        (["p5plus-smtt"], "experiment = 'p5plus-smtt' is unknown; did you mean p5plus-smt"),
        (["toy-sum", "--preset", "huge"], "preset = 'huge' is unknown to toy-sum; choose one of quick, p"),
        (["toy-sum", "--threads", "0"], "threads = 0"),
        (["toy-sum", "--budget", "nan"], "budget = nan"),
        (["toy-sum", "--rounds", "0"], "rounds = 0"),
        (["toy-sum", "--seed", "-1"], "seed = -1 must be a whole number"),
    ],
)
def test_bad_requests_are_one_sentence(call, toy_experiment, toy, tmp_path, arguments, message):
    code, _, err = call("run", *arguments, "--out", tmp_path / "new" / "folder")
    assert code == 2
    assert message in sentence(err)
    assert toy.calls == 0 and list(tmp_path.iterdir()) == []


def test_an_unverified_result_has_its_own_code_and_no_record(call, toy_experiment, toy, tmp_path):
    toy.wrong_from = 1
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "new" / "folder")
    assert code == 3 and "not reported" in sentence(err)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_one_sentence(call, toy_experiment, toy, monkeypatch):
    monkeypatch.setattr(toy, "setup", lambda problem, seed=0: __import__("nowhere"))
    with pytest.raises(ImportError):
        call("run", "toy-sum")  # nobody says how to get it
    monkeypatch.setattr("supercomputers_rerun.companion.common.EXTRAS", {"nowhere": "imaging"})
    code, _, err = call("run", "toy-sum")
    assert code == 1 and "'FILE.whl[imaging]'" in sentence(err)


def test_a_defect_keeps_its_traceback(call, toy_experiment, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(toy, "work", lambda problem, threads: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call("run", "toy-sum", "--out", tmp_path)


def test_ctrl_c_has_its_own_code_and_leaves_nothing(call, toy_experiment, toy, tmp_path, monkeypatch):
    def interrupted(problem, seed=0):
        raise KeyboardInterrupt

    monkeypatch.setattr(toy, "setup", interrupted)
    assert call("run", "toy-sum", "--out", tmp_path / "new") == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_texts_of_others_reach_a_terminal_without_controls(call, record, tmp_path):
    """A label that would clear the screen, turn the direction of writing, or end its line; a file's name that would."""
    record["measurements"][0]["label"] = "n\x1b[2J\u202e\x9b1m = 10"
    record["measurements"][0]["flags"] = {"load": "bell\x07"}
    record["machine"]["cpu"]["model"] = "CPU\x1b]0;title\x07\r"
    record["outputs"]["cases"]["units"] = "s\x1b[0m"
    path = runs.save(record, tmp_path)
    twin = path.rename(tmp_path / "a\x1b[31m.json")
    for arguments in (("show", twin), ("compare", twin, twin), ("contribute", twin), ("show", tmp_path / "b\x1b[31m")):
        _, out, err = call(*arguments)
        assert "\\x1b[" in out + err
        assert not [letter for letter in out + err if not letter.isprintable() and letter not in "\n\t"]


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_take_no_place_of_a_file(closed, tmp_path):
    """Else the record would be the file of number 1, into which other programs print."""
    command = f'"{sys.executable}" -m supercomputers_rerun.companion run xmp1982-banks --out "{tmp_path}" {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (path,) = tmp_path.iterdir()
    assert runs.read(path)["experiment"] == "xmp1982-banks"


def test_code_that_is_not_to_be_compiled_is_refused_in_a_sentence(tmp_path):
    command = [sys.executable, "-m", "supercomputers_rerun.companion", "run", "p5plus-smt", "--out", tmp_path / "new"]
    done = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 1 and "NUMBA_DISABLE_JIT is set" in sentence(done.stderr) and not any(tmp_path.iterdir())


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


def test_compare_takes_folders(call, two_records, tmp_path):
    for place, path in zip("ab", two_records[:2], strict=True):
        (tmp_path / place).mkdir()
        path.rename(tmp_path / place / path.name)
    code, out, _ = call("compare", tmp_path / "a", tmp_path / "b")
    assert code == 0 and out.startswith("toy-sum\n") and out.count("minima 2.000, medians 2.000") == 2
    assert "no experiment in common" in sentence(call("compare", tmp_path / "a", tmp_path)[2])


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
    assert "n = 10: " not in out and "2 case(s) are in one record only" in out
    assert "n = 20: minima 2.000" in out  # a label is no part of what was measured


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
    assert out.count("[only one record names pages]") == 2 * len(more)


def test_kernels_that_moved_are_where_records_are_led():
    for new in comparison.MOVED.values():
        assert importlib.import_module(new).Problem


def test_compare_of_nothing_in_common(call, two_records, tmp_path):
    other = two_records[2]
    for case in other["measurements"]:
        case["problem"]["n"] += 1
    other["date"] = "2032-01-01T00:00:00Z"
    code, _, err = call("compare", two_records[0], runs.save(other, tmp_path))
    assert code == 2 and "no case in common" in sentence(err)


def test_verify_prints_diagonal_and_checks_and_a_wrong_solution_has_its_own_code(call, tmp_path):
    with solution_writer(tmp_path / "wrong", 12, 60, 5) as writer:
        for _ in range(12):
            writer.write(lambda u: u.fill(1.0))
    code, out, err = call("verify", tmp_path / "wrong")
    assert code == 3 and "mean error norm" in sentence(err)
    assert len(out.splitlines()) == 12 * 12 * 5 + 6  # of 12 dumps 12 points; checksums and five norms
    assert len(call("verify", tmp_path / "wrong", "--no-diagonal")[1].splitlines()) == 6


@pytest.mark.parametrize(("required", "code"), [(True, 1), (False, 0)])
def test_doctor_fails_only_on_what_is_required(call, monkeypatch, required, code):
    monkeypatch.setattr(host, "CHECKS", (lambda: Finding("X", False, "gone", "fetch it", required),))
    found, out, _ = call("doctor")
    assert found == code and "fetch it" in out
