"""The page of machines: what each is, and what was measured on it."""

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
    measured = about["cpu"].get("measured_hz")
    return {
        "processor": about["cpu"]["model"],
        "LLVM's name": known["target"],
        "family, model, stepping": ", ".join(map(str, signature)) if signature else None,
        "nominal clock [GHz]": known["nominal clock"],
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
