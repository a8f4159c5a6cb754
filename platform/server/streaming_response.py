"""Responses that continue after Django is done with their requests.

Django keeps a thread for each request until its response has ended. A stream of minutes is
therefore written after Django's handler has returned. The response of a stream that may still raise
a DomainError waits for the first chunk: an error before it becomes the answer.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext, suppress
from typing import cast

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from common import envelope
from common.errors import DomainError
from server.asgi import Application, Message, Receive, Scope, Send
from server.metrics import api_streams

# Seconds; every stream sends something within this time.
STALL_SECONDS = 60.0

_EXTENSION = "live"

Stream = AsyncGenerator[bytes, None]
# A context manager that is open while the response is written, on its event loop; it receives the
# function that ends the response early.
Guard = Callable[[Callable[[], None]], AbstractContextManager[None]]


class StreamingResponses:
    """In front of Django: writes the streams of views that return a `streaming_response`. A client
    that takes nothing for `stall` seconds is disconnected."""

    def __init__(self, application: Application, *, stall: float = STALL_SECONDS) -> None:
        self._application = application
        self._stall = stall

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(send, self._stall)
        scope[_EXTENSION] = body
        try:
            await self._application(scope, receive, body.send)
        finally:
            # It refers to the server's connection, which refers to the scope.
            del scope[_EXTENSION]
        await body.write(receive)


def streaming_response(
    request: HttpRequest,
    stream: Stream,
    headers: Mapping[str, str],
    guard: Guard | None = None,
    *,
    may_refuse: bool = False,
) -> StreamingHttpResponse:
    """A response whose body is `stream`, written while the client reads and `guard` allows it. The
    stream is closed when the client disconnects, and never started where it has disconnected
    before. Where it `may_refuse`, the response starts with its first chunk."""
    # A HEAD request does not wait for the end of a body that is not sent.
    if request.method != "HEAD":
        body = cast(ASGIRequest, request).scope[_EXTENSION]
        body.stream, body.guard = stream, guard
        body.headers, body.may_refuse = headers, may_refuse
    # A streaming response, so that Django sets no length.
    return StreamingHttpResponse(_nothing(), headers=dict(headers))


class _Body:
    """The body of one response."""

    def __init__(self, send: Send, stall: float) -> None:
        self.stream: Stream | None = None
        self.headers: Mapping[str, str] = {}
        self.may_refuse = False
        self.guard: Guard | None = None
        self._send = send
        self._stall = stall
        self._is_started = False
        # The response's start, which waits for the first chunk.
        self._start: Message | None = None
        self._written_at = 0.0
        self._stalling: asyncio.Timeout | None = None
        self._is_ended = False

    async def send(self, message: Message) -> None:
        """For Django: the body of a streaming response is not Django's."""
        is_start = message["type"] == "http.response.start"
        self._is_started |= is_start
        if is_start and self.may_refuse:
            self._start = message
        elif is_start or self.stream is None:
            await self._send(message)

    async def write(self, receive: Receive) -> None:
        """Write the stream, if there is one, until it ends or its reader has gone."""
        if self.stream is None:
            return
        async with aclosing(self.stream):
            if not self._is_started:
                return
            with _counted(), self.guard(self._end) if self.guard else nullcontext():
                writing = asyncio.create_task(self._write(self.stream))
                leaving = asyncio.create_task(_departure(receive))
                try:
                    await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    writing.cancel()
                    leaving.cancel()
                    await asyncio.wait((writing, leaving))
            if not writing.cancelled():
                writing.result()

    def _end(self) -> None:
        """Stop writing the stream."""
        self._is_ended = True
        if self._stalling is not None and not self._stalling.expired():
            self._stalling.reschedule(asyncio.get_running_loop().time())

    async def _write(self, stream: Stream) -> None:
        with suppress(TimeoutError):  # the client stopped reading, or the response was ended
            async with asyncio.timeout(0 if self._is_ended else self._stall) as self._stalling:
                try:
                    async for chunk in stream:
                        await self._begin()
                        await self._send(_body(chunk, more=True))
                        self._postpone(self._stalling)
                except DomainError as refusal:
                    if self._start is None:
                        raise
                    await self._refuse(self._start, refusal)
                    return
                self._is_ended = True
        self._stalling = None
        if self._is_ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._stall):
                    await self._begin()
                    await self._send(_body(b"", more=False))

    async def _begin(self) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            await self._send(start)

    async def _refuse(self, start: Message, refusal: DomainError) -> None:
        """Answer with the error, and keep the headers that do not describe the stream."""
        answer = envelope.answer(refusal)
        answer["Content-Length"] = str(len(answer.content))
        streams = {name.lower().encode() for name in self.headers}
        headers = [field for field in start["headers"] if field[0].lower() not in streams]
        headers += [(name.lower().encode(), value.encode()) for name, value in answer.items()]
        await self._send({**start, "status": answer.status_code, "headers": headers})
        await self._send(_body(answer.content, more=False))

    def _postpone(self, stall: asyncio.Timeout) -> None:
        """A timeout for each write would cost more than the write: one timeout is postponed, at
        most once a second."""
        now = asyncio.get_running_loop().time()
        if now - self._written_at > 1.0 and not self._is_ended:
            self._written_at = now
            stall.reschedule(now + self._stall)


@contextmanager
def _counted() -> Iterator[None]:
    api_streams.inc()
    try:
        yield
    finally:
        api_streams.dec()


def _body(chunk: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": chunk, "more_body": more}


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
