"""Sphinx extension that keeps pages light: a page loads what it uses, and nothing else.

- Scripts and style sheets of extensions leave the pages that use nothing of them.
- Rules of the theme's style sheets whose classes no page and no script mentions are dropped.
- The data behind figures and tables, which a notebook carries as addresses of kind ``data:``, become files of
  ``_static/csv``.
"""

import base64
import binascii
import hashlib
import re
from pathlib import Path

import tinycss2

#: script or style sheet -> what a page that uses it contains
USES = {
    "design-tabs": r'class="[^"]*\bsd-tab',
    "sphinx-design": r'class="[^"]*\bsd-',
    "togglebutton": r'class="(?:[^"]* )?(?:toggle|dropdown)[ "]',
    "toggle": r'class="(?:[^"]* )?(?:toggle|dropdown)[ "]',
    "clipboard": r'class="highlight',
    "copybutton": r'class="highlight',
    "mystnb": r'class="[^"]*\bcell\b',
}
SHEETS = (
    "basic.css",
    "styles/pydata-sphinx-theme.css",
    "styles/sphinx-book-theme.css",
    "sphinx-design.min.css",
    "mystnb.*.css",
)
#: Classes that scripts give to elements while a page is open.
LIVE = set(
    "show showing hide hiding fade active collapsing collapsed disabled tooltip tooltip-inner tooltip-arrow "
    "bs-tooltip-auto bs-tooltip-top bs-tooltip-bottom bs-tooltip-start bs-tooltip-end dropdown-menu-end "
    "highlighted scrolled noprint onlyprint current search search-summary context pst-sidebar-hidden "
    "hide-on-wide".split()
)
SCRIPTS = ("scripts/pydata-sphinx-theme.js", "scripts/sphinx-book-theme.js", "copybutton.js", "searchtools.js")
CSV = re.compile(r'<a download="([^"]+)\.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"')


def _text(item) -> str:
    return f"{getattr(item, 'filename', item) or ''} {getattr(item, 'attributes', {}).get('body', '')}"


def used(item, body: str) -> bool:
    """Whether the page with this ``body`` uses a script or style sheet; those of unknown names stay."""
    text = _text(item)
    wanted = [pattern for name, pattern in USES.items() if name in text.rsplit("/", 2)[-1] or f"/{name}/" in f"/{text}"]
    return not wanted or any(re.search(pattern, body) for pattern in wanted)


def filed(body: str, folder: Path, prefix: str) -> str:
    """``body`` with its data addresses replaced by files in ``folder``, reached through ``prefix``.

    Other data under a name that the page has used gets a number: no two of its files are saved under one name.
    """
    named: dict[str, list[bytes]] = {}

    def place(match) -> str:
        name, packed = match.groups()
        try:
            content = base64.b64decode(packed, validate=True)
        except binascii.Error:
            return match.group()
        file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}-{hashlib.sha256(content).hexdigest()[:8]}.csv"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        contents = named.setdefault(name, [])
        if content not in contents:
            contents.append(content)
        copy = contents.index(content)
        return f'<a download="{name}{f"-{copy + 1}" if copy else ""}.csv" href="{prefix}{file.name}"'

    return CSV.sub(place, body)


def _lighten(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    if body:
        depth = pagename.count("/")
        context["body"] = filed(body, Path(app.outdir) / "_static" / "csv", "../" * depth + "_static/csv/")
    for kind in ("script_files", "css_files"):
        context[kind][:] = [item for item in context[kind] if used(item, body)]
    if pagename != "search":  # whose scripts follow one another without waiting for the page
        context["script_files"][:] = map(_deferred, context["script_files"])


def _deferred(script):
    """A copy of ``script`` that waits for the page; inline scripts of the theme speak to the options, which do not."""
    name = getattr(script, "filename", None) or ""
    if not name or "documentation_options" in name:
        return script
    return type(script)(script.filename, priority=script.priority, **{**script.attributes, "defer": "defer"})


def _selectors(prelude: str) -> list[str]:
    """The parts of a list of selectors, split at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(prelude):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(prelude[start:place])
            start = place + 1
    return [*parts, prelude[start:]]


def _lives(selector: str, words: set[str]) -> bool:
    """Whether all classes and ids of a selector occur; those within brackets are choices and do not count."""
    plain = re.sub(r"\[[^\]]*\]", "", selector)
    while "(" in plain:
        shorter = re.sub(r"\([^()]*\)", "", plain)
        if shorter == plain:
            return True
        plain = shorter
    return all(word.replace("\\", "") in words for word in re.findall(r"[.#]((?:[\w-]|\\.)+)", plain))


def pruned(css: str, words: set[str]) -> str:
    """The rules of ``css`` that can apply to pages and scripts with these ``words``."""

    def kept(rules) -> str:
        out = []
        for rule in rules:
            if rule.type == "qualified-rule":
                names = [name for name in _selectors(tinycss2.serialize(rule.prelude)) if _lives(name, words)]
                if names:
                    out.append(f"{','.join(names).strip()}{{{tinycss2.serialize(rule.content).strip()}}}")
            elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports") and rule.content:
                inner = kept(tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True))
                if inner:
                    out.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
            elif rule.type == "at-rule" and not (
                rule.lower_at_keyword == "font-face" and "Awesome" in tinycss2.serialize(rule.content)
            ):
                out.append(rule.serialize())
        return "\n".join(out)

    return kept(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True))


def _words(out: Path) -> set[str]:
    """Every class and id of every page, and every word of the scripts that set some."""
    found = set(LIVE)
    for page in out.rglob("*.html"):
        if "_static" not in page.relative_to(out).parts:
            text = page.read_text(encoding="utf-8")
            for value in set(re.findall(r'\b(?:class|id)="([^"]*)"', text)):
                found.update(value.split())
    for script in SCRIPTS:
        file = out / "_static" / script
        if file.exists():
            found.update(re.findall(r"[A-Za-z][\w-]+", file.read_text(encoding="utf-8")))
    return found


def _shrink(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    words = {word for word in _words(out) if not word.startswith("fa-")}
    for pattern in SHEETS:
        for sheet in (out / "_static").glob(pattern):
            text = sheet.read_text(encoding="utf-8")
            shorter = pruned(text, words)
            if len(shorter) < len(text):
                sheet.write_text(shorter, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", _lighten, priority=950)
    app.connect("build-finished", _shrink)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
