"""Debian's Firefox over WebDriver BiDi, spoken directly: Playwright drives only a Firefox of its own making."""

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import websocket

_NAMES = ("firefox-esr", "firefox")
_PREFERENCES = """
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("services.settings.server", "data:,");
"""


def found() -> str | None:
    """Path of a Firefox, None where there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Firefox:
    """One headless Firefox with one window; use as a context manager.

    ``proxy`` is an address ``host:port`` that all its requests go through, loopback included.
    """

    def __init__(self, width: int = 1280, height: int = 900, proxy: str | None = None):
        self.profile = tempfile.TemporaryDirectory(prefix="firefox-")
        preferences = _PREFERENCES
        if proxy is not None:
            host, _, port = proxy.partition(":")
            preferences += f"""
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "{host}");
user_pref("network.proxy.http_port", {port});
user_pref("network.proxy.ssl", "{host}");
user_pref("network.proxy.ssl_port", {port});
user_pref("network.proxy.allow_hijacking_localhost", true);
"""
        Path(self.profile.name, "user.js").write_text(preferences)
        command = [found(), "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", self.profile.name]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.numbers, self.events = itertools.count(1), []
        try:
            self.socket = websocket.create_connection(self._address() + "/session", timeout=120, suppress_origin=True)
            self.send("session.new", capabilities={})
            self.send("session.subscribe", events=["log.entryAdded"])
            self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
            self.viewport(width, height)
        except BaseException:
            self.close()
            raise

    def _address(self) -> str:
        for line in self.process.stderr:
            if address := re.search(r"ws://\S+", line):
                return address[0]
        raise RuntimeError("Firefox ended before it listened")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self) -> None:
        """End the browser and remove its profile."""
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        with contextlib.suppress(OSError):
            self.profile.cleanup()

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command; events that come meanwhile are kept in ``events``."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]
            self.events.append(message)

    def viewport(self, width: int, height: int) -> None:
        """Size of the page, CSS pixels."""
        self.send("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def goto(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self.send("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of the page, a promise's once it is kept, as JSON has it."""
        text = f"(async () => JSON.stringify(await ({expression})))()"
        target = {"context": self.context}
        answer = self.send("script.evaluate", expression=text, target=target, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def until(self, expression: str, seconds: float = 60.0) -> Any:
        """The first value of the expression that is true."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"not true within {seconds:g} s: {expression}")
            time.sleep(0.1)
        return value

    def complaints(self) -> list[str]:
        """Errors and warnings that pages wrote to the console, and errors that nobody caught."""
        self.evaluate("1")
        entries = [event["params"] for event in self.events if event.get("method") == "log.entryAdded"]
        return [str(entry["text"]) for entry in entries if entry["level"] in ("error", "warn")]
