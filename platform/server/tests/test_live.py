"""Streams that are written when Django is done with their requests."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import override_settings
from django.urls import path

from common.errors import TooManyRequests
from server.asgi import Message
from server.streaming_response import StreamingResponses, streaming_response


class Source:
    """What a view streams, piece by piece as the test gives it."""

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.fault: Exception | None = None
        self.is_closed = False
        self.was_begun = False
        self.end: Callable[[], None] | None = None
        self.is_guarded = asyncio.Event()

    async def stream(self) -> AsyncGenerator[bytes, None]:
        self.was_begun = True
        try:
            while (piece := await self.pieces.get()) is not None:
                if self.fault is not None:
                    raise self.fault
                yield piece
        finally:
            self.is_closed = True

    @contextmanager
    def guard(self, end: Callable[[], None]) -> Iterator[None]:
        """Lets the test end the response for as long as it is written."""
        self.end = end
        self.is_guarded.set()
        yield
        self.end = None


class Client:
    """One HTTP request to the application, whose client takes what comes unless it stalls."""

    def __init__(
        self, source: Source, address: str = "/live", method: str = "GET", **options: float
    ) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self.inbox: asyncio.Queue[Message] = asyncio.Queue()
        self.takes = asyncio.Event()
        self.takes.set()
        self.inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": address,
            "query_string": b"",
            "headers": [(b"host", b"testserver")],
            "source": source,
        }
        application = StreamingResponses(ASGIHandler(), **options)  # type: ignore[arg-type]
        self.task = asyncio.create_task(application(scope, self.inbox.get, self._send))

    async def _send(self, message: Message) -> None:
        await self.takes.wait()
        self.sent.put_nowait(message)

    async def next(self) -> Message:
        async with asyncio.timeout(5):
            return await self.sent.get()

    def hang_up(self) -> None:
        self.inbox.put_nowait({"type": "http.disconnect"})

    async def ended(self) -> None:
        async with asyncio.timeout(5):
            await self.task


def show(request: HttpRequest) -> HttpResponseBase:
    source = request.scope["source"]  # type: ignore[attr-defined]
    headers = {"Content-Type": "text/plain"}
    return streaming_response(request, source.stream(), headers, source.guard)


def show_unless_refused(request: HttpRequest) -> HttpResponseBase:
    source = request.scope["source"]  # type: ignore[attr-defined]
    headers = {"Content-Type": "text/plain", "X-Stream": "v1"}
    response = streaming_response(request, source.stream(), headers, source.guard, may_refuse=True)
    response["X-Any"] = "of every answer"
    return response


urlpatterns = [
    path("live", show),
    path("refused", show_unless_refused),
    path("plain", lambda request: HttpResponse("Hello")),
]
pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def routes() -> Any:
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        yield


async def test_pieces_are_sent_as_they_come_to_the_end() -> None:
    source = Source()
    client = Client(source)
    start = await client.next()
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert dict(start["headers"]) == {b"Content-Type": b"text/plain"}
    for piece in (b"one", b"two"):
        source.pieces.put_nowait(piece)
        assert await client.next() == {
            "type": "http.response.body",
            "body": piece,
            "more_body": True,
        }
    source.pieces.put_nowait(None)
    assert (await client.next())["more_body"] is False
    await client.ended()
    assert source.is_closed
    assert client.sent.empty()


async def test_django_is_done_while_the_stream_goes_on() -> None:
    source, finished = Source(), []

    def note(**_: Any) -> None:
        finished.append(source.was_begun)

    request_finished.connect(note)
    try:
        client = Client(source)
        await client.next()
        source.pieces.put_nowait(b"one")
        await client.next()
        assert finished == [False]
    finally:
        request_finished.disconnect(note)
        source.pieces.put_nowait(None)
        await client.ended()


async def test_a_client_that_hangs_up_closes_the_stream() -> None:
    source = Source()
    client = Client(source)
    await client.next()
    source.pieces.put_nowait(b"one")
    await client.next()
    client.hang_up()
    await client.ended()
    assert source.is_closed


async def test_a_client_that_is_gone_before_the_start_begins_nothing() -> None:
    source = Source()
    client = Client(source)
    client.hang_up()
    await client.ended()
    assert not source.was_begun


async def test_a_head_request_does_not_wait_for_the_end_of_the_stream() -> None:
    source = Source()
    client = Client(source, method="HEAD")
    start = await client.next()
    assert (start["status"], dict(start["headers"])) == (200, {b"Content-Type": b"text/plain"})
    assert not (await client.next()).get("more_body")
    await client.ended()
    assert not source.was_begun


async def test_a_client_that_takes_nothing_is_given_up() -> None:
    source = Source()
    client = Client(source, stall=0.2)
    await client.next()
    client.takes.clear()
    source.pieces.put_nowait(b"one")
    await client.ended()
    assert source.is_closed


async def test_a_fault_of_the_stream_is_the_servers_to_report() -> None:
    source = Source()
    client = Client(source)
    await client.next()
    source.fault = RuntimeError("A fault of ours.")
    source.pieces.put_nowait(b"one")
    with pytest.raises(RuntimeError, match="A fault of ours"):
        await client.ended()


async def test_other_responses_are_as_they_were() -> None:
    client = Client(Source(), "/plain")
    assert (await client.next())["status"] == 200
    body = await client.next()
    assert (body["body"], body["more_body"]) == (b"Hello", False)
    await client.ended()


async def test_a_guard_ends_a_response_that_waits_for_its_next_piece() -> None:
    source = Source()
    client = Client(source)
    await client.next()
    source.pieces.put_nowait(b"one")
    await client.next()
    assert source.end is not None
    source.end()
    source.end()  # a second time does nothing
    assert await client.next() == {"type": "http.response.body", "body": b"", "more_body": False}
    await client.ended()
    assert source.is_closed
    assert source.end is None


async def test_a_guard_ends_a_response_whose_client_takes_nothing() -> None:
    source = Source()
    client = Client(source, stall=0.2)
    await client.next()
    source.pieces.put_nowait(b"one")
    await client.next()
    client.takes.clear()
    source.pieces.put_nowait(b"two")
    assert source.end is not None
    source.end()
    await client.ended()
    assert source.is_closed


async def test_a_stream_that_may_refuse_is_answered_with_its_refusal() -> None:
    source = Source()
    source.fault = TooManyRequests(retry_after=7)
    client = Client(source, "/refused")
    source.pieces.put_nowait(b"never sent")
    start, body = await client.next(), await client.next()
    headers = {name.lower(): value for name, value in start["headers"]}
    assert start["status"] == 429
    assert (headers[b"retry-after"], headers[b"x-any"]) == (b"7", b"of every answer")
    assert headers[b"content-type"] == b"application/json"
    assert b"x-stream" not in headers
    assert b'"code": "rate_limit_exceeded"' in body["body"]
    assert int(headers[b"content-length"]) == len(body["body"])
    assert not body["more_body"]
    await client.ended()
    assert client.sent.empty()


async def test_a_stream_that_may_refuse_and_does_not_is_sent_as_it_comes() -> None:
    source = Source()
    client = Client(source, "/refused")
    source.pieces.put_nowait(b"one")
    start, piece = await client.next(), await client.next()
    assert (start["status"], piece["body"]) == (200, b"one")
    source.pieces.put_nowait(None)
    assert not (await client.next())["more_body"]
    await client.ended()


async def test_one_that_is_ended_before_its_first_chunk_is_an_empty_answer() -> None:
    source = Source()
    client = Client(source, "/refused")
    await source.is_guarded.wait()
    assert source.end is not None
    source.end()
    start, end = await client.next(), await client.next()
    assert (start["status"], end["body"], end["more_body"]) == (200, b"", False)
    await client.ended()
