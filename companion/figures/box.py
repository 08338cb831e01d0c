"""The box that opens a chapter, and the fold that keeps the page's own quick run below the one at full size."""

from collections.abc import Sequence
from html import escape

from companion.figures.rendering import Shown, of_page
from companion.labels import plural


def box(*, report: str, mattered: str, findings: Sequence[str], missing: str) -> Shown:
    """The opening of a chapter. ``ValueError`` if a part is empty.

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
    parts = {"report": report, "mattered": mattered, "missing": missing}
    empty = [name for name, text in parts.items() if not text.strip()]
    if empty or not findings or not all(finding.strip() for finding in findings):
        raise ValueError(f"box: {(empty or ['findings'])[0]} is empty; say it in a sentence")
    items = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    html = (
        '<aside class="rerun-box" aria-label="This chapter in short" '
        'style="border: 1px solid currentColor; border-radius: 6px; padding: 0.6em 1em; margin: 1em 0">'
        f"<p><strong>The report.</strong> {escape(report)}</p>"
        f"<p><strong>What was found.</strong></p><ul>{items}</ul>"
        "<details><summary>Why it mattered, and what cannot be rerun</summary>"
        f"<p>{escape(mattered)}</p><p>{escape(missing)}</p></details></aside>"
    )
    text = "\n".join([report, mattered, *(f"- {finding}" for finding in findings), missing])
    return Shown(html, text)


def paragraph(*texts: str) -> Shown:
    """A paragraph of the chapter, or several, in sentences whose numbers are computed where this is called.

    ``ValueError`` if there is no text.
    """
    if not texts or not all(text.strip() for text in texts):
        raise ValueError("paragraph: there is no text; write a sentence")
    html = "".join(f'<p class="rerun-paragraph">{escape(text)}</p>' for text in texts)
    return Shown(html, "\n".join(texts))


def answer(text: str) -> Shown:
    """The answer to an exercise, a :func:`paragraph` that is folded until a reader opens it."""
    inside = paragraph(text).html
    return Shown(f'<details class="rerun-fold rerun-answer"><summary>Answer</summary>{inside}</details>', text)


def checked(count: int, what: str, *said: str) -> Shown:
    """A mark beside the text that opens: how many things were compared, and what was compared with what.

    The numbers are computed, and held by assertions, where this is called. ``ValueError`` if nothing was compared, or
    nothing is said of it.

    Parameters
    ----------
    count : int
        How many were compared.
    what : str
        What one of them is: ``"case"``.
    *said : str
        Sentences that show when the mark is opened.
    """
    if count < 1 or not what.strip() or not said or not all(text.strip() for text in said):
        raise ValueError("checked: give how many were compared, what they are, and a sentence on the comparison")
    head = f"checked: {plural(count, what)}"
    inside = "".join(f"<p>{escape(text)}</p>" for text in said)
    html = f'<details class="rerun-checked"><summary>{escape(head)}</summary>{inside}</details>'
    return Shown(html, "\n".join([head, *said]))


#: When a small run beside one at full size was made: for a page of the book, and for who runs the notebook.
BUILT, _NOW = "measured when this page was built", "measured now on this machine"


def _small_run() -> str:
    """When the page's own small run was made, in words that suit the place where they are read."""
    return BUILT if of_page() else _NOW


def folded(*shown, title: str | None = None) -> Shown:
    """Figures and tables that a reader opens when wanted; only ``title`` shows before.

    Figures and tables inside keep their numbers and addresses. ``ValueError`` if there is nothing to fold or no title.

    Parameters
    ----------
    *shown : Shown or Table
        What :func:`companion.figures.show` and :func:`companion.figures.table` give.
    title : str, optional
        What is inside; by default a small run of what is above, and when it was made.
    """
    title = f"The same, {_small_run()}" if title is None else title
    if not shown or not title.strip():
        raise ValueError("folded: give what is folded, and a title that says what it is")
    html = "\n".join(each.html for each in shown)
    text = "\n".join([f"{title}:", *map(repr, shown)])
    return Shown(f'<details class="rerun-fold"><summary>{escape(title)}</summary>{html}</details>', text)
