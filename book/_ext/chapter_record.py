"""Sphinx extension that parts a chapter in two pages: its story, and the record of what stands behind it.

Cells of a notebook with the tag ``record`` leave its page and appear on ``book/records/<notebook>``, where the
directive ``{chapter-record}`` stands, under the headings of the story under which they ran.  A section left without
content leaves the story whole; the section above it ends with a link to where it went, which keeps its anchor.  Every
figure leads to its numbers and checks on the record.  So a chapter is executed once, in one notebook, and is
read as two pages.
"""

import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes

from companion import drawn, items, tables
from companion.pages.chapter_record import is_elsewhere, mark

RECORDS, STORIES, TAG = "book/records/", "notebooks/", "record"
#: What a notebook's own text with the tag is wrapped in; markdown has no cells in a page.
MOVED = "rerun-moved"
TEMPLATE = Path(__file__).resolve().parent.parent / "_templates" / "chapter_record.md"
END = re.compile(r"(?=</figcaption>)")
#: The table of points of a chapter that compares the reports.
POINTS = "#tab-points"
#: Headings of every record, as addresses.
TABLES, ARITHMETIC = "#tables-as-printed", "#the-report-s-arithmetic-rechecked"


class Place(nodes.General, nodes.Element):
    """Where on the record the cells of the story go."""


class ChapterRecord(Directive):
    """``{chapter-record}``: the cells that left the story of this name."""

    def run(self):
        env = self.state.document.settings.env
        env.note_dependency(env.doc2path(story_of(env.docname)))
        env.note_dependency(str(TEMPLATE))
        return [Place()]


def story_of(docname: str) -> str:
    """``book/records/03_nht1`` -> ``notebooks/03_nht1``."""
    return docname.replace(RECORDS, STORIES, 1)


def record_of(docname: str) -> str:
    """``notebooks/03_nht1`` -> ``book/records/03_nht1``."""
    return docname.replace(STORIES, RECORDS, 1)


def wrapped(cell: dict) -> str:
    """The text of a markdown cell, in a container of its own where its tag moves it."""
    text = "".join(cell["source"])
    if TAG not in cell["metadata"].get("tags", []):
        return text
    return f"::::::{{container}} {MOVED}\n{text}\n::::::"


def _leaves(node) -> bool:
    classes = node.get("classes", []) if isinstance(node, nodes.container) else []
    return MOVED in classes or f"tag_{TAG}" in classes


def _section(node):
    while not isinstance(node, nodes.section):
        node = node.parent
    return node


def _is_empty(section) -> bool:
    return all(isinstance(child, nodes.title | nodes.target | nodes.comment) for child in section.children)


def taken(doctree) -> tuple[list[tuple[str, str, bool, list]], dict]:
    """Takes the cells of the record out of a story.

    Returns heading, its id, whether it stays in the story, and the cells of each section; and by section that stays
    the headings and ids of those that left it.
    """
    groups: dict = {}
    for node in [node for node in doctree.findall(nodes.container) if _leaves(node)]:
        section = _section(node)
        groups.setdefault(section["ids"][0], (section, []))[1].append(node)
    for _, cells in groups.values():
        for node in cells:
            node.parent.remove(node)
    found, above = [], {}
    for identity, (section, cells) in groups.items():
        title = section.next_node(nodes.title).astext()
        stays = not _is_empty(section)
        if not stays:
            above.setdefault(section.parent, []).append((title, identity))
            section.parent.remove(section)
        found.append((title, identity, stays, cells))
    return found, above


def _of(document: str, address: str) -> str:
    """The address of a document's record, beside that of this chapter's."""
    return re.sub(r"[^/]+(?=\.html$)", items.page(document), address)


def _links(html: str, section: str, address: str) -> str:
    """Links from one figure of a story to the record: to its numbers, and to how they were checked.

    The numbers are those that the section of the figure keeps there, or else the first printed table that it draws,
    or its run.  The checks are those of the run, which a mark counts, or else of the report's own arithmetic.  Figures
    of no report lead to the table of points of their page, each of which has its own source.
    """
    name, run = (found[1] if (found := re.search(rf' data-{key}="([^"]+)"', html)) else "" for key in ("name", "run"))
    document = name.partition("_")[0]
    if document not in tables.documents():
        return f' · <a class="rerun-more" href="{POINTS}">all numbers of this figure</a>'
    drawn_here = drawn.said(html, document) or drawn.register(document).get(unescape(name))
    printed = f"{_of(drawn_here[0][0], address)}#{drawn.anchor(*drawn_here[0])}" if drawn_here else ""
    made = f"{_of(run.partition('-')[0], address)}#{{}}-{run}" if run else ""
    behind = f"{address}#record-{section}" if section else ""
    links = {"printed table": printed} if printed and behind else {}
    links["all numbers of this figure"] = behind or printed or made.format("run") or address + TABLES
    links["how it was checked"] = made.format("checks") or address + ARITHMETIC
    if run and is_elsewhere(run):
        links["on other machines"] = made.format("elsewhere")
    sign = mark(run) if run else None
    words = "".join(f' · <a class="rerun-more" href="{place}">{words}</a>' for words, place in links.items())
    return words + (sign.html if sign else "")


