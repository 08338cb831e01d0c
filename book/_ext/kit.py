"""Sphinx extension behind the kit of the chapters.

- Figures and tables are numbered page by page (``Figure 3.2`` in chapter 3) and become targets: ``fig-<name>`` and
  ``tab-<name>``, which a page names as ``[](#fig-<name>)`` and shows as the number.
- Every figure of a story leads to its printed table, its stored runs and their checks on the chapter's record, whose
  pages are all made from one template.
- A printed cell that a claim recomputes leads to the row of that claim in the ledger.
- Code that only shows what is ready is left out of the page, code that measures or computes is folded; a cell tagged
  ``teaches`` stays.
- A notebook names figures, tables and sources in words, because JupyterLab shows no number and knows no bibliography:
  ``[the table of sizes](#tab-sizes)`` becomes the number, ``[Hague 2006](../book/references.bib#p5plus)`` the citation.
- Where a page first uses a term of the glossary, the term leads there and tells its meaning to who points at it.
- A card on the first page gets the first figure of its chapter as it was built, and the minutes to read.
"""

import json
import re
from html import escape
from pathlib import Path

from docutils import nodes

from supercomputers_rerun.companion import items, tables
from supercomputers_rerun.companion.common import plural
from supercomputers_rerun.companion.pages.chapter_record import checks, stored_runs

RECORDS, STORIES = "book/records/", "notebooks/"
TEMPLATE = Path(__file__).resolve().parent.parent / "_templates" / "chapter_record.md"
#: The table of points of a chapter that compares the reports, and a heading of every record, as addresses.
POINTS, ARITHMETIC = "#tab-points", "#the-report-s-arithmetic-rechecked"
#: Where the caption of a figure ends, before its small print.
END = re.compile(r"(?=<small class=\"rerun-small\")|(?<!</small>)(?=</figcaption>)")
GLOSSARY = "book/glossary"
LEDGER = "book/ledger"
CLAIMED = re.compile(r'(<td [^>]*data-claim="([^"]+)"[^>]*>)(.*?)</td>')
COMPUTES = re.compile(r"\.run\(|^\s*(?:assert|def|for|print|while)\b", re.MULTILINE)
NUMBER = '<span class="rerun-number"></span>'
OPENING = re.compile(r'<(figure|div|details) class="rerun-(figure|block)" data-name="([^"]*)"')
CITED = re.compile(r"\[[^\]]+\]\(\.\./book/references\.bib#([\w-]+)\)")
NAMED = re.compile(r"\[the (?:figure|table)\b[^\]]*\]\((#(?:fig|tab)-[\w-]+)\)", re.IGNORECASE)
#: Where a card wants something of a chapter, and what cannot stand twice in a page, or be reached in a card.
CARD = re.compile(r'<span class="rerun-card-(picture|minutes)" data-page="([^"]+)"(?: data-figure="([^"]+)")?></span>')
OWN = re.compile(r'(\bid="|url\(#|href="#)')
REACHED = re.compile(r' (?:tabindex|role|aria-label|data-panels)="[^"]*"|<g class="rerun-marks".*?</g>', re.DOTALL)
LEFT_OUT, FOLDED, OPEN = "remove-input", "hide-input", "teaches"


def chapter(docname: str) -> str:
    """Number of a chapter by its file's name, with a full stop, after an R on its record; nothing for other pages."""
    found = re.search(r"(?:^|/)(\d+)_", docname)
    return f"{'R' * docname.startswith(RECORDS)}{int(found.group(1))}." if found else ""


def numbered(html: str, prefix: str, counts: dict, seen: set) -> tuple[str, list[tuple[str, str]]]:
    """``html`` with numbers and ids, and ``(id, label)`` of each figure and table in it."""
    labels = []

    def open_tag(match) -> str:
        tag, kind, name = match.groups()
        word, short = ("Figure", "fig") if kind == "figure" else ("Table", "tab")
        counts[word] = counts.get(word, 0) + 1
        identity = base = f"{short}-{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-').lower()}"
        copies = 1
        while identity in seen:
            copies += 1
            identity = f"{base}-{copies}"
        seen.add(identity)
        labels.append((identity, f"{word} {prefix}{counts[word]}"))
        return f'<{tag} id="{identity}" class="rerun-{kind}" data-name="{name}"'

    html = OPENING.sub(open_tag, html)
    for _, label in labels:
        html = html.replace(NUMBER, f'<span class="rerun-number">{label}. </span>', 1)
    return html, labels


