"""The simulator as a child process for tests and benchmarks: on a free port, and ended with its
owner."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from simulator.drive.client import DriveControl
from simulator.githost.client import GitHostControl
from simulator.oauth.client import OAuthControl

SOURCE_ROOT = Path(__file__).resolve().parents[1]
_TIMEOUT = 60  # seconds for the simulator's own routes: a large repository takes a while


@dataclass(frozen=True, slots=True)
class RunningSimulator:
    """The address of a simulator, its journal and its keys. `url` has no trailing slash."""

    url: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def base_url(self, provider: str) -> str:
        """The base URL for a client of this provider."""
        return f"{self.url}/{provider}/v1"

    def calls(self, marker: str | None = None) -> list[dict[str, Any]]:
        """The journal, oldest first: all calls, or the calls that a steering line marked."""
        query = "" if marker is None else f"?marker={quote(marker)}"
        calls: list[dict[str, Any]] = json.loads(self._ask("GET", f"/_journal{query}"))
        return calls

    def clear(self) -> None:
        """Forget all calls."""
        self._ask("DELETE", "/_journal")

    def let_key_die(self, key: str, *, status: int = 401, code: str | None = None) -> None:
        """Refuse that key from now on, with this error."""
        body = json.dumps({"key": key, "status": status, "code": code}).encode()
        self._ask("PUT", "/_keys", body)

    def revive_keys(self) -> None:
        """Accept all keys again."""
        self._ask("DELETE", "/_keys")

    def begin_outage(self, model: str, **steering: Any) -> None:
        """Let all calls of a model fail from now on; `model` is the provider's name of it."""
        body = json.dumps({"model": model, "steering": steering}).encode()
        self._ask("PUT", "/_outages", body)

    def end_outages(self) -> None:
        """Let all models work again."""
        self._ask("DELETE", "/_outages")

    @property
    def githost(self) -> GitHostControl:
        """The control of the Git hosts."""
        return GitHostControl(self.url, self._ask)

    @property
    def oauth(self) -> OAuthControl:
        """The control of the authorization servers."""
        return OAuthControl(self.url, self._ask)

    @property
    def drive(self) -> DriveControl:
        """The control of Google Drive."""
        return DriveControl(self.url, self._ask)

    @property
    def jwks_url(self) -> str:
        """The URL of the identity provider's keys."""
        return f"{self.url}/identity/jwks"

    def id_token(self, **options: object) -> str:
        """A token of the identity provider; `options` are the body of `POST /identity/token`."""
        answer = json.loads(self._ask("POST", "/identity/token", json.dumps(options).encode()))
        return str(answer["id_token"])

    def service_account(self) -> dict[str, str]:
        """The key file of a service account that may call Vertex AI."""
        account: dict[str, str] = json.loads(self._ask("GET", "/vertex/service_account"))
        return account

    def rotate_keys(self) -> None:
        """Make the identity provider sign with a new key."""
        self._ask("POST", "/identity/rotate")

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        request = Request(self.url + path, body, method=method)  # noqa: S310 - our own http address
        with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
            read: bytes = answer.read()
        return read


@contextmanager
def running(*options: str) -> Iterator[RunningSimulator]:
    """A simulator until the block ends; `options` of its command line, without the port.

    It also ends when its owner is killed: the system then closes the pipe that is its stdin.
    """
    command = [sys.executable, "-m", "simulator", "--port", "0", "--until-eof", *options]
    process = subprocess.Popen(  # noqa: S603 - our own command line
        command,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None  # noqa: S101 - asked for above
        assert process.stdout is not None  # noqa: S101
        url = process.stdout.readline().strip().rpartition(" ")[2]
        if not url:
            raise RuntimeError("The simulator did not start; its own words stand above.")
        try:
            yield RunningSimulator(url)
        finally:
            process.stdin.close()
