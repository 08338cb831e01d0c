"""The page of machines: what each is, what was measured on it, and how repeated runs differ from the first."""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from companion import comparison, experiments, figures
from companion.bench.statistics import Ratio, ratio
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.host.machine import size
from companion.labels import plural
from companion.records import machines, runs


@cache
def _records(folder: Path) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Label of the machine and record, of every record of a folder, by date."""
    found = sorted((runs.read(path) for path in folder.glob("*.json")), key=lambda record: record["date"])
    return tuple((machines.label(record["machine"], folder), record) for record in found)


def _row(machine: machines.Machine, records: list[dict[str, Any]]) -> dict[str, Any]:
    about = machine.description
    known, signature = machines.fingerprint(about), about["cpu"].get("signature")
    caches = [cache for cache in about["caches"] if cache["type"] != "instruction" and cache["bytes"]]
    measured = about["cpu"].get("measured_hz")
    return {
        "machine": machine.label,
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
        "experiments": len(machine.experiments),
        "records": len(records),
        "first": records[0]["date"][:10],
        "last": records[-1]["date"][:10],
    }


def machines_table(folder: Path = runs.COMMITTED) -> Table:
    """One row a machine: its fingerprint, and how much was measured on it in which days."""
    of = {each.label: [record for label, record in _records(folder) if label == each.label] for each in
          machines.known(folder)}  # fmt: skip
    rows = [_row(each, of[each.label]) for each in machines.known(folder)]
    caption = f"{plural(len(rows), 'machine')}. The first is the one that sentences of the chapters name"
    return table(pd.DataFrame(rows), caption=caption, index=False, name="machines")


def measured_table(folder: Path = runs.COMMITTED) -> Table:
    """One row an experiment: on each machine the day and the commit of its newest record."""
    newest = {(record["experiment"], label): record for label, record in _records(folder)}
    labels = [each.label for each in machines.known(folder)]
    rows = []
    for name in [each for each in experiments.REGISTER if any((each, label) in newest for label in labels)]:
        cells = [newest.get((name, label)) for label in labels]
        said = [f"{cell['date'][:10]}, {cell['machine']['provenance']['commit'][:8]}" if cell else "" for cell in cells]
        rows.append({"experiment": name} | dict(zip(labels, said, strict=True)))
    caption = "What was measured on which machine: day and commit of the newest record. Empty: not measured there"
    return table(pd.DataFrame(rows), caption=caption, index=False, name="measured")


def changes(folder: Path = runs.COMMITTED) -> pd.DataFrame:
    """Every case that was measured again on its machine: later times over those of the first record.

    Columns ``experiment``, ``machine``, ``first`` and ``later`` (days), ``case``, ``ratio`` of medians, ``low`` and
    ``high`` of its 95 % interval (missing where samples are too few), ``differs``: the interval excludes 1.
    """
    rows, first = [], {}
    for label, record in _records(folder):
        key = record["experiment"], record["preset"], record["threads"], label
        if key not in first:
            first[key] = record
            continue
        for before, after in comparison.shared(first[key], record)[0]:
            found: Ratio = ratio(before["samples"], after["samples"])
            low, high = found.interval or (None, None)
            rows.append(
                (record["experiment"], label, first[key]["date"][:10], record["date"][:10], before["label"],
                 found.medians, low, high, found.measurable)
            )  # fmt: skip
    names = ["experiment", "machine", "first", "later", "case", "ratio", "low", "high", "differs"]
    return pd.DataFrame(rows, columns=names)


def history(folder: Path = runs.COMMITTED) -> Shown:
    """Later times over those of the first record, a line for each experiment that a machine repeated."""
    found = changes(folder)
    if found.empty:
        text = "No machine has measured an experiment twice so far."
        return Shown(f"<p>{text}</p>", text)
    keys = list(dict.fromkeys(zip(found["experiment"], found["machine"], strict=True)))
    figure, axis = figures.axes(height=0.8 + 0.24 * len(keys))
    for place, (experiment, machine) in enumerate(keys):
        of = found[(found["experiment"] == experiment) & (found["machine"] == machine)]
        for differs, each in of.groupby("differs"):
            look = {"linestyle": "none", "markersize": 5 if differs else 3, "alpha": 1 if differs else 0.5}
            axis.plot(each["ratio"], [place] * len(each), **(figures.host_style() | look))
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    axis.set_yticks(range(len(keys)), [f"{experiment}, {machine}" for experiment, machine in keys])
    axis.invert_yaxis()
    beyond, repeated = int(found["differs"].sum()), plural(len(keys), "experiment")
    figures.log_axis(axis, "x", base=2)
    axis.set(xlabel="later time over that of the first record")
    return figures.show(
        figure,
        data=found,
        name="repeated_runs",
        title="Repeated runs",
        caption="Each mark is a case: its median time in a later record over that in the machine's first record of the "
        "experiment. It is large if the 95 % interval of the ratio excludes 1, as for "
        f"{beyond} of {len(found)} cases. Two records of a machine may differ in the kernels, the versions of the "
        "packages and the load.",
        alt=f"Ratios of later to first times of {repeated} that a machine repeated; {beyond} of {len(found)} differ "
        "from 1.",
    )


def changes_table(folder: Path = runs.COMMITTED) -> Table:
    """Changes beyond the interval: for each repeated experiment how many cases differ, and the one that does most."""
    found = changes(folder)
    rows = []
    for (experiment, machine, first, later), each in found.groupby(
        ["experiment", "machine", "first", "later"], sort=False
    ):
        beyond = each[each["differs"]]
        most = None if beyond.empty else beyond.loc[(beyond["ratio"].where(beyond["ratio"] > 1, 1 / beyond["ratio"]))
                                                    .idxmax()]  # fmt: skip
        said = "none" if most is None else f"{most['case']}: {most['ratio']:.2f} times"
        rows.append((experiment, machine, first, later, len(each), len(beyond), said))
    caption = "Cases whose times changed by more than the 95 % interval: later times over those of the first record"
    names = ["experiment", "machine", "first", "later", "cases in both", "cases that differ", "the largest"]
    return table(pd.DataFrame(rows, columns=names), caption=caption, index=False, name="changes")


def repeated(folder: Path = runs.COMMITTED) -> Shown:
    """:func:`history` and :func:`changes_table`, or a sentence where nothing was repeated."""
    shown = history(folder)
    if changes(folder).empty:
        return shown
    below = changes_table(folder)
    return Shown(f"{shown.html}\n{below.html}", f"{shown.alt}\n{below.text}")
