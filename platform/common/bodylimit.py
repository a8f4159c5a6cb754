"""A limit on request bodies, in front of Django.

Django's ASGI handler reads the whole body before any middleware or view can refuse it, and writes
what does not fit into memory to disk.
"""

from contextlib import suppress

from common.asgi import Application, Headers, Message, Receive, Scope, Send, discard_body
from common.errors import PayloadTooLarge
from common.refuse import refuse

# Less than FILE_UPLOAD_MAX_MEMORY_SIZE, so that nothing is ever written to disk.
MAX_REQUEST_BYTES = 2_000_000


class _TooLong(Exception):
    """Raised into the application while it reads the body, that is before it answers."""


class BodyLimit:
    """Answers 413 for `application` where an HTTP body is announced, or comes, over the limit."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": True}
        size = 0

        async def limited() -> Message:
            nonlocal message, size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_REQUEST_BYTES:
                raise _TooLong
            return message

        if _announced(scope["headers"]) <= MAX_REQUEST_BYTES:
            with suppress(_TooLong):
                await self._application(scope, limited, send)
                return
        await discard_body(receive, message, size)
        # The rest of the body, if any, is not read.
        await refuse(scope, send, PayloadTooLarge("The body is larger than 2 MB."), close=True)


def _announced(headers: Headers) -> int:
    """The Content-Length; 0 where there is none. A server passes no other than a number on."""
    return int(dict(headers).get(b"content-length", b"0"))
