"""The box that opens a chapter, its computed sentences, and folds."""

from collections.abc import Sequence
from html import escape

from companion.figures.rendering import Shown


def box(*, report: str, mattered: str, findings: Sequence[str], missing: str) -> Shown:
    """The opening of a chapter.

    Parameters
    ----------
    report : str
        What the report is: who measured what, when, for whom.
    mattered : str
        Why it mattered.
    findings : sequence of str
        About three sentences whose numbers are computed from the data or a record where the box is called.
    missing : str
        What cannot be rerun, and why.
    """
    items = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    html = (
        '<aside class="rerun-box" aria-label="This chapter in short" '
        'style="border: 1px solid currentColor; border-radius: 6px; padding: 0.6em 1em; margin: 1em 0">'
        f"<p><strong>The report.</strong> {escape(report)}</p>"
        f"<p><strong>What was found.</strong></p><ul>{items}</ul>"
        "<details><summary>Why it mattered, and what cannot be rerun</summary>"
        f"<p>{escape(mattered)}</p><p>{escape(missing)}</p></details></aside>"
    )
    return Shown(html, "\n".join([report, mattered, *(f"- {finding}" for finding in findings), missing]))


def paragraph(*texts: str) -> Shown:
    """A paragraph of the chapter, or several, in sentences whose numbers are computed where this is called."""
    html = "".join(f'<p class="rerun-paragraph">{escape(text)}</p>' for text in texts)
    return Shown(html, "\n".join(texts))


def answer(text: str) -> Shown:
    """The answer to an exercise, a :func:`paragraph` that is folded until a reader opens it."""
    inside = paragraph(text).html
    return Shown(f'<details class="rerun-fold rerun-answer"><summary>Answer</summary>{inside}</details>', text)


def folded(*shown, title: str) -> Shown:
    """Figures and tables that a reader opens when wanted; only ``title`` shows before.

    ``shown`` is what :func:`companion.figures.show` and :func:`companion.figures.table` give; figures and tables inside
    keep their numbers and addresses.
    """
    html = "\n".join(each.html for each in shown)
    text = "\n".join([f"{title}:", *map(repr, shown)])
    return Shown(f'<details class="rerun-fold"><summary>{escape(title)}</summary>{html}</details>', text)
