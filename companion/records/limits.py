"""What a host's measured ceilings leave to a row of a peer record: the least time, and what sets it.

A ceiling is the best that the host has shown, in any of its records: the same host gives half of it on another day.

A row's operations take at least their number over the measured peak, its bytes at least their number over the
measured bandwidth of the smallest level that holds what the row walks over.  The larger of the two is the limit; its
share of our fastest time says how much is left.  Bytes are those that the algorithm must move once, so a share far
below 1 may have its reason in what the count leaves out: divisions, latency, a level between.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class _Limit(NamedTuple):
    """The limit of a row."""

    name: str  # "flops", or the level whose bandwidth it is
    seconds: float  # the least time
    share: float  # of our fastest time


def best(ceilings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """By number of threads, the best of several records' ``ceilings`` of one host: peak, and rate of each level."""
    found: dict[str, Any] = {}
    for threads, ceiling in (item for each in ceilings for item in each.items()):
        known = found.get(threads)
        if known is None:
            found[threads] = {"flops": ceiling["flops"], "levels": [dict(level) for level in ceiling["levels"]]}
            continue
        known["flops"] = max(known["flops"], ceiling["flops"])
        rates = {level["level"]: level["rate"] for level in ceiling["levels"]}
        for level in known["levels"]:
            level["rate"] = max(level["rate"], rates.get(level["level"], 0.0))
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


def of_hosts(measured: Sequence[tuple[str, str, Mapping[str, Any]]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The best ceilings of each host and vectors, from those of every record with both; bandwidths are the host's."""
    found = {}
    for host, vectors, _ in measured:
        rates = best(each for where, _, each in measured if where == host)
        own = best(each for where, built, each in measured if (where, built) == (host, vectors))
        found[host, vectors] = {
            threads: {**ceiling, "levels": rates[threads]["levels"]} for threads, ceiling in own.items()
        }
    return found


def level(ceiling: Mapping[str, Any], size: int) -> Mapping[str, Any]:
    """The smallest level of one number of threads that holds ``size`` bytes; the last one holds everything."""
    return next(each for each in ceiling["levels"] if each["holds"] is None or size <= each["holds"])


def limit(row: Mapping[str, Any], ceilings: Mapping[str, Any]) -> _Limit | None:
    """The limit of a row of a peer record; None where its work is not counted, or its threads have no ceiling.

    ``ceilings`` are those of the host, by number of threads as text (see :func:`best`).
    """
    work, ceiling = row.get("work"), ceilings.get(str(row["threads"]))
    if work is None or ceiling is None:
        return None
    where = level(ceiling, work["size"])
    least = {"flops": work["flops"] / ceiling["flops"], where["level"]: work["bytes"] / where["rate"]}
    name = max(least, key=least.__getitem__)
    return _Limit(name, least[name], least[name] / row["fastest"]) if least[name] > 0 else None
