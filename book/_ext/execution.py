"""Sphinx extension that executes the pages: a cache that cannot lie, and two pages at a time where nothing is measured.

- Notebooks are executed through jupyter-cache, which knows a notebook by its cells alone.  The cache folder
  therefore carries a digest of everything the cells lean on (kernels, companion, data, lock), and the
  digest is part of the environment: when it changes, every page is read and executed anew.  Putting a
  changed file back brings back the earlier digest and with it the earlier cache.
- Before Sphinx reads the pages, those that measure nothing are executed two at a time, kernels are compiled to
  WebAssembly, and where no kernel is compiled yet, each page that measures runs once, its experiments a single time.
  So nothing is compiled and nothing else runs while Sphinx executes the pages that measure, one after the other.
- A build that fails or warns forgets what it had read, so that the next one says the same again.
"""

import hashlib
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import deepcopy
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from sphinx.util import logging

from supercomputers_rerun.companion.figures.rendering import FIGURES

ROOT = Path(__file__).resolve().parent.parent.parent
#: Everything besides its own text that the result of a notebook depends on.
SOURCES = ("kernels", "supercomputers_rerun", "data", "requirements.lock")
#: What makes a page of an executed notebook; a change reads and writes every page anew and executes none.
MAKERS = ("book/_ext", "book/_templates")
KEPT_CACHES = 4
#: Seconds that a quick run of a page samples at most.
BUDGET, QUICK = "RERUN_BUDGET", "3"
#: What a page calls that measures.
MEASURES = re.compile(r"\.run\(|timeit")
#: The page that measures its reader's device: a book without it needs no kernels for browsers.
DEVICE = "book/device"
AT_ONCE = 2
log = logging.getLogger(__name__)


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
    os.environ.setdefault(BUDGET, QUICK)  # the kernels that execute the notebooks inherit it
    config.sources_digest, config.makers_digest = digest(), digest(sources=MAKERS)
    build = Path(app.outdir).parent
    folder = build / f".jupyter_cache-{config.sources_digest}"
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    for stale in _caches(build)[KEPT_CACHES:]:
        shutil.rmtree(stale, ignore_errors=True)
    config.nb_execution_cache_path = str(folder)


def _notebook(app, docname: str):
    """A page as the notebook that is executed; None where it has no code."""
    env, path = app.env, app.env.doc2path(docname)
    text = [Path(path).read_text(encoding="utf-8")]
    app.emit("source-read", docname, text)
    reader = create_nb_reader(path, env.myst_config, env.mystnb_config, text[0])
    return reader and reader.read(text[0])


def _measures(notebook) -> bool:
    return any(cell.cell_type == "code" and MEASURES.search(cell.source) for cell in notebook.cells)


def _try(notebook, folder: Path, timeout: int) -> None:
    """Each cell once, so that its kernels are compiled; what it shows is thrown away."""
    client = NotebookClient(notebook, timeout=timeout, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, FIGURES: "text", BUDGET: "0"})


def _run_ahead(app, env, docnames) -> None:
    if not docnames:
        return
    cache = get_cache(app.config.nb_execution_cache_path)
    known = {record.hashkey for record in cache.list_cache_records()}
    found = {name: notebook for name in docnames if (notebook := _notebook(app, name))}
    left = {name: each for name, each in found.items() if cache.create_hashed_notebook(each)[1] not in known}
    timeout = app.config.nb_execution_timeout
    with ThreadPoolExecutor(AT_ONCE) as pool:
        if DEVICE in docnames:
            from supercomputers_rerun.kernels.portable import build

            pool.submit(build.build, ROOT / ".cache")
        if any(map(_measures, left.values())):
            from supercomputers_rerun.kernels.runtime.jit import CACHE_FOLDER

            if CACHE_FOLDER and not any(CACHE_FOLDER.rglob("*.nbc")):
                for name in filter(lambda name: _measures(left[name]), left):
                    pool.submit(_try, deepcopy(left[name]), Path(env.doc2path(name)).parent, timeout)
        quiet = {}
        for name, notebook in left.items():
            if not _measures(notebook):
                folder = str(Path(env.doc2path(name)).parent)
                quiet[pool.submit(single_nb_execution, notebook, folder, timeout, allow_errors=False)] = name
        for done in as_completed(quiet):
            name, result = quiet[done], done.result()
            if result.err is None:  # what failed Sphinx executes again, and says why
                log.info(f"{env.doc2path(name)}: Executed notebook in {result.time:.2f} seconds")
                bundle = CacheBundleIn(result.nb, env.doc2path(name), data={"execution_seconds": result.time})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _forget_failure(app, exception) -> None:
    if exception is not None or app._warncount:
        for name in ("environment.pickle", ".buildinfo"):
            (Path(app.doctreedir) / name).unlink(missing_ok=True)


def setup(app):
    for name in ("sources_digest", "makers_digest"):
        app.add_config_value(name, "", "env", [str])
    app.connect("config-inited", _key_cache, priority=100)
    app.connect("env-before-read-docs", _run_ahead)
    app.connect("build-finished", _forget_failure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
