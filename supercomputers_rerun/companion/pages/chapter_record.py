"""The record of a chapter: tables as printed, arithmetic rechecked, and how its stored runs were made and checked."""

import re
from functools import cache
from html import escape
from typing import Literal

import pandas as pd

from supercomputers_rerun.companion import claims, experiments, items, notebook_files
from supercomputers_rerun.companion.figures.rendering import Shown, folded, paragraph
from supercomputers_rerun.companion.figures.tabular import several, table
from supercomputers_rerun.companion.pages.items import items_table
from supercomputers_rerun.companion.records import runs

#: Verdicts whose claims a record lists, and what each says.
_LISTED = {
    "contradicts": "The document's own numbers contradict these claims. No rounding explains the differences.",
    "rounding": "These claims differ by no more than rounding. The rounded inputs allow every value shown.",
    "our bound": "These claims are held to a bound that the document does not print as one. The bound is ours.",
    "our base": "These claims are on a base that the document does not name. The base was chosen because it fits.",
    "not checkable": "These claims cannot be checked. The numbers behind them are not printed in what survives.",
}


def arithmetic(document: str) -> Shown:
    """Verdicts on a document's derived numbers, and each number that does not simply agree."""
    frame = claims.frame(document)
    counts = frame["verdict"].value_counts().reindex(claims.VERDICTS, fill_value=0)
    wrong = f"{counts['contradicts']} contradict it" if counts["contradicts"] else "none contradicts it"
    caption = f"Claims, recomputed, by verdict. {counts['agrees']} of {counts.sum()} agree with the document, "
    summary = counts.rename_axis("verdict").rename("claims").reset_index()
    order = {verdict: number for number, verdict in enumerate(_LISTED)}
    listed = frame[frame["verdict"].isin(order)].sort_values("verdict", key=lambda said: said.map(order), kind="stable")
    shown = listed.assign(verdict=listed["verdict"].map(_LISTED), explanation=listed["reason"])
    shown = shown[["verdict", "where", "statement", "printed", "recomputed", "explanation"]].reset_index(drop=True)
    known = claims.addresses(document)
    shown.attrs["addresses"] = {(row, "printed"): ("", known[claim]) for row, claim in enumerate(listed["id"])}
    found = [table(summary, caption=f"{caption}{wrong}.", index=False, name=f"{document}_verdicts")]
    if len(shown):
        about = "Claims that do not simply agree"
        found.append(table(shown, caption=about, name=f"{document}_claims", digits=4, folded=True, over="verdict"))
    return several(found)


def _row(entry, record: dict) -> dict:
    cases = record["measurements"]
    checks = [check["ok"] for case in cases for when in ("checks_before", "checks_after") for check in case[when]]
    counts = [len(case["samples"]) for case in cases]
    return {
        "experiment": entry.id,
        "items": entry.item,
        "machine": runs.label(record["machine"]),
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
    return pd.DataFrame([_row(entry, runs.read(path)) | {"path": path} for entry, path in paths])


@cache
def checks(document: str) -> pd.DataFrame:
    """What was checked in the newest stored run of every experiment of a document.

    Columns ``experiment``, ``check`` (its name), ``cases`` (of the run in which it was made), ``checks`` (before and
    after the timings) and how many of them ``held``.
    """
    rows = [
        {"experiment": name, "check": check["name"].strip(), "case": number, "ok": check["ok"]}
        for name, path in stored_runs(document).groupby("experiment", sort=False)["path"].last().items()
        for number, case in enumerate(runs.read(path)["measurements"])
        for check in (*case["checks_before"], *case["checks_after"])
    ]
    found = pd.DataFrame(rows).groupby(["experiment", "check"], sort=False)
    return found.agg(cases=("case", "nunique"), checks=("ok", "size"), held=("ok", "sum")).reset_index()


def _by_experiment(frame: pd.DataFrame, keep: Literal["first", "last"], address: str, **shown) -> Shown:
    """A table whose first or last row of each experiment is where ``address-<experiment>`` leads."""
    rows = frame.index[~frame["experiment"].duplicated(keep=keep)]
    frame.attrs["addresses"] = {(row, "experiment"): (f"{address}-{frame['experiment'][row]}", "") for row in rows}
    return table(frame, index=False, **shown)


def checks_table(document: str) -> Shown | str:
    """:func:`checks`, folded; the first row of an experiment is where its figures lead to."""
    if stored_runs(document).empty:
        return "No run of this chapter is stored, so nothing was checked."
    frame = checks(document).copy()
    caption = "What was checked in the newest run of each experiment, before and after the timings. "
    caption += f"{frame['held'].sum()} of {frame['checks'].sum()} checks held."
    return _by_experiment(frame, "first", "checks", caption=caption, name=f"{document}_checks", folded=True)


def runs_table(document: str) -> Shown | str:
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


def _drawn(entry, story: str) -> list[Shown]:
    """What an experiment draws of its stored runs and the story, the code of a notebook, does not show.

    What can draw one machine only comes again, folded, for each other machine, or a sentence says what its run lacks.
    """
    found, alone, stored = [], [], entry.runs()
    for figure in entry.figures if stored else []:
        shown = figure(stored)
        if not re.search(rf"\b{figure.__name__}\(", story):
            found.append(shown)
        data = shown.data
        if data is None or "machine" not in data or data["machine"].nunique() < len(stored):
            alone.append(figure)
    for run in stored[1:] if alone else []:
        made, left = experiments.drawn_from(runs.marked([run])[0], alone)  # in full, not as a mark beside another
        title = f"The same on {run.attrs['label']}, {run.attrs['date'][:10]}"
        found.append(folded(*made, *map(paragraph, left), title=title))
    return found


def further_figures(document: str) -> Shown:
    """Figures and tables of the stored runs of each experiment that the chapter's story does not show."""
    parts: list[Shown] = []
    story = "\n".join(notebook_files.sources(notebook_files.FOLDER / f"{items.page(document)}.ipynb"))
    for entry in experiments.REGISTER.values():
        if entry.document == document and (found := _drawn(entry, story)):
            heading = Shown(f'<h3 id="elsewhere-{entry.id}">{escape(entry.title)}</h3>', entry.title)
            parts += [heading, *found]
    return several(parts) if parts else Shown("<p>The chapter shows all figures of its runs.</p>", "no further figure")


def became(document: str) -> Shown:
    """What became of every item of a document, and of what its text lacks of plots; rows lead to the chapter."""
    plots = any(item.is_plot for item in items.items(document))
    return several([items_table(document, kind) for kind in ("items", "plots")[: 1 + plots]])
