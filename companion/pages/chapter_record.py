"""The record of a chapter: tables as printed, arithmetic rechecked, and how its stored runs were made and checked."""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Literal

import pandas as pd

from companion import experiments, items, notebook_files
from companion.figures.box import checked, folded
from companion.figures.document import claims_summary, claims_table, document_tables
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.labels import plural
from companion.pages.items import items_table
from companion.records import machines, runs

#: Verdicts whose claims a record lists, with what each may say is missing.
_LISTED = ("contradicts", "rounding", "our bound", "our base", "not checkable")


def _together(parts: list[Table]) -> Shown:
    """Several tables as one output of a cell."""
    return Shown("\n".join(each.html for each in parts), "\n".join(map(repr, parts)))


def printed(document: str) -> Shown:
    """Every table of a document as printed, folded below its caption."""
    return document_tables(document)


def arithmetic(document: str) -> Shown:
    """Verdicts on a document's derived numbers, and each number that does not simply agree."""
    summary = claims_summary(document)
    listed = [claims_table(document, verdict, folded=True) for verdict in _LISTED]
    return _together([summary, *(each for each in listed if "<td" in each.html)])


def _row(entry, record: dict) -> dict:
    cases = record["measurements"]
    checks = [check["ok"] for case in cases for when in ("checks_before", "checks_after") for check in case[when]]
    counts = [len(case["samples"]) for case in cases]
    return {
        "experiment": entry.id,
        "items": entry.item,
        "machine": machines.label(record["machine"]),
        "date": record["date"][:10],
        "preset": record["preset"],
        "threads": record["threads"],
        "cases": len(cases),
        "samples": "–".join(str(count) for count in sorted({min(counts), max(counts)})) if counts else "",
        "checks": len(checks),
        "held": sum(checks),
        "load": max((case["other_load"] or 0.0 for case in cases), default=0.0),
        "flags": ", ".join(sorted({flag for case in cases for flag in case["flags"]})),
        "commit": (record["machine"]["provenance"]["commit"] or "")[:10],
    }


@cache
def stored_runs(document: str) -> pd.DataFrame:
    """One row a committed record of a document's experiments, by experiment and date.

    Columns ``experiment``, ``items``, ``machine``, ``date``, ``preset``, ``threads``, ``cases``, ``samples`` (fewest
    and most of a case), ``checks`` (before and after the timings) and how many of them ``held``, ``load`` (most CPUs
    that others kept busy in a case), ``flags``, ``commit``, ``path`` of the file.
    """
    entries = [entry for entry in experiments.REGISTER.values() if entry.document == document]
    paths = [(entry, path) for entry in entries for path in sorted(runs.COMMITTED.glob(f"{entry.id}_*"))]
    found = [(entry, runs.read(path), path) for entry, path in paths]
    return pd.DataFrame(
        [_row(entry, record) | {"path": path} for entry, record, path in found if record["experiment"] == entry.id]
    )


@cache
def checks(document: str) -> pd.DataFrame:
    """What was checked in the newest stored run of every experiment of a document.

    Columns ``experiment``, ``check`` (its name), ``cases`` (of the run in which it was made), ``checks`` (before and
    after the timings) and how many of them ``held``.
    """
    newest = stored_runs(document).groupby("experiment", sort=False)["path"].last()
    rows: list[tuple] = []
    for name, path in newest.items():
        found: dict[str, list] = {}
        for number, case in enumerate(runs.read(path)["measurements"]):
            for check in (*case["checks_before"], *case["checks_after"]):
                found.setdefault(check["name"].strip(), []).append((number, check["ok"]))
        rows += [
            (name, check, len({number for number, _ in made}), len(made), sum(held for _, held in made))
            for check, made in (found or {"none, since nothing was timed": []}).items()
        ]
    return pd.DataFrame(rows, columns=["experiment", "check", "cases", "checks", "held"])


#: Names of checks that a mark gives before it counts the rest.
NAMED = 4


@cache
def mark(experiment: str) -> Shown | None:
    """What was checked in the newest stored run of an experiment, as a mark that opens; None where nothing was."""
    document = experiments.REGISTER[experiment].document
    runs_of, found = stored_runs(document), checks(document)
    found = found[(found["experiment"] == experiment) & (found["checks"] > 0)]
    if found.empty:
        return None
    cases = int(runs_of.loc[runs_of["experiment"] == experiment, "cases"].iloc[-1])
    names, rest = list(found["check"][:NAMED]), len(found) - NAMED
    others = f"; and {plural(rest, 'other')}" if rest > 0 else ""
    return checked(
        cases,
        "case",
        f"Compared before and after the timings: {found['held'].sum()} of {found['checks'].sum()} checks held.",
        f"What was compared: {'; '.join(names)}{others}.",
    )


