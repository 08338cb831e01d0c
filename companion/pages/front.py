"""The table of the front page: what each chapter rebuilds, rechecks and reruns, from tables, claims and register."""

from html import escape
from pathlib import Path

import yaml

from companion import claims, experiments, tables
from companion.figures.rendering import Shown
from companion.figures.tabular import Table
from companion.items import page
from companion.labels import plural
from companion.pages.data import cells, framed

CITATION = Path(__file__).parents[2] / "CITATION.cff"


def chapters_table() -> Table:
    """What each chapter rebuilds, rechecks and reruns, with links to its page and to its rows of the ledger."""
    catalogue, ledger, body, plain = tables.catalogue(), claims.frame(), [], []
    for document in sorted(tables.documents(), key=page):
        own, checked = catalogue[catalogue["document"] == document], ledger[ledger["document"] == document]
        entries = [entry for entry in experiments.REGISTER.values() if entry.document == document]
        numbers, model = own["numeric_cells"].sum(), sum(entry.simulated for entry in entries)
        rerun = plural(len(entries), "experiment") + (f", {model} of them simulated" if model else "")
        place, wrong = f"ledger.html?document={document}", (checked["verdict"] == "contradicts").sum()
        title = f"{int(page(document)[:2])}. {tables.citation(document)}"
        texts = cells(
            f'<a href="../notebooks/{page(document)}.html">{escape(title)}</a>',
            f"{len(own)} tables, {numbers} numbers",
            f'<a href="{place}">{len(checked)} derived numbers</a>, '
            f'<a href="{place}&amp;verdict=contradicts">{wrong} contradicted</a>',
            rerun,
        )
        body.append(f"<tr>{texts}</tr>")
        plain.append(f"{title}: {len(own)} tables, {numbers} numbers, {len(checked)} claims, {rerun}")
    caption = "What each chapter does with its report"
    head = ["report", "tables rebuilt", "arithmetic rechecked", "experiments rerun here"]
    return framed(caption, head, body, name="chapters", text="\n".join([caption, *plain]))


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
