"""The built book for tests in a browser: its pages, a server on loopback, and a visit that notes all complaints."""

import contextlib
import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "book" / "_build" / "html"
REQUIRED = bool(os.environ.get("RERUN_REQUIRE_BROWSER"))
PAGES = (
    sorted(
        path.relative_to(HTML).as_posix()
        for path in HTML.rglob("*.html")
        if "_static" not in path.parts and path != HTML / "index.html"
    )
    if HTML.is_dir()
    else []
)
CHAPTERS = [path for path in PAGES if path.startswith("notebooks/")]


def make_book(root: Path) -> subprocess.CompletedProcess[str]:
    """What ``make book`` runs, on the sources in ``root``."""
    recipe = re.search(r"^book:.*\n\t\$\(BIN\)/(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    program, *arguments = recipe.split()
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def absent(sentence: str) -> None:
    """Skip, or fail where the browser and the book are required."""
    if REQUIRED:
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


@contextlib.contextmanager
def running(handler: type[http.server.BaseHTTPRequestHandler]):
    """A free port of loopback on which ``handler`` answers."""
    silent = type("Silent", (handler,), {"log_message": lambda *arguments: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), silent) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@contextlib.contextmanager
def served(folder: Path):
    """Base address of a folder on a free loopback port."""

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

    with running(Files) as port:
        yield f"http://127.0.0.1:{port}/"


class Visit:
    """One page opened at one width and colour scheme, with everything it asked for and complained of."""

    def __init__(self, browser, address: str, path: str, width: int, scheme: str):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.foreign, self.complaints = [], []
        self.page = self.context.new_page()
        self.page.route("**/*", lambda route: self._gate(route, address))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", self._response)
        self.page.goto(address + path, wait_until="load")

    def _gate(self, route, address: str) -> None:
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            self.foreign.append(route.request.url)
            route.abort()

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _response(self, response) -> None:
        if response.status >= 400 and not response.url.endswith("/favicon.ico"):
            self.complaints.append(f"{response.status} for {response.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
