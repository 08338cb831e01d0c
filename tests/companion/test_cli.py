"""The command line: exit codes, one sentence on stderr, and no file left behind."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

import pytest

from supercomputers_rerun.companion import comparison, experiments, host
from supercomputers_rerun.companion.common import plural
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
    lines = out.splitlines()
    assert lines[0] == "Sums of whole numbers (toy-sum; T1 of toy)"
    assert "preset quick" in lines[1] and plural(host.usable_cpus(), "thread") in lines[1]
    assert lines[3].split()[0] == "median" and [line[:6] for line in lines[4:6]] == ["n = 10", "n = 20"]
    assert f"record  {path}" in lines and lines[-1].startswith("next    companion list")


def test_a_record_counts_its_folders_and_names_none(call, toy_experiment, tmp_path):
    before, options = tempfile.gettempdir(), []
    for name in ("first-one", "second"):
        (tmp_path / name).mkdir()
        options += ["--folder", tmp_path / name]
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "new", *options)
    (path,) = (tmp_path / "new").iterdir()
    about = runs.read(path)["machine"]["filesystem"]
    assert (code, err, about["folders"], about["source"]) == (0, "", 2, "TMPDIR")
    assert "first-one" not in path.read_text() and tempfile.gettempdir() == before
    code, _, err = call("run", "toy-sum", "--folder", tmp_path / "none")
    assert code and "there is no such folder" in sentence(err)


def test_threads_have_one_default(call, toy_experiment, tmp_path, monkeypatch):
    (said,) = {
        line.strip()
        for name in ("run", "bench")
        for line in call(name, "--help")[1].splitlines()
        if "threads; " in line
    }
    assert said.endswith("threads; without it, the experiment's own")
    call("run", "toy-sum", "--out", tmp_path)
    call("bench", "toy-sum", "--out", tmp_path / "bench")
    (one,), (other,) = tmp_path.glob("*.json"), tmp_path.glob("bench/*.json")
    assert runs.read(one)["threads"] == runs.read(other)["threads"] == host.usable_cpus()
    monkeypatch.setattr(toy_experiment, "threads", 1)
    call("bench", "toy-sum", "--out", tmp_path / "one")
    (alone,) = tmp_path.glob("one/*.json")
    assert runs.read(alone)["threads"] == 1


def test_list_of_one_name_prints_the_way_to_its_code(call):
    _, out, _ = call("list", "p5plus-bandwidth")
    lines = [line.split() for line in out.splitlines()[2:]]
    assert [line[0] for line in lines] == ["object", "figure", "kernel"] and "memory.py:" in lines[0][1]
    assert lines[1][2] == "read_rates" and lines[2][1] == "supercomputers_rerun.kernels.memory.stride"


def test_list_names_experiments_under_their_reports(call):
    code, out, _ = call("list", "p5plus-smt", "nht1-io")
    assert code == 0 and "Five loops" in out
    led = [line.split()[0] for line in out.splitlines() if line and not line.startswith("    ")]
    assert led == ["p5plus:", "p5plus-smt", "nht1:", "nht1-io"]
    (entry,) = json.loads(call("list", "p5plus-smt", "--json")[1])
    assert entry["id"] == "p5plus-smt" and entry["paper_seconds"] > entry["quick_seconds"] > 0
    assert call("list", "p5plus-smt", "--csv")[1].startswith("id,document,item,title,quick_seconds,")


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
        (["--preset"], "argument -p/--preset: expected one argument; see --help"),
        (["absent"], "experiment = 'absent' is unknown; companion list shows all"),
        (["p5plus-smtt"], "experiment = 'p5plus-smtt' is unknown; did you mean p5plus-smt?"),
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
    command = f'"{sys.executable}" -m supercomputers_rerun.companion run xc30-jitter --out "{tmp_path}" {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (path,) = tmp_path.iterdir()
    assert runs.read(path)["experiment"] == "xc30-jitter"


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
    assert [line.split("  minima")[0].strip() for line in out.splitlines()[1:]] == ["n = 10", "n = 20"]
    assert out.count("minima 2.000, medians 2.000") == 2
    rows = json.loads(call("compare", *two_records[:2], "--json")[1])
    assert [row["medians"] for row in rows] == [2.0, 2.0] and rows[0]["case"] == "n = 10"
    assert call("compare", *two_records[:2], "--csv")[1].startswith("experiment,case,minima,medians,low,high,doubts\n")


def test_compare_takes_folders(call, two_records, tmp_path):
    for place, path in zip("ab", two_records[:2], strict=True):
        (tmp_path / place).mkdir()
        path.rename(tmp_path / place / path.name)
    code, out, _ = call("compare", tmp_path / "a", tmp_path / "b")
    assert code == 0 and out.startswith("toy-sum: ") and out.count("minima 2.000, medians 2.000") == 2
    assert "no experiment in common" in sentence(call("compare", tmp_path / "a", tmp_path)[2])


def test_compare_draws_every_day_of_a_folder_over_the_stored_record(call, two_records, tmp_path):
    stored, later, slower = two_records
    (tmp_path / "stored").mkdir()
    stored.rename(tmp_path / "stored" / stored.name)
    other = slower | {"date": "2031-02-01T00:00:00Z", "machine": json.loads(json.dumps(slower["machine"]))}
    other["machine"]["cpu"]["model"] = "another"
    runs.save(other, later.parent)  # which has no stored record of its processor
    (day,) = comparison.trend(tmp_path / "stored", later.parent)
    assert (day.experiment, day.date, day.times) == ("toy-sum", slower["date"], 2.0)
    code, _, _ = call("compare", tmp_path / "stored", later.parent, "--figure", tmp_path / "trend.svg")
    assert code == 0 and (tmp_path / "trend.svg").read_text().count("<use ") > 50  # letters and ticks
    assert comparison.drawn([day]).words.title == "The slowest took 2.00 times as long as stored: toy-sum"


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
    assert "n = 10  " not in out and "2 cases in one record only" in out
    assert "n = 20  minima 2.000" in out  # a label is no part of what was measured


def test_compare_finds_the_same_case_in_an_older_record(call, record, tmp_path):
    """It lacks a field that the problem has gained."""
    paths = []
    for year, fields in ((2033, {}), (2034, {"pages": "default"})):
        for case in record["measurements"]:
            case["problem"] |= fields
        paths.append(runs.save(record | {"date": f"{year}-01-01T00:00:00Z"}, tmp_path))
    code, out, _ = call("compare", *paths)
    assert code == 0 and out.count("minima 1.000") == out.count("[only one record names pages]") == 2
    assert out.count("in brackets what makes a ratio doubtful") == 1


def test_compare_of_nothing_in_common(call, two_records, tmp_path):
    other = two_records[2]
    for case in other["measurements"]:
        case["problem"]["n"] += 1
    other["date"] = "2032-01-01T00:00:00Z"
    other["preset"] = "paper"
    code, _, err = call("compare", two_records[0], runs.save(other, tmp_path))
    assert code == 2 and "no case in common" in sentence(err)
    assert "has toy-sum (quick, 1 thread), " in err and "has toy-sum (paper, 1 thread); companion run toy-sum" in err


def test_compare_of_folders_takes_the_preset_that_both_have(call, two_records, tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    for folder, record in (("a", two_records[0]), ("b", two_records[1])):
        record.rename(tmp_path / folder / record.name)
    newer = two_records[2] | {"preset": "paper", "date": "2035-01-01T00:00:00Z"}
    runs.save(newer, tmp_path / "b")
    code, out, _ = call("compare", tmp_path / "a", tmp_path / "b")
    assert code == 0 and "preset" not in out and out.count("minima 2.000") == 2


def test_verify_prints_diagonal_and_checks_and_a_wrong_solution_has_its_own_code(call, tmp_path):
    with solution_writer(tmp_path / "wrong", 12, 60, 5) as writer:
        for _ in range(12):
            writer.write(lambda u: u.fill(1.0))
    code, out, err = call("verify", tmp_path / "wrong")
    assert code == 3 and "mean error norm" in sentence(err)
    assert len(out.splitlines()) == 12 * 12 * 5 + 6  # of 12 dumps 12 points; checksums and five norms
    assert len(call("verify", tmp_path / "wrong", "--no-diagonal")[1].splitlines()) == 6


def test_a_solution_file_that_is_not_there_is_one_sentence(call, tmp_path):
    code, _, err = call("verify", tmp_path / "nosuch")
    assert code == 2 and "nosuch cannot be read: there is no such file" in sentence(err)


def completed(script, *words):
    """What bash offers for the last of these words."""
    ask = f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; _companion"
    ask += "; echo ${COMPREPLY[@]}"
    return subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_experiments_and_presets(call):
    code, script, _ = call("completion", "bash")
    assert code == 0
    assert completed(script, "companion", "co") == ["compare", "contribute", "completion"]
    assert completed(script, "companion", "run", "p5plus-la") == ["p5plus-latency"]
    assert completed(script, "companion", "run", "p5plus-latency", "--pre") == ["--preset"]
    assert completed(script, "companion", "run", "p5plus-latency", "--preset", "") == list(experiments.PRESETS)
    assert completed(script, "companion", "completion", "z") == ["zsh"]
    assert call("completion", "zsh")[1].startswith("autoload -U bashcompinit")


@pytest.mark.parametrize(("required", "code"), [(True, 1), (False, 0)])
def test_doctor_fails_only_on_what_is_required(call, monkeypatch, required, code):
    monkeypatch.setattr(host, "CHECKS", (lambda: Finding("X", False, "gone", "fetch it", required),))
    found, out, _ = call("doctor")
    assert found == code and "fetch it" in out