def _by_experiment(frame: pd.DataFrame, keep: Literal["first", "last"], address: str, **shown) -> Table:
    """A table whose first or last row of each experiment is where ``address-<experiment>`` leads."""
    rows = frame.index[~frame["experiment"].duplicated(keep=keep)]
    frame.attrs["addresses"] = {(row, "experiment"): (f"{address}-{frame['experiment'][row]}", "") for row in rows}
    return table(frame, index=False, **shown)


def checks_table(document: str) -> Table | str:
    """:func:`checks`, folded; the first row of an experiment is where its figures lead to."""
    if stored_runs(document).empty:
        return "No run of this chapter is stored, so nothing was checked."
    frame = checks(document).copy()
    said = {
        "cases": "cases of the run in which this was checked",
        "checks": "before and after the timings",
        "held": "checks that held",
    }
    caption = "What was checked in the newest run of each experiment. "
    caption += f"{frame['held'].sum()} of {frame['checks'].sum()} checks held."
    shown = {"caption": caption, "name": f"{document}_checks", "folded": True, "descriptions": said}
    return _by_experiment(frame, "first", "checks", **shown)


def runs_table(document: str) -> Table | str:
    """The stored runs of a chapter and what was checked in each; a sentence where none is stored."""
    frame = stored_runs(document).drop(columns="path", errors="ignore")
    if frame.empty:
        return "No run of this chapter is stored."
    said = {
        "samples": "fewest and most samples of a case",
        "held": "checks that held, before and after the timings",
        "load": "most CPUs that other programs kept busy during a case",
        "flags": "what makes times of the record doubtful",
    }
    caption = "The stored runs of this chapter. "
    caption += f"{frame['held'].sum()} of {frame['checks'].sum()} checks held, before and after the timings."
    shown = {"caption": caption, "name": f"{document}_stored_runs", "digits": 2, "units": {"load": "CPU"}}
    return _by_experiment(frame, "last", "run", descriptions=said, **shown)


def _on(drawn: list, figure: Callable) -> Shown | Table | None:
    """What a function of a chapter shows of these runs; None where they lack what it takes."""
    try:
        return figure(drawn)
    except runs.LACKING:
        return None


@cache
def _story(document: str) -> str:
    """The code of a chapter's notebook."""
    return "\n".join(notebook_files.sources(notebook_files.FOLDER / f"{items.page(document)}.ipynb"))


def _holds_all(shown: Shown | Table, drawn: list) -> bool:
    """Whether a figure shows the machine of each of these runs: its data have a row of each."""
    data = getattr(shown, "data", None)
    return data is not None and "machine" in data and data["machine"].nunique() >= len(drawn)


def _drawn(entry) -> list:
    """What an experiment draws of its stored runs and the story does not show.

    What can draw one machine only comes again, folded, for each other machine.
    """
    found, stored = [], entry.runs()
    for figure in entry.figures if stored else []:
        shown = figure(stored)
        if not re.search(rf"\b{figure.__name__}\(", _story(entry.document)):
            found.append(shown)
        for run in [] if _holds_all(shown, stored) else stored[1:]:
            other = _on(runs.marked([run]), figure)  # in full, not as a mark beside another
            found += [] if other is None else [folded(other, title=f"The same on {_machine(run)}")]
    return found


def _machine(run) -> str:
    return f"{run.attrs['label']}, {run.attrs['date'][:10]}"


def further_figures(document: str) -> Shown:
    """Figures and tables of the stored runs of each experiment that the chapter's story does not show."""
    parts = []
    for entry in experiments.REGISTER.values():
        if entry.document != document:
            continue
        if found := _drawn(entry):
            heading = f'<h3 id="elsewhere-{entry.id}">{escape(entry.title)}</h3>'
            parts.append(Shown("\n".join([heading, *(each.html for each in found)]), "\n".join(map(repr, found))))
    if not parts:
        return Shown("<p>The chapter shows all figures of its runs.</p>", "no further figure")
    return Shown("\n".join(part.html for part in parts), "\n".join(part.alt for part in parts))


def became(document: str) -> Shown:
    """What became of every item of a document and, where it lost plots, of these; rows lead to the chapter."""
    story = f"../../notebooks/{items.page(document)}.html"
    plots = any(item.is_plot for item in items.items(document))
    return _together([items_table(document, kind, story) for kind in ("items", "plots")[: 1 + plots]])
