"""What is left of a request when Django has served it, and of one whose client has gone."""

import asyncio
import gc
import time
import weakref
from collections.abc import AsyncGenerator, Iterator
from threading import Barrier, get_ident
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import URLResolver, get_resolver, path
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import Conflict
from common.viewsets import ViewSet
from server.handler import Handler
from server.streaming_response import StreamingResponses, streaming_response

HEADERS = [(b"host", b"localhost")]

asked: list[weakref.ref[Any]] = []
left_early: list[bool] = []
threads: list[int] = []
meeting = Barrier(2)


class Asked(list[int]):
    """What a view has made. It can be watched."""

    def __init__(self, request: Request) -> None:
        super().__init__([1, 2, 3])
        asked.extend(weakref.ref(each) for each in (self, request, request._request))


class Answering(ViewSet):
    """Each action answers `[1,2,3]` in a way of its own."""

    authentication_classes = ()
    permission_classes = ()

    def written(self, request: Request) -> Response:
        return Response(Asked(request))

    def text(self, request: Request) -> HttpResponse:
        return HttpResponse(str(Asked(request)))

    def stream(self, request: Request) -> StreamingHttpResponse:
        return StreamingHttpResponse(pieces(Asked(request)))

    def live(self, request: Request) -> StreamingHttpResponse:
        return streaming_response(request._request, pieces(Asked(request)), {})

    def refusal(self, request: Request) -> Response:
        refusal = Conflict(asked=Asked(request))
        raise refusal


async def pieces(asked: Asked) -> AsyncGenerator[bytes, None]:
    for each in asked:
        await asyncio.sleep(0)
        yield str(each).encode()


async def waiting(request: HttpRequest) -> HttpResponse:
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        left_early.append(True)
        raise
    raise AssertionError("Nobody has left.")


def thread(request: HttpRequest) -> HttpResponse:
    threads.append(get_ident())
    return HttpResponse()


def meeting_point(request: HttpRequest) -> HttpResponse:
    """Waits for another request that is worked on at the same time."""
    meeting.wait(10)
    return thread(request)


KINDS = ("written", "text", "stream", "live", "refusal")
urlpatterns = [
    path("waiting", waiting),
    path("thread", thread),
    path("meeting-point", meeting_point),
    *(path(kind, Answering.as_view({"get": kind})) for kind in KINDS),
]


@pytest.fixture(autouse=True)
def urls(settings: Settings) -> Iterator[None]:
    """This module's. The garbage collector comes in no test."""
    settings.ROOT_URLCONF = __name__
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Connection:
    """A request as servers hold it. They tell of the client's leaving, and that there is nothing
    more to wait for once it is answered."""

    def __init__(
        self, target: str, *, hangs_up: bool = False, handler: Handler | None = None
    ) -> None:
        self.sent: list[dict[str, Any]] = []
        self._scope = {"type": "http", "method": "GET", "path": target, "headers": HEADERS}
        self._hangs_up = hangs_up
        self._handler = handler or Handler()
        self._is_over = asyncio.Event()
        self._coming = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def serve(self) -> None:
        await StreamingResponses(self._handler)(self._scope, self._receive, self._send)  # type: ignore[arg-type]

    async def _receive(self) -> dict[str, Any]:
        if message := next(self._coming, None):
            return message
        await (asyncio.sleep(0.2) if self._hangs_up else self._is_over.wait())
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._is_over.set()


def serve(target: str, *, hangs_up: bool = False) -> list[dict[str, Any]]:
    """Have a request served; all that is sent."""

    async def served() -> list[dict[str, Any]]:
        connection = Connection(target, hangs_up=hangs_up)
        asked.append(weakref.ref(connection))
        await connection.serve()
        return connection.sent

    return asyncio.run(served())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_an_answer_waits_for_the_garbage_collector(kind: str) -> None:
    """It would look through what is left in the middle of some other request, for long."""
    asked.clear()
    sent = serve(f"/{kind}")
    assert sent[0]["status"] == (409 if kind == "refusal" else 200)
    assert sent[-1]["type"] == "http.response.body"
    assert len(asked) == 4
    ends = time.monotonic() + 5
    while any(each() for each in asked) and time.monotonic() < ends:
        time.sleep(0.001)  # the thread may be about to let go of it
    assert [each() for each in asked] == [None] * 4


def views(patterns: list[Any]) -> Iterator[type]:
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from views(each.url_patterns)
        elif hasattr(each.callback, "cls"):
            yield each.callback.cls


def test_nor_does_anything_of_the_answers_of_our_views() -> None:
    ours = set(views(get_resolver("config.urls").url_patterns))
    assert len(ours) > 20
    assert [each for each in ours if not issubclass(each, ViewSet)] == []


def test_who_hangs_up_ends_their_request() -> None:
    left_early.clear()
    assert serve("/waiting", hangs_up=True) == []
    assert left_early == [True]


async def test_requests_one_after_the_other_are_done_in_one_thread() -> None:
    """Starting a thread takes longer than many a request, and the event loop waits for it."""
    threads.clear()
    handler = Handler()
    for _ in range(5):
        await Connection("/thread", handler=handler).serve()
    assert len(threads) == 5
    assert len(set(threads)) == 1


async def test_requests_at_the_same_time_have_a_thread_each() -> None:
    threads.clear()
    handler = Handler()
    both = [Connection("/meeting-point", handler=handler) for _ in range(2)]
    await asyncio.gather(*(each.serve() for each in both))
    assert [each.sent[0]["status"] for each in both] == [200, 200]
    assert len(set(threads)) == 2
