"""Sphinx extension that gives each chapter's figures as one download: slides in one page, and each figure as SVG."""

import re
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from companion.files import write_zip

INK = "#1f2328"
FIGURE = re.compile(
    # of two drawings the last, which is the one for a page
    r'<figure[^>]*class="rerun-figure"[^>]*data-name="([^"]+)"[^>]*>.*?(<svg(?:(?!<svg).)*</svg>)\s*'
    r"<figcaption[^>]*>(.*?)</figcaption>",
    re.S,
)
#: Everything of the page is in it: no file, no script, dark ink on white also where the system is dark.
SLIDES = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: 297mm 167mm; margin: 0 }}
:root {{ color-scheme: light }}
body {{ margin: 0; font: 1.6vmin/1.4 sans-serif; color: {ink}; background: #fff }}
section {{ height: 100vh; box-sizing: border-box; padding: 3vmin 6vmin; display: flex; flex-direction: column;
  justify-content: center; break-after: page }}
h1 {{ font-size: 3.4vmin; margin: 0 0 2vmin }}
svg {{ flex: 1; min-height: 0; width: 100%; stroke-linejoin: round; stroke-linecap: butt }}
p {{ font-size: 2vmin; margin: 1.5vmin 0 0 }}
</style></head><body>
{slides}
</body></html>
"""


class Slide(NamedTuple):
    """One figure: the name of its file, its number and title, its drawing in print colours, what it shows."""

    name: str
    title: str
    svg: str
    caption: str


def slides(body: str) -> list[Slide]:
    """The figures of a page in order; a name that comes again gets a number."""
    found: list[Slide] = []
    for name, svg, caption in FIGURE.findall(body):
        words = re.sub(r"(?:·\s*)?<a .*?</a>|<details.*?</details>", "", caption, flags=re.S)
        head, bold, rest = words.rpartition("</strong>")
        title, text = (" ".join(unescape(re.sub(r"<[^>]*>", "", part)).split()) for part in (head + bold, rest))
        again = sum(one.name.partition("-")[0] == name for one in found)
        label = f"{name}-{again + 1}" if again else name
        drawn = svg.replace("currentColor", INK).replace("display:none", "display:block", 1)
        found.append(Slide(label, title.rstrip("."), drawn, text))
    return found


def page(title: str, source: str, found: list[Slide]) -> str:
    """All slides as one page, which a browser shows and prints, a slide a sheet."""
    sections = (
        f"<section><h1>{escape(one.title)}</h1>{one.svg}<p>{escape(one.caption)}</p><p>{escape(source)}</p></section>"
        for one in found
    )
    return SLIDES.format(ink=INK, title=escape(title), slides="\n".join(sections))


def pack(path: Path, title: str, source: str, found: list[Slide]) -> None:
    """Slides and figures as one zip, whole or not at all."""
    files = {"slides.html": page(title, source, found)} | {f"figures/{one.name}.svg": one.svg for one in found}
    write_zip(path, path.stem, files)


def _dress(app, pagename, templatename, context, doctree) -> None:
    from companion import tables

    found = slides(context.get("body", "")) if pagename.startswith("notebooks/") else []
    if not found:
        return
    name, title = pagename.partition("/")[2], re.sub(r"<[^>]*>", "", context.get("title", ""))
    document = name.partition("_")[2]
    after = f" After {tables.citation(document)}." if document in tables.documents() else ""
    pack(
        Path(app.outdir) / "_static" / "lecture" / f"{name}.zip",
        title,
        f"Supercomputers, Rerun: {title}.{after}",
        found,
    )
    context["body"] += (
        f'<p class="rerun-lecture"><a href="../_static/lecture/{name}.zip" download>All {len(found)} figures of this '
        "chapter</a> as slides and as SVG files, for a lecture.</p>"
    )


def setup(app):
    app.connect("html-page-context", _dress)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
