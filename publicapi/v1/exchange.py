"""One HTTP exchange over ASGI: reads the request and sends the response."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from common.errors import DomainError
from common.ids import request_id
from publicapi.v1 import errors, ignored
from server import bodies
from server.asgi import Headers, Receive, Scope, Send
from server.bodies import Body, BodyTooSlow, Sender
from server.delivery import Delivery, watched
from server.metrics import v1_streams

# A client that reads nothing for this long is disconnected; its call continues and is billed.
STALL_SECONDS = 60.0

# The response headers that a script of another origin may read.
_EXPOSED = (
    b"x-request-id, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-window, "
    b"idempotency-replayed, x-idempotency-replayed, x-should-retry, x-ignored-parameters"
)
_CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", _EXPOSED),
]


class Exchange:
    """`headers` are sent with any answer; handlers add to them. `sender` is set by the
    authentication; the body is not read before."""

    sender: Sender

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._request_headers: Headers = scope["headers"]
        self.request_id = request_id(self.header(b"x-request-id"))
        self.began_at = time.monotonic()
        # The status of the answer, once it has begun.
        self.status: int | None = None
        # The names of fields that have no effect.
        self.ignored: Collection[str] = ()
        self.headers: Headers = [(b"x-request-id", self.request_id.encode()), *_CORS]
        self._scope = scope
        self._delivery: Delivery | None = None
        self._lost: Callable[[], None] | None = None
        self._delivered: Callable[[], None] | None = None
        self._query: bytes = scope["query_string"]
        self._receive = receive
        self._send = send
        self._stall = asyncio.timeout(None)
        self._written_at = 0.0

    @property
    def started(self) -> bool:
        """Has the answer begun?"""
        return self.status is not None

    def header(self, name: bytes) -> str | None:
        """A request header; None where it is absent. `name` is in lower case."""
        for key, value in self._request_headers:
            if key == name:
                return value.decode("latin-1")
        return None

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters of the query, each with all its values."""
        return parse_qs(self._query.decode("latin-1"), keep_blank_values=True)

    @property
    def is_lost(self) -> bool:
        """Has the client gone before it could have all of a watched answer?"""
        return self._delivery is not None and self._delivery.is_lost

    def watch(
        self, *, lost: Callable[[], None], delivered: Callable[[], None] | None = None
    ) -> None:
        """Call `lost` when the client goes away before the last byte of the answer is written, at
        once where it has gone; otherwise `delivered`. Replaces what was watched for before."""
        self._lost, self._delivered = lost, delivered
        if self._delivery is None:
            self._delivery = watched(self._scope, self._lose)
        elif self._delivery.is_lost:
            lost()

    async def body(self, limit: int, too_long: DomainError) -> bytes:
        """The whole request body. Raises `too_long` over `limit` bytes, InvalidBody where it does
        not arrive in time or is compressed, ServiceUnavailable where the memory for bodies is used
        up."""
        if self.header(b"content-encoding") not in (None, "identity"):
            raise errors.InvalidBody("Send the body uncompressed.")
        with bodies.incoming(self._receive, self.sender, limit=limit, too_large=too_long) as body:
            try:
                return await self._read(body)
            except BodyTooSlow as error:
                raise errors.InvalidBody(error.text) from None
            except DomainError as error:
                if error is too_long:
                    await body.discard()
                raise

    async def respond(
        self,
        status: int,
        body: bytes,
        extra: Headers | None = None,
        *,
        content_type: bytes = b"application/json",
    ) -> None:
        """Send a whole response."""
        length = (b"content-length", str(len(body)).encode())
        await self._start(status, [(b"content-type", content_type), length, *(extra or [])])
        await self._write(body, more=False)

    async def no_content(self, extra: Headers) -> None:
        """Send 204."""
        await self._start(204, extra)
        await self._write(b"", more=False)

    async def refuse(self, error: DomainError) -> None:
        """Send an error in the envelope of `/v1`."""
        await self.respond(error.status, errors.body(error, self.path), errors.headers(error))

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[None]:
        """Start a stream of server-sent events, which no proxy may buffer.

        Raises TimeoutError where nothing could be written for STALL_SECONDS.
        """
        async with asyncio.timeout(STALL_SECONDS) as self._stall:
            await self._start(
                200,
                [
                    (b"content-type", b"text/event-stream; charset=utf-8"),
                    (b"cache-control", b"no-store, no-transform"),
                    (b"x-accel-buffering", b"no"),
                ],
            )
            v1_streams.inc()
            try:
                yield
            finally:
                v1_streams.dec()

    async def write(self, chunk: bytes, *, last: bool = False) -> None:
        """Send a part of a stream."""
        await self._write(chunk, more=not last)
        # A timeout for each write would cost more than the write: one timeout is postponed, at most
        # once a second.
        now = asyncio.get_running_loop().time()
        if now - self._written_at > 1.0:
            self._written_at = now
            self._stall.reschedule(now + STALL_SECONDS)

    async def _start(self, status: int, headers: Headers) -> None:
        self.status = status
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [*self.headers, *ignored.header(self.ignored), *headers],
            }
        )

    async def _write(self, chunk: bytes, *, more: bool) -> None:
        answer = None if more else self._delivery
        if answer is not None:
            answer.look()
        await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
        if answer is not None:
            await answer.written()
            if self._delivered is not None and not answer.is_lost:
                self._delivered()

    def _lose(self) -> None:
        if self._lost is not None:
            self._lost()

    async def _read(self, body: Body) -> bytes:
        parts: list[bytes] = []
        while not body.is_whole:
            message = await body.receive()
            if message["type"] == "http.disconnect":
                raise errors.InvalidBody("The body ended early.")
            parts.append(message.get("body", b""))
        return parts[0] if len(parts) == 1 else b"".join(parts)
