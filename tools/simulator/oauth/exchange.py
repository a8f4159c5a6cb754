"""A request to an authorization server or to a service behind one, and its answer."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from simulator.drive.files import Files
from simulator.oauth.codes import Codes
from simulator.oauth.faults import Faults
from simulator.oauth.tokens import HostName, TokenStore
from simulator.provider import Problem, Refused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """All that outlives a request."""

    tokens: TokenStore = field(default_factory=TokenStore)
    codes: Codes = field(default_factory=Codes)
    faults: Faults = field(default_factory=Faults)
    files: Files = field(default_factory=Files)


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request. `path` has the values of the route's placeholders."""

    host: HostName
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    state: State

    @property
    def form(self) -> dict[str, str]:
        """The body as a form."""
        return dict(parse_qsl(self.body.decode("latin-1")))

    @property
    def basic(self) -> tuple[str, str] | None:
        """The name and password of HTTP's Basic authentication (RFC 7617)."""
        scheme, _, encoded = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeError):
            return None
        return name, password


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def read(body: bytes, form: type[T]) -> T:
    """A JSON body. Raises `Refused` with a 400."""
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error


def json_answer(payload: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """An answer in JSON."""
    usual = {"content-type": "application/json; charset=utf-8"}
    return Answer(status, msgspec.json.encode(payload), usual | (headers or {}))


def html_answer(page: str, status: int = 200) -> Answer:
    """A page."""
    headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
    return Answer(status, page.encode(errors="replace"), headers)
