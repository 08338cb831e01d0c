"""Two run records side by side: what differs in how they were made, and the times of cases that are in both.

A case is in both where kernel, problem and threads are the same, whatever its label and the presets of the records.  A
field of the problem that only one of them has counts as its default, since kernels gained fields over time.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from supercomputers_rerun.companion.bench import ratio
from supercomputers_rerun.companion.records import runs

Case = dict[str, Any]
#: Kernels that have moved: how older records name them, and where they are.
MOVED = {
    "kernels.peak": "kernels.processor.peak",
    "kernels.smt": "kernels.processor.smt",
    "kernels.mpi.application": "kernels.files.ranks",
    "kernels.files.ranks.application": "kernels.files.ranks",
    "kernels.mpi.bt": "kernels.bt.ranks",
    "kernels.mpi.shallow_water": "kernels.shallow_water.ranks",
    "kernels.mpi.transform": "kernels.spectral.ranks",
}


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What besides the times differs between two records, a sentence each."""
    words = ("experiment", "preset", "threads")
    found = [f"{word}: {a[word]} and {b[word]}" for word in words if a[word] != b[word]]
    kinds = ["a browser's" if record.get("kind") == "browser" else "native code" for record in (a, b)]
    if kinds[0] != kinds[1]:
        found.append(" and ".join(kinds))
    here, there = (record["machine"] for record in (a, b))
    if unlike_in := runs.unlike(here, there):
        found.append(f"machines: {runs.label(here)} and {runs.label(there)} ({', '.join(unlike_in)})")
    old, new = here["software"], there["software"]
    for name in sorted(({*old} | {*new}) - {"threading_layer"}):  # which records of old have
        if old.get(name) != new.get(name):
            found.append(f"{name}: {old.get(name)} and {new.get(name)}")
    return found


def _asked(case: Case) -> dict[str, Any]:
    """What was measured: the fields of the problem, its kernel and the threads."""
    return {"kernel": MOVED.get(case["kernel"], case["kernel"]), "threads": case["threads"]} | case["problem"]


def _agree(a: Case, b: Case) -> bool:
    """Whether two cases are alike in every field of the problem that both know, and in all else that was asked."""
    one, other = _asked(a), _asked(b)
    return all(one[name] == other[name] for name in one.keys() & other.keys())


def _alone(a: Case, b: Case) -> list[str]:
    """Fields of the problem that one of two cases does not name: kernels gain and lose fields over time."""
    return sorted(_asked(a).keys() ^ _asked(b).keys())


def lines(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """A line for each case of both records: times of ``b`` over those of ``a``; then how many are in one only.

    ``ValueError`` where no case is in both.
    """
    others, found = list(b["measurements"]), []
    for case in a["measurements"]:
        like = [each for each in others if _agree(case, each)]
        if not like:
            continue
        partner = min(like, key=lambda each: (len(_alone(case, each)), each["label"] != case["label"]))
        others.remove(partner)
        unsaid = [f"only one record names {name}" for name in _alone(case, partner)]
        doubt = ", ".join(sorted({*case["flags"], *partner["flags"], *unsaid}))
        times = ratio(case["samples"], partner["samples"])
        found.append(f"{case['label']}: {times}" + (f"  [{doubt}]" if doubt else ""))
    if not found:
        raise ValueError("the two records have no case in common, so there is nothing to compare")
    left = len(a["measurements"]) + len(others) - len(found)
    return [*found, *([f"{left} case(s) are in one record only"] if left else [])]


def compared(a: Path, b: Path) -> Iterator[list[str]]:
    """What differs and the times of two records; of two folders, of the newest records of every experiment in both.

    ``ValueError`` where nothing is in both.
    """
    sides = [sorted(map(runs.read, runs.files([path])), key=lambda record: record["date"]) for path in (a, b)]
    first, second = ({record["experiment"]: record for record in side} for side in sides)
    found = [(name, first[name], second[name]) for name in sorted(first.keys() & second.keys())]
    if not a.is_dir() and not b.is_dir():
        found = [("", sides[0][0], sides[1][0])]
    if not found:
        raise ValueError(f"{a} and {b} have no experiment in common, so there is nothing to compare")
    for name, old, new in found:
        yield [*filter(None, [name]), *(f"differs: {each}" for each in differences(old, new)), *lines(old, new)]