def _lead(doctree, groups, address: str) -> None:
    """Every figure leads to its numbers and checks on the record; what the whole chapter keeps there is no figure's."""
    more = {identity for _, identity, stays, _ in groups if stays} - {doctree.next_node(nodes.section)["ids"][0]}
    for node in doctree.findall(nodes.raw):
        if '<figure class="rerun-figure"' in node.astext():
            identity = _section(node)["ids"][0]
            html = END.sub(_links(node.astext(), identity if identity in more else "", address), node.astext())
            node.rawsource, node.children = html, [nodes.Text(html)]


def _point(above, address: str) -> None:
    """Sections above those that left end with links to them; chapters do not, their first page names the record."""
    for section, gone in above.items():
        if isinstance(section.parent, nodes.section):
            links = (
                f'<a id="{identity}" href="{address}#record-{identity}">{escape(title)}</a>' for title, identity in gone
            )
            html = f'<p class="rerun-behind">In the record: {", ".join(links)}</p>'
            section += nodes.raw("", html, format="html")


def _minutes(doctree) -> int:
    """Minutes that a story takes to read: 200 words a minute, and 20 seconds for each figure."""
    words = sum(len(node.astext().split()) for node in doctree.findall(nodes.paragraph))
    drawn = sum('<figure class="rerun-figure"' in node.astext() for node in doctree.findall(nodes.raw))
    return max(1, round(words / 200 + drawn / 3))


def _announce(doctree, docname: str, address: str) -> None:
    """Below the title: how long the story takes, and where its record is."""
    title = doctree.next_node(nodes.title)
    html = (
        f'<p class="rerun-reading">{_minutes(doctree)} minutes to read. '
        f'<a href="{address}">The record</a> holds the printed tables, all numbers and checks.</p>'
    )
    title.parent.insert(title.parent.index(title) + 1, nodes.raw("", html, format="html"))


def _part(app, doctree) -> None:
    env, docname = app.env, app.env.docname
    if not hasattr(env, "rerun_moved"):
        env.rerun_moved = {}
    if docname.startswith(STORIES) and record_of(docname) not in env.found_docs:
        _lead(doctree, [], "")  # a chapter that compares the reports has no record of its own
    elif docname.startswith(STORIES):
        groups, above = taken(doctree)
        env.rerun_moved[docname] = groups
        address = app.builder.get_relative_uri(docname, record_of(docname))
        _lead(doctree, groups, address)
        _point(above, address)
        _announce(doctree, docname, address)
    for place in list(doctree.findall(Place)):
        back = app.builder.get_relative_uri(docname, story_of(docname))
        sections = [_behind(group, back) for group in env.rerun_moved.get(story_of(docname), [])]
        for reference in (each for section in sections for each in section.findall(addnodes.pending_xref)):
            reference["refdoc"] = docname  # addresses are relative to the page that shows them
        place.parent.replace(place, sections)


def _behind(group, back: str):
    """One section of the record."""
    title, identity, stays, cells = group
    section = nodes.section(ids=[f"record-{identity}"], names=[])
    section += nodes.title(title, title)
    if stays:
        link = f'<p><a class="rerun-back" href="{back}#{identity}">back to this section of the chapter</a></p>'
        section += nodes.raw("", link, format="html")
    section += [cell.deepcopy() for cell in cells]
    return section


def _write_out(app, docname, source) -> None:
    """A record's file has its title alone; the rest is the same for all."""
    if docname.startswith(RECORDS):
        number, _, document = docname.removeprefix(RECORDS).partition("_")
        named = {"title": source[0].strip(), "stem": f"{number}_{document}", "document": document}
        source[0] = TEMPLATE.read_text(encoding="utf-8").format(number=int(number), **named)


def _stories_first(app, env, docnames) -> None:
    docnames.sort(key=lambda name: name.startswith(RECORDS))


def _with_their_stories(app, env, added, changed, removed):
    """Records whose story is read anew."""
    return [name for name in env.found_docs if name.startswith(RECORDS) and story_of(name) in added | changed]


def _forget(app, env, docname) -> None:
    getattr(env, "rerun_moved", {}).pop(docname, None)


def setup(app):
    app.add_node(Place)
    app.add_directive("chapter-record", ChapterRecord)
    app.connect("source-read", _write_out)
    app.connect("env-before-read-docs", _stories_first)
    app.connect("env-get-outdated", _with_their_stories)
    app.connect("env-purge-doc", _forget)
    # before figures are numbered and headings collected
    app.connect("doctree-read", _part, priority=400)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
