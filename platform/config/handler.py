"""Django as it is served."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.db import close_old_connections
from django.http.response import HttpResponseBase


class _Request(ASGIRequest):
    """Django's own, but it is gone once it is answered: what its middleware puts on it (`auser`,
    `_messages`) refers to it."""

    def close(self) -> None:
        super().close()
        vars(self).clear()


class Handler(ASGIHandler):
    """Django's own, but an answer keeps nothing: no connection to the database while it is sent,
    and no memory afterwards.

    Django gives the connection back when the client has taken all of the answer. So a few clients
    that read slowly would have all connections of the process.

    Django's listener raises when the client has gone, or has been answered, and Django ignores
    that. But exception, traceback, frame and task then refer to each other, and request and answer
    with them, until the garbage collector comes: https://code.djangoproject.com/ticket/36700.
    """

    request_class = _Request

    async def listen_for_disconnect(
        self, receive: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> None:
        """Return when there is nobody any more: that something has ended is all that counts."""
        await receive()

    async def send_response(
        self, response: HttpResponseBase, send: Callable[[Mapping[str, Any]], Awaitable[None]]
    ) -> None:
        """Give the connection back before anything is sent. What a body still needs of the database
        it has to fetch with one of its own."""
        await sync_to_async(close_old_connections)()
        await super().send_response(response, send)


def make_application() -> Handler:
    """Set Django up, as `get_asgi_application` does."""
    django.setup(set_prefix=False)
    return Handler()
