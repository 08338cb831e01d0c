"""The page of machines: what each is, what was measured on it, and by which programs."""

from pathlib import Path
from typing import Any

import pandas as pd

from supercomputers_rerun.companion.common import plural, size
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.records import runs


def described(about: dict[str, Any]) -> dict[str, Any]:
    """What a record says of its machine, in words; unknown is None."""
    known, signature = runs.fingerprint(about), about["cpu"].get("signature")
    caches = [cache for cache in about["caches"] if cache["type"] != "instruction" and cache["bytes"]]
    nominal, measured = known["nominal clock"], about["cpu"].get("measured_hz")
    if nominal and measured and measured < 0.5e9 * nominal:  # other processes ran meanwhile
        measured = None
    return {
        "processor": about["cpu"]["model"],
        "LLVM's name": known["target"],
        "family, model, stepping": ", ".join(map(str, signature)) if signature else None,
        "nominal clock [GHz]": nominal,
        "measured clock [GHz]": None if measured is None else round(measured / 1e9, 2),
        "usable CPUs": known["usable CPUs"],
        "threads a core": known["threads a core"],
        "caches": ", ".join(f"L{cache['level']} {size(cache['bytes'])}" for cache in caches),
        "memory [GiB]": known["memory"],
        "transparent huge pages": known["transparent huge pages"],
        "virtual": {True: "yes", False: "no"}.get(known["virtual"]),
    }


def machines_table(folder: Path = runs.COMMITTED) -> Shown:
    """One row a machine: its fingerprint, and how much was measured on it in which days."""
    rows = []
    for each in runs.machines(folder):
        first, last = each.dates[0], each.dates[-1]
        measured = {"experiments": len(each.experiments), "records": len(each.dates), "first": first, "last": last}
        rows.append({"machine": each.label} | described(each.description) | measured)
    caption = f"{plural(len(rows), 'machine')}. Sentences of the chapters speak of the first that has a record"
    return table(pd.DataFrame(rows), caption=caption, index=False, name="machines")


def programs_table(folder: Path = runs.COMMITTED) -> Shown:
    """One row a machine and commit of the program: how many of the machine's records it made, and in which days."""
    found = runs.machines(folder)
    rows = []
    for each in found:
        for commit in dict.fromkeys(each.commits):
            days = [day for day, made in zip(each.dates, each.commits, strict=True) if made == commit]
            about = {"commit": commit[:8], "records": len(days), "first": days[0], "last": days[-1]}
            rows.append({"machine": each.label} | about)
    caption = "The programs of the stored runs, by commit."
    older = [each for each in found[1:] if each.dates[-1] < found[0].dates[0]]
    names = sorted(each.label.partition(" (")[0] for each in older if not {*each.commits} & {*found[0].commits})
    if names:
        said, here = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])), found[0].label.partition(" (")[0]
        caption += f" Earlier ones measured {said}, so a difference from {here} may be the program's."
    return table(pd.DataFrame(rows), caption=caption, index=False, name="programs", over="machine")
