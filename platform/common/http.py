"""The one way out: POST to a provider over HTTP. No other file imports an HTTP client library.

aiohttp carries the calls; docs/decisions/0003-upstream-transport.md says why.
"""

import asyncio
import socket
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

import aiohttp

_IDLE_CONNECTION = 60.0  # seconds that an unused connection is kept

# Bodies are relayed as they come: a compressed stream would wait for its block to fill.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "multi-model-ai-platform"}


class TransportError(Exception):
    """No (whole) answer came: unreachable, reset, malformed HTTP, or longer than was allowed."""


class UpstreamResponse:
    """An answer whose headers have come. Reads raise TransportError. Close it in the end."""

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
        """All that has arrived since the last read, or waits for more; b"" at the end.

        `limit` is the number of bytes that the body may have in all.
        """
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError(type(error).__name__) from error
        self._size += len(chunk)
        if self._size > limit:
            raise TransportError(f"the answer is longer than {limit} bytes")
        return chunk

    async def read(self, limit: int) -> bytes:
        """The rest of the body."""
        chunks = []
        while chunk := await self.read_chunk(limit):
            chunks.append(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Close the connection, unless the body was read to its end: then it is kept for others."""
        self._response.close()


@dataclass(slots=True)
class _Connection:
    """What is known of the connection that the current call goes over."""

    is_new: bool = False


_connection: ContextVar[_Connection] = ContextVar("_connection")

# How it shows that the other side had closed a kept connection.
_WAS_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


def _new_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket, made only when no kept connection is at hand: aiohttp tells us in no other way
    that costs nothing."""
    _connection.get().is_new = True
    return socket.socket(*address[:3])


class UpstreamClient:
    """Connections to providers, one pool per event loop, opened at the first call.

    It reads no proxy settings, follows no redirect, keeps no cookie and asks for no compression.
    """

    def __init__(self) -> None:
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, connect_timeout: float
    ) -> UpstreamResponse:
        """Send `body` and wait for the headers of the answer, which the caller closes.

        `connect_timeout` is in seconds. Raises TransportError where no answer came. A kept
        connection that the provider has closed meanwhile is no failure: the next one is tried, in
        the end a new one.
        """
        while True:
            connection = _Connection()
            _connection.set(connection)
            try:
                response = await self._session().post(
                    url,
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(connect=connect_timeout),
                )
            except (aiohttp.ClientError, OSError) as error:
                if isinstance(error, _WAS_CLOSED) and not connection.is_new:
                    continue
                raise TransportError(type(error).__name__) from error
            return UpstreamResponse(response)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        if session := self._sessions.pop(asyncio.get_running_loop(), None):
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            self._forget_closed_loops()
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=_IDLE_CONNECTION, socket_factory=_new_socket
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
            )
        return session

    def _forget_closed_loops(self) -> None:
        for loop in [loop for loop in self._sessions if loop.is_closed()]:
            del self._sessions[loop]
