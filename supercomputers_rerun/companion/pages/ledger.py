"""The ledger page: every claim of every document in one table, and the counts that lead into it."""

import re
from html import escape

import pandas as pd

from supercomputers_rerun.companion import claims
from supercomputers_rerun.companion.common import significant
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import framed, table
from supercomputers_rerun.companion.items import page, title
from supercomputers_rerun.companion.pages.data import FILES, crossed

#: The chapters and their records, as seen from the page of the ledger.
_CHAPTERS, _RECORDS = "../notebooks", "records"
_HEAD = ["chapter", "verdict", "claim", "printed", "recomputed", "explanation"]


def counts(frame: pd.DataFrame | None = None) -> pd.DataFrame:
    """Number of claims by document and verdict, with sums."""
    found = crossed(claims.frame() if frame is None else frame, "verdict", claims.VERDICTS)
    return found.assign(all=found.sum(axis=1))


def _link(document: str, verdict: str, number: int) -> str:
    """A count that leads to its rows of the ledger."""
    chosen = {"document": document, "verdict": verdict.replace(" ", "+")}
    words = "&amp;".join(f"{name}={value}" for name, value in chosen.items() if value != "all")
    return f'<a href="ledger.html?{words}">{number}</a>' if number else "0"


def counts_table() -> Shown:
    """The counts; each leads to its rows of the ledger."""
    numbers = counts()
    links = {each: [_link(str(row), each, number) for row, number in numbers[each].items()] for each in numbers}
    frame = pd.DataFrame(links, index=numbers.index.map(title)).rename_axis("chapter")
    return table(frame, caption="Claims by chapter and verdict", name="counts", html=[*links])


def shown(value: float, printed: str) -> str:
    """A recomputed value to one digit more than the printed numeral, at least four."""
    numeral = re.search(r"[\d.,]+", printed)
    known = len(re.sub(r"\D", "", numeral.group()).lstrip("0")) if numeral else 0
    text = significant(float(value), max(4, known + 1))
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def source(claim: claims.register.Claim) -> str:
    """Where a claim's printed number is: its cell on the chapter's record, else the table that it was made from."""
    where, found = f"{_RECORDS}/{page(claim.document)}.html", claim.place
    if found.cell:
        return f"{where}#{claims.cell(claim.document, *found.cell)}"
    return f"{where}#{f'tab-{claim.document}-{found.read[0]}'.replace('_', '-')}" if found.read else where


def _row(claim: claims.register.Claim) -> str:
    address = claims.addresses(claim.document)[claim.id]
    low, high = (shown(end, claim.printed) for end in claim.interval)
    value = shown(claim.recomputed, claim.printed)
    allowed = "" if low == high else f"<small>{low} to {high}</small>"
    texts = (
        f'<a href="{_CHAPTERS}/{page(claim.document)}.html">{escape(title(claim.document))}</a>',
        escape(claim.verdict),
        f'{escape(claim.statement)}<small><a href="{source(claim)}">{escape(claim.where)}</a> '
        f'<a href="#{address}" aria-label="address of this claim">#</a></small>',
        escape(claim.printed) + (f"<small>held to {escape(claim.bound)}</small>" if claim.bound else ""),
        "" if pd.isna(claim.recomputed) else value + allowed,
        escape(claim.reason),
    )
    about = f'id="{address}" class="{claim.verdict.replace(" ", "-")}" data-document="{claim.document}"'
    return f"<tr {about}>{''.join(f'<td>{text}</td>' for text in texts)}</tr>"


def _choice(name: str, values, said: str = "", words=str) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(words(value))}</option>' for value in values)
    return f'<label>{said or name} <select name="{name}"><option value="">all</option>{options}</select></label>'


def full_table() -> Shown:
    """Every claim in one table, with the controls that ``ledger.js`` brings to life.

    Without the script the controls stay hidden and the table is whole.
    """
    frame = claims.frame()
    controls = (
        '<form class="rerun-filter" id="ledger-filter" role="search" hidden>'
        + _choice("document", frame["document"].unique(), "chapter", title)
        + _choice("verdict", claims.VERDICTS)
        + '<label>words <input type="search" name="words" autocomplete="off" spellcheck="false"></label>'
        '<button type="reset">show all</button><output aria-live="polite"></output></form>'
    )
    rows = map(_row, claims.check())
    head = (f'<th scope="col">{word}</th>' for word in _HEAD)
    link = f'<p style="font-size: 0.85em"><a href="{FILES}/ledger.csv" download>all claims as CSV</a></p>'
    made = framed(f"{len(frame)} claims of five documents", head, rows, link, name="ledger", id="ledger")
    return Shown(controls + made.html, made.alt)
