"""Two run records side by side: what differs in how they were made, and the times of cases that are in both.

A case is in both where kernel, problem and threads are the same, whatever its label and the presets of the records.  A
field of the problem that only one of them has counts as its default, since kernels gained fields over time.
"""

import importlib
import re
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any

from companion.bench import plain
from companion.bench.statistics import ratio
from companion.records import machines

Case = dict[str, Any]
#: Kernels that have moved: how older records name them, and where they are.
MOVED = {
    "kernels.peak": "kernels.processor.peak",
    "kernels.smt": "kernels.processor.smt",
    "kernels.mpi.application": "kernels.files.ranks.application",
    "kernels.mpi.bt": "kernels.bt.ranks",
    "kernels.mpi.shallow_water": "kernels.shallow_water.ranks",
    "kernels.mpi.transform": "kernels.spectral.ranks",
    "kernels.mpi.transposition": "kernels.mpi.moves",
}


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What besides the times differs between two records, a sentence each."""
    words = ("experiment", "preset", "threads")
    found = [f"{word}: {a[word]} and {b[word]}" for word in words if a[word] != b[word]]
    kinds = ["a browser's" if record.get("kind") == "browser" else "native code" for record in (a, b)]
    if kinds[0] != kinds[1]:
        found.append(" and ".join(kinds))
    here, there = (record["machine"] for record in (a, b))
    if unlike_in := machines.unlike(here, there):
        found.append(f"machines: {machines.label(here)} and {machines.label(there)} ({', '.join(unlike_in)})")
    old, new = here["software"], there["software"]
    for name in sorted(({*old} | {*new}) - {"threading_layer"}):
        if old.get(name) != new.get(name):
            found.append(f"{name}: {old.get(name)} and {new.get(name)}")
    return found


@lru_cache
def _defaults(kernel: str) -> dict[str, Any]:
    """Defaults of the kernel's problem as records hold them; none for a kernel that this version does not have."""
    if not re.fullmatch(r"kernels(\.[a-z_]+)+", kernel):  # a record names it: nothing else is imported
        return {}
    try:
        problem = getattr(importlib.import_module(MOVED.get(kernel, kernel)), "Problem", None)
    except ImportError:
        return {}
    if not is_dataclass(problem):
        return {}
    return {field.name: plain(field.default) for field in fields(problem) if field.default is not MISSING}


def _unlike(a: Case, b: Case) -> list[str]:
    """In which fields of the problem, or in what else, two cases differ; empty where their times may be compared."""
    sides = []
    for case in (a, b):
        kernel = MOVED.get(case["kernel"], case["kernel"])
        sides.append({"kernel": kernel, "threads": case["threads"]} | _defaults(kernel) | case["problem"])
    one, other = sides
    return [
        f"{name} {one.get(name, 'not known')} and {other.get(name, 'not known')}"
        for name in dict.fromkeys([*one, *other])
        if name not in one or name not in other or one[name] != other[name]
    ]


def lines(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """A line for each case of both records: times of ``b`` over those of ``a``; then what was not compared, and why.

    ``ValueError`` where no case is in both; says in which fields those of one label differ.
    """
    others, compared, alone = list(b["measurements"]), [], []
    for case in a["measurements"]:
        like = sorted(
            (each for each in others if not _unlike(case, each)), key=lambda each: each["label"] != case["label"]
        )
        if not like:
            alone.append(case)
            continue
        others.remove(partner := like[0])
        doubt = ", ".join(sorted({*case["flags"], *partner["flags"]}))
        label = case["label"] if case["label"] == partner["label"] else f"{case['label']} = {partner['label']}"
        compared.append(f"{label}: {ratio(case['samples'], partner['samples'])}" + (f"  [{doubt}]" if doubt else ""))
    labels = {other["label"]: other for other in others}
    reasons = [
        f"{case['label']}: not compared, {'; '.join(_unlike(case, labels[case['label']]))}"
        for case in alone
        if case["label"] in labels
    ]
    if not compared:
        why = f": {reasons[0]}" if reasons else ""
        raise ValueError(f"the two records have no case in common, so there is nothing to compare{why}")
    left = len(alone) + len(others) - 2 * len(reasons)
    return [*compared, *reasons, *([f"{left} case(s) are in one record only"] if left else [])]