def claimed(html: str, ledger: str) -> str:
    """``html`` with the cells that claims recompute leading to the page at ``ledger``."""
    return CLAIMED.sub(rf'\1<a class="rerun-claim" href="{ledger}#\2">\3</a></td>', html)


def record_of(docname: str) -> str:
    """``notebooks/03_nht1`` -> ``book/records/03_nht1``."""
    return docname.replace(STORIES, RECORDS, 1)


def leading(html: str, address: str) -> str:
    """Links from a figure of a story to the record: the table it draws, the run it draws, and how this was checked.

    A figure of no report leads to the table of points of its page, each of which has its own source.
    """
    name, run = (found[1] if (found := re.search(rf' data-{key}="([^"]+)"', html)) else "" for key in ("name", "run"))
    document = name.partition("_")[0]
    if document not in tables.documents():
        return (
            f'<span class="rerun-screen"> · <a class="rerun-more" href="{POINTS}">all numbers of this figure</a></span>'
        )

    def of(other: str) -> str:
        """The address of another document's record, beside that of this chapter's."""
        return re.sub(r"[^/]+(?=\.html$)", items.page(other), address)

    links = {}
    if drawn_here := tables.drawn(html, document):
        links["printed table"] = f"{of(drawn_here[0][0])}#{tables.anchor(*drawn_here[0])}"
    home = run.partition("-")[0]
    if run and run in set(stored_runs(home).get("experiment", ())):  # a study may have none
        links["stored runs"] = f"{of(home)}#run-{run}"
    checked = "stored runs" in links and run in set(checks(home)["experiment"])
    links["how it was checked"] = f"{of(home)}#checks-{run}" if checked else address + ARITHMETIC
    more = "".join(f' · <a class="rerun-more" href="{place}">{words}</a>' for words, place in links.items())
    return f'<span class="rerun-screen">{more}</span>'


def minutes(doctree) -> int:
    """How long a story takes to read: 200 words a minute and 20 s a figure."""
    words = sum(len(node.astext().split()) for node in doctree.findall(nodes.paragraph))
    drawn = sum('class="rerun-figure"' in node.astext() for node in doctree.findall(nodes.raw))
    return max(1, round(words / 200 + drawn / 3))


def _lead(doctree, address: str) -> None:
    """Every figure of a story leads to its numbers and checks."""
    for node in doctree.findall(nodes.raw):
        if '<figure class="rerun-figure"' in node.astext():
            html = END.sub(leading(node.astext(), address), node.astext())
            node.rawsource, node.children = html, [nodes.Text(html)]


def _announce(app, doctree) -> None:
    """Below the title of a story: how long it takes to read, and where its record is."""
    docname = app.env.docname
    if not docname.startswith(STORIES):
        return
    record = record_of(docname)
    known = record in app.env.found_docs  # a chapter that compares the reports has none
    address = app.builder.get_relative_uri(docname, record) if known else ""
    _lead(doctree, address)
    more = f' <a href="{address}">The record</a> holds the printed tables, all numbers and checks.' if known else ""
    html = f'<p class="rerun-reading">{plural(minutes(doctree), "minute")} to read.{more}</p>'
    title = doctree.next_node(nodes.title)
    title.parent.insert(title.parent.index(title) + 1, nodes.raw("", html, format="html"))


def small(html: str, prefix: str, name: str = '[^"]*') -> str:
    """The first drawing in ``html``, or that of a name, as a card shows it: neither read out nor reached by a key."""
    found = re.search(rf'class="rerun-figure" data-name="{name}".*?(<svg.*?</svg>)', html, re.DOTALL)
    if found is None:
        return ""
    svg = REACHED.sub("", OWN.sub(rf"\g<1>{prefix}-", found[1]))
    return f'<span class="rerun-card-picture" aria-hidden="true" inert>{svg}</span>'


def _deal(app, doctree, docname) -> None:
    """Cards get the first figure and the minutes of their chapters, where these belong to the book."""

    def dealt(match) -> str:
        what, page, name = match.groups(default='[^"]*')
        if page not in app.env.found_docs:
            return ""
        chapter = app.env.get_doctree(page)
        if what == "minutes":
            return f"{plural(minutes(chapter), 'minute')} to read"
        drawn = (node.astext() for node in chapter.findall(nodes.raw))
        return next(filter(None, (small(html, page.rpartition("/")[2], name) for html in drawn)), "")

    for node in doctree.findall(nodes.raw):
        if CARD.search(node.astext()):
            html = CARD.sub(dealt, node.astext())
            node.rawsource, node.children = html, [nodes.Text(html)]


