"""Django as it is served."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.exception import convert_exception_to_response
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware

from common import envelope, request_line
from common.middleware import refusal
from server.metrics import count_request
from server.traced_requests import name_request

# Threads that are kept for the next requests: about as many as work at the same time.
KEPT_THREADS = 32


class _Request(ASGIRequest):
    """Django's own, but it is gone once it is answered: what its middleware puts on it (`auser`,
    `_messages`) refers to it."""

    def close(self) -> None:
        super().close()
        vars(self).clear()


def route_of(request: HttpRequest) -> str:
    """The pattern of a request's route, such as `api/keys/<uuid:key_id>`; all pages of the admin
    are one."""
    match = request.resolver_match
    route = str(match.route) if match else ""
    return "admin/" if route.startswith("admin/") else route or "unknown"


class _StaticFiles(ServeStaticMiddleware):  # type: ignore[misc]
    """In front of all other middleware, so files are guarded as by those."""

    async def aserve(self, static_file: Any, request: HttpRequest) -> HttpResponseBase:
        if error := refusal(request):
            return envelope.answer(error)
        response: HttpResponseBase = await super().aserve(static_file, request)
        return response


class Handler(ASGIHandler):
    """Django's own, but all of a request is done in one thread, which is kept for other requests,
    and an answer keeps nothing: no connection to the database while it is sent, and no memory
    afterwards.

    Under ASGI most of Django's middleware changes threads on the way in and on the way out, a dozen
    times for a request, and for each request one thread is started to do the work and another one
    to wait for its end: docs/decisions/0025.

    Django gives the connection back when the client has taken all of the answer. So a few clients
    that read slowly would have all connections of the process.

    Django's listener raises when the client has gone, or has been answered, and Django ignores
    that. But exception, traceback, frame and task then refer to each other, and request and answer
    with them, until the garbage collector comes: https://code.djangoproject.com/ticket/36700.
    """

    request_class = _Request

    def __init__(self) -> None:
        super().__init__()
        # The only one that is asynchronous.
        in_a_thread = sync_to_async(self._answer)
        self._respond = convert_exception_to_response(_StaticFiles(in_a_thread))
        self._threads: list[ThreadPoolExecutor] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["began_at"] = time.monotonic()
        with self._thread() as executor:
            async with ThreadSensitiveContext(executor=executor):
                await self.handle(scope, receive, send)

    @contextmanager
    def _thread(self) -> Iterator[ThreadPoolExecutor]:
        """One that no other request has meanwhile."""
        thread = self._threads.pop() if self._threads else ThreadPoolExecutor(max_workers=1)
        try:
            yield thread
        finally:
            if len(self._threads) < KEPT_THREADS:
                self._threads.append(thread)
            else:
                thread.shutdown(wait=False)

    def load_middleware(self, is_async: bool = False) -> None:
        """For one thread, whatever Django asks for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """A static file, or what the middleware and a view make of the request."""
        return await cast(Awaitable[HttpResponseBase], self._respond(request))

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        """What is sent later has to fetch what it still needs with a connection of its own."""
        response = self.get_response(request)
        began_at = cast(ASGIRequest, request).scope["began_at"]
        method, route = request.method or "", route_of(request)
        count_request(method, route, response.status_code, began_at)
        name_request(method, route)
        line = request_line.current()
        line.route = route
        # An operator's session; nobody looks it up for this.
        line.account_id = line.account_id or getattr(vars(request).get("_cached_user"), "pk", None)
        close_old_connections()
        return response

    async def listen_for_disconnect(
        self, receive: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> None:
        """Return when there is nobody any more: that something has ended is all that counts."""
        await receive()


def make_application() -> Handler:
    """Set Django up, as `get_asgi_application` does."""
    django.setup(set_prefix=False)
    return Handler()
