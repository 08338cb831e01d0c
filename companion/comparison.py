"""Two run records side by side: what differs in how they were made, and the times of cases that are in both.

A case is in both where kernel, problem and threads are the same, whatever its label and the presets of the records.  A
field of the problem that only one of them has counts as its default, since kernels gained fields over time.
"""

import re
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any

from companion import named
from companion.bench import plain
from companion.bench.statistics import ratio
from companion.records import machines

Case = dict[str, Any]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What besides the times differs between two records, a sentence each."""
    found = [f"{word}: {a[word]} and {b[word]}" for word in ("experiment", "preset", "threads") if a[word] != b[word]]
    native = [record.get("kind") != "browser" for record in (a, b)]
    if native[0] != native[1]:
        found.append(" and ".join("native code" if each else "a browser's" for each in native))
    here, there = (record["machine"] for record in (a, b))
    if unlike_in := machines.unlike(here, there):
        found.append(f"machines: {' and '.join(machines.labels([here, there]))} ({', '.join(unlike_in)})")
    versions = [record["machine"]["software"] for record in (a, b)]
    for name in sorted(set(versions[0]) | set(versions[1])):
        if name != "threading_layer" and versions[0].get(name) != versions[1].get(name):
            found.append(f"{name}: {versions[0].get(name)} and {versions[1].get(name)}")
    return found


@lru_cache
def _defaults(kernel: str) -> dict[str, Any]:
    """Defaults of the kernel's problem as records hold them; none for a kernel that this version does not have."""
    if not re.fullmatch(r"kernels(\.[a-z_]+)+", kernel):  # a record names it: nothing else is imported
        return {}
    try:
        problem = getattr(named.kernel(kernel), "Problem", None)
    except ImportError:
        return {}
    if not is_dataclass(problem):
        return {}
    return {field.name: plain(field.default) for field in fields(problem) if field.default is not MISSING}


def _unlike(a: Case, b: Case) -> list[str]:
    """In which fields of the problem, or in what else, two cases differ; empty where their times may be compared."""
    a, b = (case | {"kernel": named.MOVED.get(case["kernel"], case["kernel"])} for case in (a, b))
    found = [f"{word} {a[word]} and {b[word]}" for word in ("kernel", "threads") if a[word] != b[word]]
    problems = [_defaults(case["kernel"]) | case["problem"] for case in (a, b)]
    for name in dict.fromkeys([*problems[0], *problems[1]]):
        values = [problem.get(name, "not known") for problem in problems]
        if values[0] != values[1]:
            found.append(f"{name} {values[0]} and {values[1]}")
    return found


def _partner(case: Case, others: list[Case]) -> Case | None:
    """The case of ``others`` that is the same problem; of several, the one of the same label."""
    like = [other for other in others if not _unlike(case, other)]
    return next((other for other in like if other["label"] == case["label"]), like[0] if like else None)


def shared(a: dict[str, Any], b: dict[str, Any]) -> tuple[list[tuple[Case, Case]], list[Case], list[Case]]:
    """Pairs of cases of two records that are one problem, and the cases of each that are in it alone."""
    pairs, alone, others = [], [], list(b["measurements"])
    for case in a["measurements"]:
        partner = _partner(case, others)
        if partner is None:
            alone.append(case)
        else:
            others.remove(partner)
            pairs.append((case, partner))
    return pairs, alone, others


def _line(case: Case, partner: Case) -> str:
    doubt = sorted({*case["flags"], *partner["flags"]})
    label = case["label"] if case["label"] == partner["label"] else f"{case['label']} = {partner['label']}"
    return f"{label}: {ratio(case['samples'], partner['samples'])}" + (f"  [{', '.join(doubt)}]" if doubt else "")


def lines(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """A line for each case of both records: times of ``b`` over those of ``a``; then what was not compared, and why.

    ``ValueError`` where no case is in both; says in which fields those of one label differ.
    """
    pairs, alone, others = shared(a, b)
    labels = {other["label"]: other for other in others}
    reasons = [
        f"{case['label']}: not compared, {'; '.join(_unlike(case, labels[case['label']]))}"
        for case in alone
        if case["label"] in labels
    ]
    if not pairs:
        why = f": {reasons[0]}" if reasons else ""
        raise ValueError(f"the two records have no case in common, so there is nothing to compare{why}")
    left = len(alone) + len(others) - 2 * len(reasons)
    single = [f"{left} case(s) are in one record only"] if left else []
    return [*(_line(*pair) for pair in pairs), *reasons, *single]
