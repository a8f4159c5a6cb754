"""HTTP calls to providers. No other file imports an HTTP client library.

aiohttp carries the calls; docs/decisions/0003-upstream-transport.md says why.
"""

import socket
import time
from collections.abc import Awaitable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import aiohttp
from yarl import URL

from common.loop_local import LoopLocal
from observability.tracing.spans import with_traceparent

_IDLE_CONNECTION = 60.0  # seconds that an unused connection is kept
# A socket that the other side has closed fails at once; after a later failure the provider may have
# worked.
_FAILS_AT_ONCE = 0.25  # seconds

# Bodies are relayed in pieces: a compressed stream would wait until its block is full.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "multi-model-ai-platform"}


class TransportError(Exception):
    """No (whole) answer came: unreachable, reset, malformed HTTP, or longer than allowed."""


class ConnectFailed(TransportError):
    """The connection failed: the other side has seen nothing of the call."""


class AnswerTooLong(TransportError):
    """The answer is longer than allowed: another attempt would bring as much."""


class UpstreamResponse:
    """An answer whose headers have come. Reads raise TransportError. The caller closes it."""

    __slots__ = ("_response", "_size")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self._size = 0

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Case-insensitive."""
        return self._response.headers

    async def read_chunk(self, limit: int) -> bytes:
        """All that has arrived since the last read, or else the next bytes; b"" at the end.

        `limit` is the number of bytes that the body may have in all.
        """
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError(type(error).__name__) from error
        self._size += len(chunk)
        if self._size > limit:
            raise AnswerTooLong(f"the answer is longer than {limit} bytes")
        return chunk

    async def read(self, limit: int) -> bytes:
        """The rest of the body."""
        chunks = []
        while chunk := await self.read_chunk(limit):
            chunks.append(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Close the connection, unless the body was read to its end: then it is kept for other
        calls."""
        self._response.close()


@dataclass(slots=True)
class _Connection:
    """The connection of the current call, as far as it is known."""

    is_new: bool = False


_connection: ContextVar[_Connection] = ContextVar("_connection")

# How a kept connection fails that the other side has closed.
_WAS_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
_NEVER_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


def _new_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Create a socket. aiohttp calls it only when no kept connection is free, which is the cheapest
    way to know that."""
    _connection.get().is_new = True
    return socket.socket(*address[:3])


class _Sessions(NamedTuple):
    """The sessions of one event loop: one over kept connections, and one that connects for each
    call."""

    kept: aiohttp.ClientSession
    new: aiohttp.ClientSession

    @classmethod
    def open(cls) -> "_Sessions":
        keeping = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_IDLE_CONNECTION, socket_factory=_new_socket
        )
        return cls(_session(keeping), _session(aiohttp.TCPConnector(limit=0, force_close=True)))


def _session(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers=_HEADERS
    )


class UpstreamClient:
    """Connections to providers, one pool per event loop, opened at the first call.

    It reads no proxy settings, follows no redirect, keeps no cookie and asks for no compression.
    In a trace, each call has the `traceparent` of its span.
    """

    def __init__(self) -> None:
        self._sessions = LoopLocal(_Sessions.open)

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        connect_timeout: float,
        over_new_connection: bool = False,
    ) -> UpstreamResponse:
        """Send `body` and wait for the headers of the answer, which the caller closes.

        `connect_timeout` is in seconds. Raises TransportError where no answer came. Where a kept
        connection fails at once, the provider had closed it: the call is then repeated, once, over
        a new connection. A call that starts `over_new_connection` is never sent twice.
        """
        return await self._send("POST", url, headers, body, connect_timeout, over_new_connection)

    async def get(
        self, url: str, headers: Mapping[str, str], *, connect_timeout: float
    ) -> UpstreamResponse:
        """Request `url`, unchanged, because it may be signed. All else is as in `post`."""
        return await self._send("GET", url, headers, None, connect_timeout, False)

    async def delete(
        self, url: str, headers: Mapping[str, str], *, connect_timeout: float
    ) -> UpstreamResponse:
        """Delete what is at `url`. All else is as in `get`: it is idempotent, too (RFC 9110,
        9.2.2)."""
        return await self._send("DELETE", url, headers, None, connect_timeout, False)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        for session in self._sessions.pop() or ():
            await session.close()

    async def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        connect_timeout: float,
        over_new_connection: bool,
    ) -> UpstreamResponse:
        headers = with_traceparent(headers)

        def send(session: aiohttp.ClientSession) -> Awaitable[aiohttp.ClientResponse]:
            timeout = aiohttp.ClientTimeout(connect=connect_timeout)
            target = URL(url, encoded=body is None)
            return session.request(
                method, target, data=body, headers=headers, allow_redirects=False, timeout=timeout
            )

        sessions = self._sessions.get()
        connection = _Connection()
        _connection.set(connection)
        sent_at = time.monotonic()
        try:
            try:
                response = await send(sessions.new if over_new_connection else sessions.kept)
            except _WAS_CLOSED:
                is_new = over_new_connection or connection.is_new
                if is_new or time.monotonic() - sent_at > _FAILS_AT_ONCE:
                    raise
                response = await send(sessions.new)
        except _NEVER_CONNECTED as error:
            raise ConnectFailed(type(error).__name__) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: no URL
            raise TransportError(type(error).__name__) from error
        return UpstreamResponse(response)