def _write_out(app, docname, source) -> None:
    """A record's file has its title alone; the rest is the same for all."""
    if docname.startswith(RECORDS):
        number, _, document = docname.removeprefix(RECORDS).partition("_")
        named = {"title": source[0].strip(), "stem": f"{number}_{document}", "document": document}
        source[0] = TEMPLATE.read_text(encoding="utf-8").format(number=int(number), **named)


def _number(app, doctree) -> None:
    docname = app.env.docname
    counts: dict[str, int] = {}
    seen: set[str] = set()
    ledger = app.builder.get_relative_uri(docname, LEDGER)
    domain = app.env.domaindata["std"]
    for node in list(doctree.findall(nodes.raw)):
        if "html" not in node.get("format", "") or "data-name=" not in node.astext():
            continue
        html, labels = numbered(claimed(node.astext(), ledger), chapter(docname), counts, seen)
        node.rawsource = html
        node.children = [nodes.Text(html)]
        for identity, label in labels:
            if docname.startswith(STORIES) or identity not in domain["labels"]:  # a story means its own figure
                domain["labels"][identity] = (docname, identity, label)
                domain["anonlabels"][identity] = (docname, identity)


def dressing(source: str) -> str:
    """The tag that suits a cell: code that measures, checks or computes is folded, what only shows is left out."""
    return FOLDED if COMPUTES.search(source) else LEFT_OUT


def referring(source: str) -> str:
    """A cell's text with citations and numbers for what the notebook names in words."""
    return NAMED.sub(r"[](\1)", CITED.sub(r"{cite}`\1`", source))


def dressed(text: str) -> str:
    """A notebook's file with references as the book has them, and with the tags that :func:`dressing` gives its cells
    where they carry none of the kind."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = referring("".join(cell["source"]))
    for cell in notebook["cells"]:
        tags = cell["metadata"].setdefault("tags", [])
        own = {"parameters", OPEN} & set(tags) or any(word.startswith(("remove-", "hide-")) for word in tags)
        if cell["cell_type"] == "code" and not own:
            tags.append(dressing("".join(cell["source"])))
    return json.dumps(notebook)


def _dress(app, docname, source) -> None:
    if app.env.doc2path(docname).endswith(".ipynb"):
        source[0] = dressed(source[0])


def _read_terms(app, env) -> None:
    """Each term of the glossary: its anchor and its meaning."""
    env.rerun_terms = found = {}
    if GLOSSARY not in env.found_docs:
        return
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        meaning = " ".join(item.next_node(nodes.definition).astext().split())
        for term in item.findall(nodes.term):
            if term.get("ids"):
                found[term.astext()] = (term["ids"][0], meaning)


def _link_terms(app, doctree, docname) -> None:
    if docname == GLOSSARY or app.builder.format != "html":
        return
    terms = dict(app.env.rerun_terms)
    if not terms:
        return
    pattern = re.compile(
        r"(?<![\w-])(" + "|".join(map(re.escape, sorted(terms, key=len, reverse=True))) + r")(?![\w-])"
    )
    address = app.builder.get_relative_uri(docname, GLOSSARY)
    for text in list(doctree.findall(nodes.Text)):
        above, inside = text.parent, []
        while above is not None:
            inside.append(type(above))
            above = above.parent
        if nodes.paragraph not in inside and nodes.list_item not in inside:
            continue
        if any(issubclass(kind, nodes.title | nodes.reference | nodes.literal | nodes.math | nodes.raw | nodes.strong)
               for kind in inside):  # fmt: skip
            continue
        match = pattern.search(text.astext())
        if match is None or match.group(1) not in terms:
            continue
        identity, meaning = terms.pop(match.group(1))
        link = (
            f'<a class="rerun-term" href="{address}#{identity}" data-meaning="{escape(meaning)}">{match.group(1)}</a>'
        )
        whole = text.astext()
        text.parent.replace(
            text,
            [nodes.Text(whole[: match.start()]), nodes.raw("", link, format="html"), nodes.Text(whole[match.end() :])],
        )
        if not terms:
            return


def setup(app):
    app.connect("source-read", _dress)
    app.connect("source-read", _write_out)
    # before figures are numbered and headings collected
    app.connect("doctree-read", _announce, priority=400)
    app.connect("doctree-read", _number)
    app.connect("env-updated", _read_terms)
    # the first page shows figures of pages that may have changed while it has not
    app.connect("env-updated", lambda app, env: [env.config.root_doc])
    app.connect("doctree-resolved", _deal)
    app.connect("doctree-resolved", _link_terms, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
