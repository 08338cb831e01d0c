"""The rule of data/runs/README.md, held by every committed run record."""

import pytest

from companion.records import runs

#: Samples of a case that a committed record has at least, or it says why not.
FEWEST = 3
#: Records made before there was a rule; they go when they are measured again, and nothing enters.
KNOWN_OFFENDERS = {
    "nht1-io_paper_t2_20261121T020135Z.json",
    "nht1-overlap_paper_t1_20261121T022110Z.json",
    "p5plus-bandwidth_paper_t2_20261121T021927Z.json",
    "p5plus-latency_paper_t2_20261121T015724Z.json",
    "xc30-aliasing_paper_t2_20261121T052023Z.json",
    "xc30-cases_paper_t2_20261121T051249Z.json",
}


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
    assert bool(offences(runs.read(path))) == (path.name in KNOWN_OFFENDERS), offences(runs.read(path))


def test_known_offenders_are_committed():
    assert {path.name for path in runs.COMMITTED.glob("*.json")} >= KNOWN_OFFENDERS


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
