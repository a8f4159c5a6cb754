"""Django as it is served."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import django
from django.core.handlers.asgi import ASGIHandler, ASGIRequest


class _Request(ASGIRequest):
    """Django's own, but it is gone once it is answered: what its middleware puts on it (`auser`,
    `_messages`) refers to it."""

    def close(self) -> None:
        super().close()
        vars(self).clear()


class Handler(ASGIHandler):
    """Django's own, but answers are gone once they are sent.

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


def make_application() -> Handler:
    """Set Django up, as `get_asgi_application` does."""
    django.setup(set_prefix=False)
    return Handler()
