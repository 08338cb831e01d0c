"""What a contributor is told of a record, and where it goes."""

import copy

import pytest

from supercomputers_rerun.companion import contribute, host
from supercomputers_rerun.companion.records import runs

pytestmark = pytest.mark.skipif(host.git("rev-parse", "HEAD") is None, reason="commits are looked up in a clone")


@pytest.fixture
def committed():
    """A record of the book, as JSON, from a processor whose ceiling is known."""
    path = max(runs.COMMITTED.glob("p5plus-smt_*.json"))
    return runs.read(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record, case: None, ""),
        (lambda record, case: case["checks_after"].clear(), "was never checked"),
        (lambda record, case: case["flags"].update({"rate over peak": "x"}), "can do"),
        (lambda record, case: case.update(other_load=0.3), "more than 0.25"),
        (lambda record, case: case.update(other_load=None), "unknown"),
        (lambda record, case: case.update(samples=case["samples"][:2]), "samples"),
        (lambda record, case: record.update(preset="quick"), "the preset quick"),
        (lambda record, case: record["machine"]["provenance"].update(dirty=True), "clean checkout"),
        (lambda record, case: record["machine"]["provenance"].update(commit="0" * 40), "not in the history"),
        (lambda record, case: record["machine"]["cpu"].update(model=None), "does not name the processor"),
    ],
)
def test_what_is_wrong_is_named(committed, change, words):
    record = copy.deepcopy(committed)
    change(record, record["measurements"][0])
    said = contribute.reasons(record)
    assert len(said) == bool(words) and words in "".join(said)


def test_a_record_of_a_new_machine_is_written_once_and_stays(committed, tmp_path):
    committed["machine"]["cpu"]["model"] = "Slowpoke 1000"
    committed["date"] = "2099-01-01T00:00:00Z"
    path = contribute.write(committed, tmp_path)
    before = path.read_bytes()
    committed["seed"] += 1
    assert contribute.write(committed, tmp_path) == path and path.read_bytes() == before
    assert [each.label for each in runs.machines(tmp_path)] == ["Slowpoke 1000"]


def test_the_command_says_where_records_go_and_what_is_none(call, committed, tmp_path):
    good = max(runs.COMMITTED.glob("p5plus-smt_*.json"))
    code, out, _ = call("contribute", good)
    assert code == 0 and f"goes to data/runs/{good.name}" in out
    (tmp_path / "cut.json").write_text("{")
    committed["preset"] = "quick"
    runs.save(committed, tmp_path)
    code, out, _ = call("contribute", tmp_path)
    assert code == 1 and out.count("NO  ") == 2 and "goes to" not in out
