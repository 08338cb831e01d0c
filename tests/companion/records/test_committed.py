"""The rule of data/runs and data/peers, held by every committed record."""

import importlib
import json
import subprocess
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from supercomputers_rerun import peers
from supercomputers_rerun.companion.records import runs

ROOT = Path(__file__).resolve().parents[3]


def committed(folder):
    return [pytest.param(path, id=path.stem) for path in sorted(folder.glob("*.json"))]


@cache
def history():
    """Commits that HEAD comes from; a reason to skip where this checkout does not have them."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, so the history of its commits is unknown")
    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("this checkout is shallow, so the history of its commits is not there")
    return frozenset(git("rev-list", "HEAD").split())


def from_here(record):
    """Whether a commit of this history made a record, which names no person and no path."""
    text = json.dumps(record)
    assert not any(words in text for words in ("/home/", "/root", "/tmp/"))
    return record["machine"]["provenance"]["commit"] in history()


@pytest.mark.parametrize("path", [*committed(runs.COMMITTED), *committed(runs.PEERS)])
def test_a_committed_record_keeps_the_rule(path):
    record = runs.read(path)
    assert runs.unfit(record) == [] and path.stat().st_size < 1_000_000
    assert from_here(record)
    assert (record.get("kind") == "peer") == (path.parent == runs.PEERS)
    if path.parent == runs.PEERS:
        assert record["item"] in peers.modules()
        sides = {side["parameters"]["side"] for side in record["measurements"]} - {"ours"}
        assert all(side.startswith(tuple(record["software"])) for side in sides)


def rebuilt(kind, value):
    """A problem, or a field of one, from its JSON, by its annotation: objects are dataclasses, lists are tuples."""
    if isinstance(value, dict):
        kinds = get_args(kind) or (kind,)  # a job runs one of several programs
        fitting = [each for each in kinds if value.keys() <= {field.name for field in fields(each)}]
        assert fitting, f"none of {kinds} has all of {', '.join(value)}"
        given = {field.name: field.type for field in fields(fitting[0]) if field.init and field.name in value}
        return fitting[0](**{name: rebuilt(its, value[name]) for name, its in given.items()})
    if isinstance(value, list) and hasattr(kind, "_fields"):
        return kind(*map(rebuilt, kind.__annotations__.values(), value))
    if isinstance(value, list):
        return tuple(rebuilt(get_args(kind)[0], each) for each in value)
    return value


@pytest.mark.parametrize("path", committed(runs.COMMITTED))
def test_todays_kernels_take_every_problem_of_a_committed_record(path):
    for case in runs.read(path)["measurements"]:
        name = case["kernel"].partition(",")[0]  # what follows says how it was changed
        rebuilt(importlib.import_module(f"supercomputers_rerun.{name}").Problem, case["problem"])


def test_what_does_not_belong_to_the_book_is_noticed(record):
    record["machine"]["provenance"] = {"commit": "c0ffee1", "dirty": False, "lock_sha256": None}
    for case in record["measurements"]:
        case["flags"], case["other_load"] = {}, 0.25
    assert runs.unfit(record) == []
    first = record["measurements"][0]
    first["other_load"], first["samples"] = 0.26, [1.0, 2.0]
    record["machine"]["provenance"]["dirty"] = True
    assert len(runs.unfit(record)) == 3
    record["few_samples"] = "one forecast takes a day"
    assert len(runs.unfit(record)) == 2
    first["other_load"], first["flags"] = None, {"load": "others were busy"}
    reasons = " ".join(runs.unfit(record))
    assert "unknown in 1 of 2 cases" in reasons and "more than 0.25 CPUs busy in 1 of 2 cases" in reasons
    record["machine"]["provenance"] = {"commit": None, "dirty": None, "lock_sha256": None}
    assert "clean" in runs.unfit(record)[0]


def test_what_was_measured_only_in_outputs_is_noticed(record):
    """Two cases of three samples, one with two observed times: eight."""
    record["measurements"][0]["observed"] = {"wait": [1.0, 2.0]}

    def times(count):
        record["outputs"]["account_clock"] = {"value": [[1.0] * count] * 2, "units": "s", "dims": ["row", "round"]}
        return [reason for reason in runs.unfit(record) if "what is measured is a case" in reason]

    assert times(4) == []
    assert times(5) == ["its outputs hold 10 times of rounds and its cases 8: what is measured is a case"]


def test_what_does_not_belong_to_the_book_is_put_aside(record, monkeypatch, tmp_path):
    monkeypatch.setattr(runs, "COMMITTED", tmp_path / "book")
    monkeypatch.setattr(runs, "ASIDE", tmp_path / "aside")
    record["machine"]["provenance"] = {"commit": "c0ffee1", "dirty": False, "lock_sha256": None}
    for case in record["measurements"]:
        case["flags"], case["other_load"] = {}, 0.0
    assert runs.deposit(record, tmp_path / "book") == (tmp_path / "book" / runs.file_name(record), [])
    record["measurements"][0]["other_load"] = 0.3
    path, (reason,) = runs.deposit(record, tmp_path / "book")
    assert path.parent == tmp_path / "aside" and "'n = 10' first" in reason
    assert runs.deposit(record, tmp_path / "else") == (tmp_path / "else" / path.name, [])
