"""The control of the authorization servers for tests: `RunningSimulator.oauth`."""

from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

Ask = Callable[[str, str, bytes | None], bytes]

_TIMEOUT = 10  # seconds for a page
_PLACES = {"github": "github", "gitlab": "gitlab", "google": "google-accounts"}


@dataclass(frozen=True, slots=True)
class OAuthControl:
    """What `/_oauth` does (control.py), and what a person does on the pages."""

    url: str
    ask: Ask

    def base_url(self, host: str) -> str:
        """The address of a server, below which are its paths."""
        return f"{self.url}/{_PLACES[host]}"

    def consent(self, authorize_url: str, *, login: str = "alice", allow: bool = True) -> str:
        """Open the page and send its form, as a browser does. Returns the URL to which the person
        is sent back. Raises urllib.error.HTTPError where the server sends nobody back."""
        if not authorize_url.startswith(f"{self.url}/"):
            raise ValueError("This is not a URL of the simulator.")
        page, location = _browse(authorize_url)
        if location is not None:
            return location
        fields = _hidden_fields(page)
        fields |= {"login": login, "decision": "allow" if allow else "deny"}
        _, location = _browse(authorize_url, fields)
        if location is None:
            raise ValueError("The form was answered with a page.")
        return location

    def expire(self, token: str) -> None:
        """Let an access token or a code expire now."""
        self._send("POST", "expire", {"token": token})

    def revoke(self, host: str, login: str) -> int:
        """The person revokes the grant. Returns the number of tokens that ended."""
        return int(self._send("POST", "revoke", {"host": host, "login": login})["revoked"])

    def fail(self, server: str, endpoint: str, **options: Any) -> None:
        """A fault (faults.py)."""
        self._send("POST", "faults", [{"server": server, "endpoint": endpoint, **options}])

    def stop_failing(self) -> None:
        """No faults from now on."""
        self._send("DELETE", "faults")

    def requests(self) -> list[dict[str, Any]]:
        """What the servers and Google Drive were asked, oldest first."""
        found: list[dict[str, Any]] = self._send("GET", "requests")
        return found

    def forget_requests(self) -> None:
        """Empty the log."""
        self._send("DELETE", "requests")

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        encoded = None if body is None else msgspec.json.encode(body)
        return msgspec.json.decode(self.ask(method, f"/_oauth/{path}", encoded))


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow none: where they lead is what is asked for."""


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input" and found.get("type") == "hidden":
            self.hidden[str(found["name"])] = found.get("value") or ""


def _hidden_fields(page: str) -> dict[str, str]:
    form = _Form()
    form.feed(page)
    return form.hidden


def _browse(url: str, fields: dict[str, str] | None = None) -> tuple[str, str | None]:
    """A page, or where it leads to."""
    body = None if fields is None else urlencode(fields).encode()
    request = Request(url, body)  # noqa: S310 - the simulator's own http address
    try:
        with build_opener(_NoRedirects).open(request, timeout=_TIMEOUT) as answer:
            return answer.read().decode(), None
    except HTTPError as error:
        if error.code not in (302, 303):
            raise
        with error:
            return "", error.headers["location"]
