"""The client of outbound calls. No other file imports httpx.

httpx builds the requests and reads the answers; httpcore's pool carries them over the connections
of `integrations.safe_http.network`.
"""

import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Self

import httpcore
import httpx
import msgspec
from msgspec import Struct

from integrations.safe_http.errors import (
    AddressRefused,
    AnswerTooLarge,
    NoAnswer,
    NotSent,
    RedirectRefused,
    UnusableAnswer,
)
from integrations.safe_http.network import CheckedNetwork, deadline, seconds_left

MAX_URL = 2_000  # characters
DEFAULT_SECONDS = 20.0
DEFAULT_MAX_BYTES = 5_000_000
JSON = ("application/json",)

_HEADERS = {"User-Agent": "multi-model-ai-platform", "Accept-Encoding": "identity"}
# A name, also an international one, or an address.
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+")
_MAX_PORT = 65_535
_CONNECTIONS = 8
_IDLE_SECONDS = 5.0
_REDIRECTS = frozenset({301, 302, 307, 308})
_SAFE_METHODS = frozenset({"GET", "HEAD"})


class Answer(Struct, frozen=True):
    """An answer of any status; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Raises UnusableAnswer."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise UnusableAnswer("The answer is not JSON.") from error


class Client:
    """Calls one service; its connections are kept until it is closed. Threads may share it.

    `headers` go with every call, and never to another host: a redirect to one is an UnusableAnswer.
    It reads no proxy settings and keeps no cookie.
    """

    def __init__(self, base_url: str, *, headers: Mapping[str, str] | None = None) -> None:
        """Raises AddressRefused where `base_url` is no URL that can be called."""
        self._base = read_url(base_url)
        self._http = httpx.Client(
            headers={**_HEADERS, **(headers or {})},
            transport=_Transport(in_clear=self._base.scheme == "http"),
            trust_env=False,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Mapping[str, str | int] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = DEFAULT_SECONDS,
        max_bytes: int = DEFAULT_MAX_BYTES,
        media_types: Sequence[str] = JSON,
        max_redirects: int = 0,
    ) -> Answer:
        """Call `path`, percent-encoded, below the base URL, and return an answer of any status.

        `seconds` bounds the whole call. A successful answer with a body has one of `media_types`
        (any, where there are none). `json` and `form` are the body. Raises AddressRefused, NotSent,
        NoAnswer, UnusableAnswer. No call is sent twice. A redirect on the same host is followed
        `max_redirects` times where the call changes nothing; one to another host never.
        """
        content = None if json is None else msgspec.json.encode(json)
        typed = {"Content-Type": "application/json"} if content is not None else {}
        request = self._http.build_request(
            method,
            f"{str(self._base).rstrip('/')}{path}",
            params=params,
            content=content,
            data=form,
            headers={**typed, **(headers or {})},
        )
        token = deadline.set(time.monotonic() + seconds)
        try:
            answer = self._follow(request, max_bytes, max_redirects)
        finally:
            deadline.reset(token)
        _check_type(answer, media_types)
        return answer

    def _follow(self, request: httpx.Request, max_bytes: int, max_redirects: int) -> Answer:
        answer = self._send(request, max_bytes)
        for _ in range(max_redirects):
            if answer.status not in _REDIRECTS or request.method not in _SAFE_METHODS:
                break
            target = request.url.join(answer.headers.get("location", ""))
            if _origin(target) != _origin(request.url):
                raise RedirectRefused(f"{request.url.host} redirects to another host.")
            request = self._http.build_request(request.method, target, headers=request.headers)
            answer = self._send(request, max_bytes)
        return answer

    def _send(self, request: httpx.Request, max_bytes: int) -> Answer:
        try:
            response = self._http.send(request, stream=True)
        except httpx.RemoteProtocolError:
            # httpx reads where a redirect leads, although it does not follow it.
            raise RedirectRefused(f"{request.url.host} redirects to no address.") from None
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise UnusableAnswer(f"{request.url.host} answers compressed.")
            body = _read(response, max_bytes)
        finally:
            response.close()
        return Answer(response.status_code, dict(response.headers), body)


class _Transport(httpx.BaseTransport):
    """httpx over connections of `CheckedNetwork`, with errors of
    `integrations.safe_http.errors`."""

    def __init__(self, *, in_clear: bool) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls(),
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=CheckedNetwork(in_clear=in_clear),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        host = request.url.host
        try:
            # The wait for a connection of the pool; all other waits end at the deadline.
            waits = {"timeout": {"pool": seconds_left(httpcore.PoolTimeout)}}
            sent = httpcore.Request(
                request.method,
                url,
                headers=request.headers.raw,
                content=request.stream,
                extensions=waits,
            )
            response = self._pool.handle_request(sent)
        except Exception as error:
            raise _translated(error, host) from error
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response, host)
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response, host: str) -> None:
        self._response = response
        self._host = host

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_stream()
        except Exception as error:
            raise _translated(error, self._host) from error

    def close(self) -> None:
        self._response.close()


def fetch(
    url: str, *, seconds: float, max_bytes: int, media_types: Sequence[str], max_redirects: int
) -> Answer:
    """The answer to a single GET of a URL that a user names, as it is written. Raises what
    `Client.request` does."""
    whole = read_url(url)
    with Client(str(whole.copy_with(raw_path=b""))) as client:
        return client.request(
            "GET",
            whole.raw_path.decode("ascii"),
            seconds=seconds,
            max_bytes=max_bytes,
            media_types=media_types,
            max_redirects=max_redirects,
        )


def read_url(text: str) -> httpx.URL:
    """A URL that may be called: absolute, https (http for listed networks), without user and
    fragment. Raises AddressRefused."""
    try:
        url = httpx.URL(text.strip())
        # An international name is decoded here.
        host = url.host
    except (httpx.InvalidURL, ValueError):
        raise AddressRefused("This is not a URL.") from None
    is_absolute = url.scheme in ("http", "https") and _HOST.fullmatch(host) is not None
    if len(text) > MAX_URL or not is_absolute or (url.port or 1) > _MAX_PORT:
        raise AddressRefused("The address has to be a URL that begins with https://.")
    if url.userinfo or url.fragment:
        raise AddressRefused("The address has to be without user and fragment.")
    return url


@cache
def _tls() -> ssl.SSLContext:
    """Certificates of the system's store, or of SSL_CERT_FILE."""
    return ssl.create_default_context()


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _read(response: httpx.Response, max_bytes: int) -> bytes:
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > max_bytes:
            raise AnswerTooLarge(f"The answer is longer than {max_bytes} bytes.")
    return bytes(body)


def _check_type(answer: Answer, media_types: Sequence[str]) -> None:
    found = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.is_success and answer.body and media_types and found not in media_types:
        raise UnusableAnswer(f"The answer is {found or 'of no type'}.")


def _translated(error: Exception, host: str) -> Exception:
    """The error of `integrations.safe_http.errors` for one of httpcore; an OutboundError and what
    httpcore does not know stay as they are."""
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout | httpcore.PoolTimeout):
        return NotSent(f"{host} cannot be reached.")
    if isinstance(error, httpcore.TimeoutException):
        return NoAnswer(f"{host} did not answer in time.")
    if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError):
        return NoAnswer(f"{host} closed the connection without a whole answer.")
    return error
