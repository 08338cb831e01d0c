"""The first page: what was found, a card for each chapter, and how to cite.

README says the same finding and asks the same questions; ``tests/companion/pages/test_front.py`` holds it to them.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple

import yaml

from supercomputers_rerun import HOME
from supercomputers_rerun.companion import tables
from supercomputers_rerun.companion.chapters.xc30 import small_files
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.items import page
from supercomputers_rerun.companion.pages import synthesis, thread
from supercomputers_rerun.companion.pages.synthesis import about
from supercomputers_rerun.companion.records import runs

CITATION = HOME / "CITATION.cff"
#: The chapter that compares the reports.
LAST = "90_machines"


def finding() -> tuple[str, str]:
    """What the book found, in a headline and a paragraph."""
    then, now = synthesis.waited()
    assert now > 1.2 * thread.by_speeds()
    computes, moves = thread.growth()
    hour = synthesis.forecast_hour()
    day = synthesis.DAY * synthesis.of_book(hour, "forecast of the size of 1982 with its jobs, files on disk")
    old = synthesis.DAY / 60 * synthesis.printed(hour, "cray_1a_ecmwf", "forecast of 1982 with its jobs, files on disk")
    return (
        f"Our disk moves large blocks {about(synthesis.disks())} times as fast as one of 1982, and the forecast waits "
        "for a larger share of its time.",
        f"In 1982 a forecast on the Cray X-MP, with its files on four disks, waited for {then:.0f} % of its time. Our "
        f"forecast, with files of about the same size on one virtual disk of today, waits for {now:.0f} %. Computing "
        f"became about {about(computes)} times as fast. Moving the files became only about {about(moves)} times as "
        "fast, because one disk now does the work of four. The forecast waits even longer than these speeds explain; "
        "chapter 1 asks why. It is done sooner all the same: a day of it, with the jobs that follow, takes "
        f"{about(day)} s. The Cray 1-A, older than the X-MP, took {old:.0f} minutes. Our program has other physics, so "
        "this is no race of machines.",
    )


def found() -> Shown:
    """:func:`finding`, as the first page has it."""
    head, rest = finding()
    return Shown(f'<p class="rerun-paragraph"><strong>{escape(head)}</strong> {escape(rest)}</p>', f"{head} {rest}")


class Card(NamedTuple):
    """A chapter on the first page."""

    year: str
    waits: str  # for what
    question: str
    surprise: Callable[[], str]  # a sentence whose numbers are computed
    figure: str = ""  # of the chapter, unless it is the first


def _forecast() -> str:
    then, now = synthesis.waited()
    return (
        f"Our disk moves large blocks {about(synthesis.disks())} times as fast as one of 1982. On four disks of 1982 "
        f"the forecast waited for {then:.0f} % of its time. On one disk of today ours waits for {now:.0f} %."
    )


def _toll() -> str:
    cpu = tables.load("aips58", "ddt")["cpu"].sel(problem="VTESS")
    pittsburgh, toronto = cpu.sel(system="PSC"), cpu.sel(system="CLSC")
    ratio, extra = pittsburgh / toronto, pittsburgh - toronto
    small, large = float(ratio.sel(size="small")), float(ratio.sel(size="large"))
    assert small > 4 * large and extra.max() < 1.25 * extra.min()
    return (
        f"One task cost {about(small)} times as much CPU time in Pittsburgh as in Toronto on a small image, and "
        f"{about(large)} times on a large one: at every size it cost {float(extra.min()):.0f} to "
        f"{float(extra.max()):.0f} s more."
    )


def _points() -> str:
    share = synthesis.of_book(synthesis.computing(), "flow solver that writes, 40-byte elements")
    assert not share > 50
    return (
        f"Written 40 bytes at a time, the solution makes a run {about(100 / share)} times as long as without writing, "
        "and no disk is involved."
    )


def _sensors() -> str:
    apart, together, _ = thread.interrupted()
    return (
        f"Interrupted in turn, two processes wait {about(apart)} ms for each other. Interrupted at the same moment, "
        f"they wait {about(together)} ms."
    )


def _opens() -> str:
    run = runs.latest("xc30-records")
    slow = small_files.largest(run).set_index("asked").loc[1e-3]
    count = int(run["tasks"].values[0]) * small_files.by_task()
    assert 1.7 < slow["times"] < 2.4
    return (
        f"If each of {count} small files needs a millisecond to open, our output step takes about twice as long, "
        "though not a byte more is written."
    )


#: By report; the last compares them.
CARDS = {
    "xmp1982": Card(
        "1982",
        "disks",
        "Disks became far faster. Why does the forecast wait for a larger share of its time?",
        _forecast,
    ),
    "aips58": Card("1989", "a log of messages", "Why could one Cray need ten times the CPU time of another?", _toll),
    "nht1": Card("1993", "writes", "What does it cost to save what a program computes?", _points),
    "p5plus": Card(
        "2006", "memory and barriers", "Why did a weather job slow down the longer the system ran?", _sensors
    ),
    "xc30": Card("2014", "files that are opened", "Why did forecasts wait for small files?", _opens),
    LAST: Card("1982 to now", "what speeds up least", "What does a faster machine wait for?", thread.opens, "request"),
}


def chapters() -> Shown:
    """A card for each chapter: a small figure, what its processors waited for, its question and its surprise.

    The book puts the chapter's first figure and the minutes to read into the card when it is built (``_ext/kit.py``).
    """
    names = {page(document): document for document in tables.documents()} | {LAST: LAST}
    cards, lines = [], []
    for stem, document in sorted(names.items()):
        address, number = f"../notebooks/{stem}", int(stem[:2])
        card = CARDS.get(document) or Card("", "", tables.citation(document), lambda: "")
        label = "All five together" if document == LAST else f"Chapter {number}"
        when = " · ".join(filter(None, [label, card.year, card.waits and f"waits for {card.waits}"]))
        surprise = card.surprise()
        figure = f' data-figure="{card.figure}"' if card.figure else ""
        cards.append(
            f'<li class="rerun-card"><span class="rerun-card-picture" data-page="notebooks/{stem}"{figure}></span>'
            f'<div><p class="rerun-card-when">{escape(when)}</p>'
            f'<p class="rerun-card-question"><a href="{address}.html">{escape(card.question)}</a></p>'
            f"<p>{escape(surprise)}</p>"
            f'<p class="rerun-card-when"><span class="rerun-card-minutes" data-page="notebooks/{stem}"></span></p>'
            "</div></li>"
        )
        lines.append(f"- {when}. {card.question} {surprise}".rstrip())
    return Shown(f'<ul class="rerun-cards">{"".join(cards)}</ul>', "\n".join(lines))


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
    lines = [f"  {name} = {{{each}}}" for name, each in fields.items() if each]
    text = ",\n".join(["@misc{supercomputers_rerun", *lines]) + "\n}"
    return Shown(f'<pre class="rerun-plain">{escape(text)}</pre>', text)
