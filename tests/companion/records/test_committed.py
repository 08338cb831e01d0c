"""The rule of data/runs/README.md, held by every committed run record."""

import pytest

from companion.records import runs

#: Samples of a case that a committed record has at least, or it says why not.
FEWEST = 3


def offences(record) -> list[str]:
    """What keeps a record out of data/runs."""
    found = []
    provenance = record["machine"].get("provenance") or {}
    if provenance.get("dirty") is not False or not provenance.get("commit"):
        found.append("it does not come from a clean checkout")
    loaded = [case["label"] for case in record["measurements"] if "load" in case["flags"]]
    if loaded:
        found.append(f"others kept CPUs busy in {len(loaded)} cases, {loaded[0]!r} first")
    few = [case["label"] for case in record["measurements"] if len(case["samples"]) < FEWEST]
    if few and not record.get("few_samples"):
        found.append(f"{len(few)} cases have fewer than {FEWEST} samples and it does not say why, {few[0]!r} first")
    return found


@pytest.mark.parametrize("path", sorted(runs.COMMITTED.glob("*.json")), ids=lambda path: path.stem)
def test_a_committed_record_keeps_the_rule(path):
    assert offences(runs.read(path)) == []


def test_offences_are_noticed(record):
    record["machine"]["provenance"] = {"commit": "c0ffee", "dirty": False, "lock_sha256": None}
    for case in record["measurements"]:
        case["flags"] = {}
    assert offences(record) == []
    first = record["measurements"][0]
    first["flags"], first["samples"] = {"load": "others were busy"}, [1.0, 2.0]
    record["machine"]["provenance"]["dirty"] = True
    assert len(offences(record)) == 3
    record["few_samples"] = "one forecast takes a day"
    assert len(offences(record)) == 2
    record["machine"]["provenance"] = None
    assert "clean" in offences(record)[0]
