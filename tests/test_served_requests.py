"""What is left of a request when Django has served it, and of one whose client has gone."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import path
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.handler import Handler

HEADERS = [(b"host", b"localhost")]

asked: list[weakref.ref[Any]] = []
left_early: list[bool] = []


class Rows(list[int]):
    """A list that can be watched."""


class Answering(APIView):
    authentication_classes = ()
    permission_classes = ()

    def get(self, request: Request) -> Response:
        rows = Rows([1, 2, 3])
        asked[:] = [weakref.ref(rows), weakref.ref(request)]
        return Response(rows)


async def waiting(request: HttpRequest) -> HttpResponse:
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        left_early.append(True)
        raise
    raise AssertionError("Nobody has left.")


urlpatterns = [path("answering", Answering.as_view()), path("waiting", waiting)]


@pytest.fixture(autouse=True)
def urls(settings: Settings) -> Iterator[None]:
    """This module's. The garbage collector comes in no test."""
    settings.ROOT_URLCONF = __name__
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def serve(target: str, *, hangs_up: bool) -> list[dict[str, Any]]:
    """Have a request served as servers do. They tell of the client's leaving, and that there is
    nothing more to wait for once it is answered."""
    sent: list[dict[str, Any]] = []

    async def served() -> None:
        is_over = asyncio.Event()
        coming = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> dict[str, Any]:
            if message := next(coming, None):
                return message
            await (asyncio.sleep(0.2) if hangs_up else is_over.wait())
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                is_over.set()

        scope = {"type": "http", "method": "GET", "path": target, "headers": HEADERS}
        await Handler()(scope, receive, send)  # type: ignore[arg-type]

    asyncio.run(served())
    return sent


def test_nothing_of_an_answer_waits_for_the_garbage_collector() -> None:
    """It would look through what is left in the middle of some other request, for long."""
    start, body = serve("/answering", hangs_up=False)
    assert (start["status"], body["body"]) == (200, b"[1,2,3]")
    assert [each() for each in asked] == [None, None]


def test_who_hangs_up_ends_their_request() -> None:
    left_early.clear()
    assert serve("/waiting", hangs_up=True) == []
    assert left_early == [True]
