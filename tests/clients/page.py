"""A page on an origin of its own, and a real browser that opens it."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from devserver.ports import LOOPBACK
from screenshots.chromium import installed, running
from tests.clients.environments import PROGRAMS

needs_browser = pytest.mark.skipif(installed() is None, reason="Chromium is not installed.")
TIMEOUT = 100  # seconds from the start of the browser to what the page has seen


class Page(ThreadingHTTPServer):
    """Serves the files of a folder, at `/task` what the page shall do, and takes at `/seen` what it
    has seen."""

    def __init__(self, folder: Path, task: dict[str, Any], port: int) -> None:
        self.task = task
        self.seen: dict[str, Any] = {}
        self.done = threading.Event()
        super().__init__((LOOPBACK, port), partial(_Handler, directory=str(folder)))

    @property
    def origin(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}"


class _Handler(SimpleHTTPRequestHandler):
    server: Page

    def do_GET(self) -> None:
        if self.path == "/task":
            self._answer(json.dumps(self.server.task).encode())
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen = json.loads(body)
        self._answer(b"{}")
        self.server.done.set()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def opened(
    folder: Path, name: str, task: dict[str, Any], *, profile: Path, port: int = 0
) -> dict[str, Any]:
    """What the page `name` of a folder has seen, opened in a browser with a fresh profile.

    `port` makes its origin known beforehand, to those who are to allow it.
    """
    with _served(Page(folder, task, port)) as page:
        log, url = profile.with_suffix(".log"), f"{page.origin}/{name}"
        with log.open("w") as output, running(url, profile=profile, output=output):
            assert page.done.wait(TIMEOUT), log.read_text()
    return page.seen


def bundle(source: Path, target: Path, *options: str) -> None:
    """A source with all that it imports in one file, as a browser needs it."""
    esbuild = PROGRAMS / "ai_sdk" / "node_modules" / ".bin" / "esbuild"
    arguments = ("--bundle", "--format=esm", f"--outfile={target}", *options)
    done = subprocess.run(
        [esbuild, source, *arguments],
        cwd=source.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def _served(page: Page) -> Iterator[Page]:
    thread = threading.Thread(target=page.serve_forever)
    thread.start()
    try:
        yield page
    finally:
        page.shutdown()
        thread.join()
        page.server_close()
