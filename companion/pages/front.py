"""The table of the front page: what each chapter rebuilds, rechecks and reruns, from tables, claims and register."""

from html import escape
from pathlib import Path

import pandas as pd
import yaml

from companion import claims, experiments, notebook_files, tables
from companion.figures.rendering import Shown
from companion.figures.tabular import Table, table
from companion.labels import plural
from companion.pages.data import cells, framed

CITATION = Path(__file__).parents[2] / "CITATION.cff"


def chapters() -> pd.DataFrame:
    """One row a chapter, in the order of the book.

    Columns ``chapter`` (number), ``page`` (stem of the notebook), ``document``, ``tables``, ``numbers``
    (of these tables), ``claims``, ``contradicted``, ``experiments`` (in the register), ``simulated`` (those of them
    whose results a model computes).
    """
    catalogue = tables.catalogue()
    ledger = claims.frame()
    rows = []
    for path in notebook_files.paths():
        number, _, document = path.stem.partition("_")
        if document not in tables.documents():
            continue
        own, checked = catalogue[catalogue["document"] == document], ledger[ledger["document"] == document]
        entries = [entry for entry in experiments.REGISTER.values() if entry.document == document]
        rows.append(
            {
                "chapter": int(number),
                "page": path.stem,
                "document": document,
                "tables": len(own),
                "numbers": int(own["numeric_cells"].sum()),
                "claims": len(checked),
                "contradicted": int((checked["verdict"] == "contradicts").sum()),
                "experiments": len(entries),
                "simulated": sum(entry.simulated for entry in entries),
            }
        )
    return pd.DataFrame(rows)


def rerun(row) -> str:
    """What of a chapter runs again on the reader's machine, in a few words."""
    if not row.experiments:
        return "nothing yet"
    model = f", {row.simulated} of them simulated" if row.simulated else ""
    return f"{plural(row.experiments, 'experiment')}{model}"


def chapters_table() -> Table:
    """The chapters with links to their pages and to their rows of the ledger."""
    frame, body = chapters(), []
    for row in frame.itertuples(index=False):
        ledger = f"ledger.html?document={row.document}"
        texts = cells(
            f'<a href="../notebooks/{row.page}.html">{row.chapter}. {escape(tables.citation(row.document))}</a>',
            f"{row.tables} tables, {row.numbers} numbers",
            f'<a href="{ledger}">{row.claims} derived numbers</a>, '
            f'<a href="{ledger}&amp;verdict=contradicts">{row.contradicted} contradicted</a>',
            escape(rerun(row)),
        )
        body.append(f"<tr>{texts}</tr>")
    caption = "What each chapter does with its report"
    head = ["report", "tables rebuilt", "arithmetic rechecked", "experiments rerun here"]
    plain = frame.assign(rerun=[rerun(row) for row in frame.itertuples()]).drop(columns="experiments")
    return framed(caption, head, body, name="chapters", text=plain)


def experiments_table() -> Table:
    """Every experiment of the register: what it is called, what it measures, its presets, what it needs."""
    entries = list(experiments.REGISTER.values())
    frame = pd.DataFrame(
        {
            "experiment": [entry.id for entry in entries],
            "what": [entry.title for entry in entries],
            "items of the report": [entry.item for entry in entries],
            "presets": [", ".join(entry.presets) for entry in entries],
            "needs": [", ".join(sorted(entry.needs)) for entry in entries],
        }
    )
    caption = f"{len(frame)} experiments, with the name that the command line takes"
    return table(frame, caption=caption, index=False, name="experiments")


def bibtex(path: Path = CITATION) -> Shown:
    """Entry for this book from the ``CITATION.cff`` at ``path``, as BibTeX."""
    about = yaml.safe_load(path.read_text(encoding="utf-8"))
    people = " and ".join(
        f"{{{each['name']}}}" if "name" in each else f"{each['family-names']}, {each['given-names']}"
        for each in about["authors"]
    )
    lines = [
        "@misc{supercomputers_rerun,",
        f"  author = {{{people}}},",
        f"  title = {{{about['title']}}},",
        f"  version = {{{about['version']}}},",
        f"  note = {{{' '.join(about['abstract'].split())}}}",
        "}",
    ]
    text = "\n".join(lines)
    return Shown(f'<pre class="rerun-plain">{escape(text)}</pre>', text)
