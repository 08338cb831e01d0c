"""Sphinx extension of this book: pages that ask nobody else for anything, and a cache that cannot lie.

- Notebooks are executed through jupyter-cache, which knows a notebook by its cells alone.  The cache folder
  therefore carries a digest of everything the cells lean on (kernels, companion, data, lock), and the
  digest is part of the environment: when it changes, every page is read and executed anew.  Putting a
  changed file back brings back the earlier digest and with it the earlier cache.
- A build that fails or warns forgets what it had read, so that the next one says the same again.
- The scripts of thebe, which look for a live kernel elsewhere and fail without one, are dropped.
"""

import hashlib
import os
import shutil
from pathlib import Path

from companion.figures.rendering import FIGURES

ROOT = Path(__file__).resolve().parent.parent.parent
#: Everything besides its own text that the result of a notebook depends on.
SOURCES = ("kernels", "companion", "data", "requirements.lock")
#: What makes a page of an executed notebook; a change reads and writes every page anew and executes none.
MAKERS = ("book/_ext", "book/_templates")
KEPT_CACHES = 4
#: Seconds that a quick run of a page samples at most.
QUICK = "3"


def digest(root: Path = ROOT, sources: tuple[str, ...] = SOURCES) -> str:
    """Hexadecimal digest over the names and contents of all files in ``sources``."""
    total = hashlib.sha256()
    for source in sources:
        start = root / source
        files = [start] if start.is_file() else sorted(start.rglob("*"))
        for path in files:
            name = path.relative_to(root)
            hidden = any(part == "__pycache__" or part.startswith(".") for part in name.parts)
            if path.is_file() and not hidden:
                total.update(name.as_posix().encode() + b"\0")
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _caches(build: Path) -> list[Path]:
    return sorted(build.glob(".jupyter_cache-*"), key=lambda path: path.stat().st_mtime, reverse=True)


def _key_cache(app, config) -> None:
    os.environ[FIGURES] = "page"  # the kernels that execute the notebooks inherit it
    os.environ.setdefault("RERUN_BUDGET", QUICK)
    config.sources_digest, config.makers_digest = digest(), digest(sources=MAKERS)
    build = Path(app.outdir).parent
    folder = build / f".jupyter_cache-{config.sources_digest}"
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    for stale in _caches(build)[KEPT_CACHES:]:
        shutil.rmtree(stale, ignore_errors=True)
    config.nb_execution_cache_path = str(folder)


def _forget_failure(app, exception) -> None:
    if exception is not None or app._warncount:
        for name in ("environment.pickle", ".buildinfo"):
            (Path(app.doctreedir) / name).unlink(missing_ok=True)


def _drop_scripts(app, pagename, templatename, context, doctree) -> None:
    def ours(script) -> bool:
        name, body = str(getattr(script, "filename", script) or ""), getattr(script, "attributes", {})
        return "thebe" not in name and "thebe" not in str(body.get("body", ""))

    context["script_files"][:] = [script for script in context["script_files"] if ours(script)]
    context["css_files"][:] = [
        sheet for sheet in context["css_files"] if "thebe" not in str(getattr(sheet, "filename", sheet))
    ]


def _list_references(app, pagename, templatename, context, doctree) -> None:
    """Entries of the bibliography as items of their list: the role that docutils gives them is none of a list's."""
    context["body"] = context.get("body", "").replace('role="doc-biblioentry"', 'role="listitem"')


def _reach_tables(app, pagename, templatename, context, doctree) -> None:
    """Tables of the text can be scrolled by keyboard where they are wider than a phone, as framed ones can."""
    context["body"] = context.get("body", "").replace('<table class="table"', '<table class="table" tabindex="0"')


def setup(app):
    for name in ("sources_digest", "makers_digest"):
        app.add_config_value(name, "", "env", [str])
    app.connect("config-inited", _key_cache, priority=100)
    app.connect("html-page-context", _drop_scripts, priority=900)
    app.connect("html-page-context", _list_references)
    app.connect("html-page-context", _reach_tables)
    app.connect("build-finished", _forget_failure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
