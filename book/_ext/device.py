"""Sphinx extension that gives the book the modules with which it measures its reader's device.

Kernels are compiled to WebAssembly from their sources (``kernels.portable.build``) and written beside the scripts in
``_static/device``: one script a kernel, with the module as text and its cases, since a page opened from a folder may
read no other file.  Nothing of it is loaded before a reader asks.
"""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from supercomputers_rerun.companion import host
from supercomputers_rerun.kernels.portable import build

ROOT = Path(__file__).resolve().parents[2]
PAGE, FIGURE = 'id="rerun-device"', "data-panels="
#: The page that measures: a book without it needs no kernels, which take half a minute to compile.
DOCUMENT = "book/device"


def _part(name: str, value) -> str:
    """A script that hands over ``value`` under its name."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"((window.rerunDevice ??= {{}}).parts ??= {{}})[{json.dumps(name)}] = {text};\n"


def parts(folder: Path, engine: str) -> Iterator[tuple[str, str]]:
    """Name and text of every script: the plan, the worker, a kernel each; ``folder`` is that of ``build.build``."""
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    plan = [{word: case[word] for word in ("name", "label", "kernel")} for case in cases]
    yield "plan", _part("plan", {"cases": plan, "provenance": host.describe()["provenance"]})
    yield "worker", engine + _part("worker", engine)
    for kernel in dict.fromkeys(case["kernel"] for case in cases):
        module = (folder / f"{kernel}.wasm").read_bytes()
        mine = [case for case in cases if case["kernel"] == kernel]
        packed = base64.b64encode(module).decode()
        yield kernel, _part(kernel, {"module": packed, "sum": zlib.crc32(module), "cases": mine})


def write(out: Path) -> None:
    """The scripts into the folder ``out``."""
    engine = (ROOT / "book" / "_static" / "device" / "engine.js").read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in parts(build.build(ROOT / ".cache"), engine):
        (out / f"{name}.js").write_text(text, encoding="utf-8")


def _write(app, exception) -> None:
    if exception is None and app.builder.format == "html" and DOCUMENT in app.env.found_docs:
        write(Path(app.outdir) / "_static" / "device")


def _dress(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body", "")
    if FIGURE in body or PAGE in body:
        app.add_css_file("device/device.css")
    if PAGE in body:
        app.add_js_file("device/device.js", loading_method="defer")
        app.add_js_file("device/page.js", loading_method="defer")
    if FIGURE in body:
        app.add_js_file("device/join.js", loading_method="defer")


def setup(app):
    app.connect("html-page-context", _dress)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
