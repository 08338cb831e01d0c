"""A small page with all that the book's pages have of the measurement of their reader's device, on a server or not."""

import contextlib
import http.server
import json
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from built import ROOT, running

STATIC = ROOT / "book" / "_static"
COLOURS = {
    "light": "background:#fff;surface:#f5f5f5;text-base:#222832;border:#c9c9c9;primary:#0a7d91;text-muted:#48566b",
    "dark": "background:#14181e;surface:#29313d;text-base:#ced6dd;border:#48566b;primary:#3fb1c5;text-muted:#9ca4af",
}
_PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><meta charset="utf-8"><title>This device</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>html {{ {colours} }} body {{ background: var(--pst-color-background); color: var(--pst-color-text-base) }}
figure {{ margin: 0 }}</style>
<link rel="stylesheet" href="device/device.css">
<script defer src="device/device.js"></script>{page}<script defer src="device/join.js"></script>
<body><main><h1>This device</h1>{box}{figures}</main></body></html>"""
#: Cases that the pages measure, so that tests take little time; the built page measures all.
FEW = {"stride-4096-1", "stride-4096-16", "stride-1048576-1"}
FEW |= {"loop-s1", "loop-s10", "loop-streaming", "loop-skipping", "bt-S", "forecast-63"}
#: The other pages of a book: a chapter with a figure, before which nothing was loaded.
_CHAPTER = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A chapter</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="device/device.css">
<script defer src="device/join.js"></script><body>{figures}</body></html>"""


def write(folder: Path, figures: str) -> Path:
    """The pages ``light.html``, ``dark.html`` and ``chapter.html`` in ``folder``, with these figures."""
    sys.path.append(str(ROOT / "book" / "_ext"))
    import device

    shutil.copytree(STATIC / "device", folder / "device", dirs_exist_ok=True)
    device.write(folder / "device")
    plan = folder / "device" / "plan.js"
    head, _, value = plan.read_text(encoding="utf-8").partition(" = ")
    few = json.loads(value.rstrip(";\n"))
    few["cases"] = [case for case in few["cases"] if case["name"] in FEW]
    plan.write_text(f"{head} = {json.dumps(few)};\n", encoding="utf-8")
    box = '<div id="rerun-device">no script ran</div><div id="rerun-device-tables"></div>'
    page = '<script defer src="device/page.js"></script>'
    for theme, listed in COLOURS.items():
        colours = ";".join(f"--pst-color-{each}" for each in listed.split(";"))
        text = _PAGE.format(theme=theme, colours=colours, page=page, box=box, figures=figures)
        (folder / f"{theme}.html").write_text(text, encoding="utf-8")
    (folder / "chapter.html").write_text(_CHAPTER.format(figures=figures), encoding="utf-8")
    return folder


@contextlib.contextmanager
def proxy() -> Iterator[tuple[str, list[tuple[str, str, int]]]]:
    """Address of a proxy, and what it is asked for: method, address, bytes of the body.  Only loopback is passed on."""
    asked: list[tuple[str, str, int]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def _note(self) -> int:
            size = int(self.headers.get("Content-Length") or 0)
            asked.append((self.command, self.path, size))
            return size

        def do_GET(self):
            self._note()
            if urlsplit(self.path).hostname != "127.0.0.1":
                self.send_error(403)
                return
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            try:
                with opener.open(self.path) as answer:
                    body, kind = answer.read(), answer.headers["Content-Type"]
            except urllib.error.HTTPError as error:
                self.send_error(error.code)
                return
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def _refused(self):
            self.rfile.read(self._note())
            self.send_error(403)

        do_POST = do_PUT = do_CONNECT = do_HEAD = do_OPTIONS = _refused

    with running(Handler) as port:
        yield f"127.0.0.1:{port}", asked
