"""A headless Chromium, driven by the Chrome DevTools Protocol over one WebSocket.

https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import IO, Any

from websockets.sync.client import ClientConnection, connect

from devserver.ports import LOOPBACK

# Debian's names and everybody else's.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_START_SECONDS, _ANSWER_SECONDS = 30, 30
_OK = 200
_LEAST_HEIGHT = 900
# Until charts are drawn and fonts are there.
_SETTLE_SECONDS = 2.0


class BrowserError(Exception):
    """One sentence for the person at the terminal: why there is no page."""


class Page:
    """One page of the browser, so many CSS pixels wide."""

    def __init__(self, socket: ClientConnection, width: int) -> None:
        self._socket = socket
        self._width = width
        self._numbers = count(1)
        self._events: set[str] = set()
        self._session: dict[str, str] = {}
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self._call("Page.enable")

    def run_first(self, script: str) -> None:
        """Run a script in each page that is opened from now on, before any of its own."""
        self._call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, url: str) -> None:
        """Load a page, and all that belongs to it. Raises BrowserError where it is not there."""
        self._events.clear()
        self._call("Page.navigate", url=url)
        self._wait_until_loaded()

    def submit(self, form: str, values: dict[str, str]) -> None:
        """Fill in the fields of a form, which a selector names, and wait for the next page.

        Raises BrowserError like `open`.
        """
        self._events.clear()
        self.evaluate(
            f"const form = document.querySelector({json.dumps(form)});"
            f"for (const [name, value] of Object.entries({json.dumps(values)}))"
            " form.elements[name].value = value;"
            "form.requestSubmit()"
        )
        self._wait_until_loaded()

    def evaluate(self, script: str) -> Any:
        """The value of a script, run in the page. Raises BrowserError where it fails."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script} failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """All of the page, as a PNG."""
        self._resize(_LEAST_HEIGHT)
        self._resize(self.evaluate("document.documentElement.scrollHeight"))
        time.sleep(_SETTLE_SECONDS)
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def _resize(self, height: int) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=self._width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters, **self._session}
        self._socket.send(json.dumps(message))
        while (answer := self._receive()).get("id") != number:
            pass
        if "error" in answer:
            raise BrowserError(f"{method} failed: {answer['error']['message']}.")
        result: dict[str, Any] = answer["result"]
        return result

    def _wait_until_loaded(self) -> None:
        while "Page.loadEventFired" not in self._events:
            self._receive()
        status = self.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")
        if status != _OK:
            raise BrowserError(f"{self.evaluate('location.href')} answered {status}.")

    def _receive(self) -> dict[str, Any]:
        """The next message. An event is noted: it may come before the answer to what caused it."""
        try:
            message: dict[str, Any] = json.loads(self._socket.recv(_ANSWER_SECONDS))
        except TimeoutError:
            raise BrowserError(f"Chromium was silent for {_ANSWER_SECONDS} s.") from None
        if "method" in message:
            self._events.add(message["method"])
        return message


@contextmanager
def new_page(width: int, *options: str) -> Iterator[Page]:
    """A page in a browser of its own with a fresh profile, until the block ends; `options` are
    those of its command line.

    Raises BrowserError where there is no Chromium, or it does not start.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        usual = ("--hide-scrollbars", "--remote-debugging-port=0")
        with (
            running("about:blank", *usual, *options, profile=profile),
            connect(_address(profile), max_size=None) as socket,
        ):
            yield Page(socket, width)


def installed() -> str | None:
    """The path of a Chromium."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def command(url: str, *options: str, profile: Path) -> list[str]:
    """What opens a page in a browser. Raises BrowserError where there is none."""
    if (program := installed()) is None:
        raise BrowserError("Chromium is not installed.")
    return [program, "--headless", "--no-sandbox", f"--user-data-dir={profile}", *options, url]


@contextmanager
def running(
    url: str, *options: str, profile: Path, output: int | IO[str] = DEVNULL
) -> Iterator[None]:
    """A browser that shows a page, until the block ends. Raises BrowserError like `command`.

    Debian's program is a shell script that stays: its whole group is ended.
    """
    process = subprocess.Popen(  # noqa: S603 - the browser
        command(url, *options, profile=profile),
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _address(profile: Path) -> str:
    """Where the browser listens: it writes its port and a path into its profile."""
    file, deadline = profile / "DevToolsActivePort", time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if file.exists() and len(lines := file.read_text().split()) == 2:
            port, path = lines
            return f"ws://{LOOPBACK}:{port}{path}"
        time.sleep(0.05)
    raise BrowserError(f"Chromium did not start within {_START_SECONDS} s.")
