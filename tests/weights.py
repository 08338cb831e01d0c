"""What a first visit to each page transfers and when it paints: ``python tests/weights.py``.

Files go out packed with gzip, as servers send them; the line carries 1.6 Mbit/s with 150 ms for a question and its
answer, which is what browsers call a slow 4G connection.  The processor is not slowed.  The paint is a time and
decides no test; ``tests/book/test_pages.py`` holds the weight.
"""

import contextlib
import gzip
import http.server
import mimetypes
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from built import HTML, PAGES, ROOT, served

#: Bytes that a first visit to a chapter and to another page may transfer, and milliseconds until it paints.
STORY, WEIGHT, PAINT = 600_000, 1_000_000, 2000
BITS_A_SECOND, LATENCY = 1_600_000, 150
PACKED = ("text/", "application/json", "application/javascript", "image/svg+xml")
PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    const [entry] = list.getEntriesByName('first-contentful-paint'); if (entry) done(entry.startTime)
}).observe({type: 'paint', buffered: true}))"""


def limit(path: str) -> int:
    """Bytes that a first visit to the page may transfer."""
    return STORY if path.startswith("notebooks/") else WEIGHT


@cache
def sent(path: Path) -> tuple[bytes, str, bool]:
    """Body, type and whether it is packed, as a server sends this file."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    body = path.read_bytes()
    packed = kind.startswith(PACKED)
    return (gzip.compress(body, 6, mtime=0) if packed else body), kind, packed


class Handler(http.server.BaseHTTPRequestHandler):
    """Files of the built book, packed; keeps its connections as servers do."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = HTML / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        body, kind, packed = sent(path)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)


def visit(browser, address: str, page_path: str, slow: bool = True) -> tuple[int, float]:
    """Bytes of all files of a first visit, and milliseconds to the first contentful paint."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    try:
        page, asked = context.new_page(), set()
        page.on("response", lambda answer: answer.status == 200 and asked.add(urlsplit(answer.url).path))
        if slow:
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            rate = {"downloadThroughput": BITS_A_SECOND / 8, "uploadThroughput": BITS_A_SECOND / 8}
            session.send("Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY, **rate})
        page.goto(address + page_path, wait_until="networkidle", timeout=60_000)
        painted = page.evaluate(PAINTED)
    finally:
        context.close()
    return sum(len(sent(HTML / unquote(path).lstrip("/"))[0]) for path in asked), painted


@contextlib.contextmanager
def opened() -> Iterator[tuple[str, Any]]:
    """Address of the built book and Chromium; ``SystemExit`` where one of them is missing."""
    sys.path.insert(0, str(ROOT))  # before the folder of this file, in which tests of companion have its name
    from playwright.sync_api import sync_playwright  # late: tests are collected with this module

    from companion.host import chromium

    if not PAGES or chromium.executable() is None:
        raise SystemExit("the book is not built, or Chromium is not installed")
    with served(Handler) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
        yield address, browser
        browser.close()


def main() -> int:
    """Print both of every page; status 1 if one is above its limit."""
    heavy = 0
    with opened() as (address, browser):
        for path in PAGES:
            weight, painted = visit(browser, address, path)
            heavy += weight >= limit(path) or painted > PAINT
            print(f"{path:36} {weight / 1000:7.0f} kB {painted / 1000:6.2f} s")
    print(
        f"{heavy} of {len(PAGES)} pages above {WEIGHT / 1e6:g} MB ({STORY / 1e6:g} of a chapter) or {PAINT / 1000:g} s"
    )
    return heavy > 0


if __name__ == "__main__":
    sys.exit(main())
