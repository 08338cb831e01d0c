"""The table of the front page: what each chapter rebuilds, rechecks and reruns, from tables, claims and register."""

from html import escape
from pathlib import Path

import pandas as pd
import yaml

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import claims, experiments, tables
from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.items import page

CITATION = HOME / "CITATION.cff"


def chapters_table() -> Shown:
    """What each chapter rebuilds, rechecks and reruns, with links to its page and to its rows of the ledger."""
    catalogue, ledger, rows = tables.catalogue(), claims.frame(), []
    for document in sorted(tables.documents(), key=page):
        own, checked = catalogue[catalogue["document"] == document], ledger[ledger["document"] == document]
        entries = [entry for entry in experiments.REGISTER.values() if entry.document == document]
        model = sum(entry.simulated for entry in entries)
        place, wrong = f"ledger.html?document={document}", (checked["verdict"] == "contradicts").sum()
        title = escape(f"{int(page(document)[:2])}. {tables.citation(document)}")
        rows.append(
            {
                "report": f'<a href="../notebooks/{page(document)}.html">{title}</a>',
                "tables as printed": f"{len(own)} tables, {own['numeric_cells'].sum()} numbers",
                "arithmetic rechecked": f'<a href="{place}">{len(checked)} claims</a>, '
                f'<a href="{place}&amp;verdict=contradicts">{wrong} contradicted</a>',
                "experiments of ours": plural(len(entries), "experiment")
                + (f", {model} of them simulated" if model else ""),
            }
        )
    frame = pd.DataFrame(rows)
    return table(frame, caption="What each chapter does with its report", name="chapters", html=list(frame))


def bibtex(path: Path = CITATION) -> Shown:
    """Entry for this book from the ``CITATION.cff`` at ``path``, as BibTeX.

    Once there is a release, which has a date there, the entry has its year and version; an address and a DOI where the
    file has them.  What there is not is left out.
    """
    about = yaml.safe_load(path.read_text(encoding="utf-8"))
    people = " and ".join(
        f"{{{each['name']}}}" if "name" in each else f"{each['family-names']}, {each['given-names']}"
        for each in about["authors"]
    )
    released = str(about.get("date-released", ""))
    fields = {
        "author": people,
        "title": about["title"],
        "year": released[:4],
        "version": about.get("version") if released else None,
        "url": about.get("url"),
        "doi": about.get("doi"),
        "note": " ".join(about["abstract"].split()),
    }
    text = ",\n".join(
        ["@misc{supercomputers_rerun", *(f"  {name} = {{{each}}}" for name, each in fields.items() if each)]
    )
    text += "\n}"
    return Shown(f'<pre class="rerun-plain">{escape(text)}</pre>', text)
