"""A limit on request bodies, in front of Django.

Django's ASGI handler reads the whole body before any middleware or view can refuse it, and writes
what does not fit into memory to disk.
"""

from django.utils.http import parse_header_parameters

from common.asgi import Application, Headers, Message, Receive, Scope, Send, discard_body
from common.errors import DomainError, MalformedRequest, PayloadTooLarge
from common.refuse import refuse

# Less than FILE_UPLOAD_MAX_MEMORY_SIZE, so that nothing is ever written to disk.
MAX_REQUEST_BYTES = 2_000_000


class BodyLimit:
    """Answers 413 for `application` where an HTTP body is announced, or comes, over `limit` bytes.

    What else refuses a body while it is read raises DomainError, and is answered for as well. So is
    a Content-Type over which Django would stumble.
    """

    def __init__(
        self,
        application: Application,
        *,
        limit: int = MAX_REQUEST_BYTES,
        too_large: str = "The body is larger than 2 MB.",
    ) -> None:
        self._application = application
        self._limit = limit
        self._too_large = too_large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": True}
        size = 0

        def check(size: int) -> None:
            if size > self._limit:
                raise PayloadTooLarge(self._too_large)

        async def limited() -> Message:
            nonlocal message, size
            message = await receive()
            size += len(message.get("body", b""))
            check(size)
            return message

        # Raised while the application reads the body, that is before it answers.
        try:
            check(_announced(scope["headers"]))
            _check_type(scope["headers"])
            await self._application(scope, limited, send)
        except DomainError as error:
            await discard_body(receive, message, size)
            # The rest of the body, if any, is not read.
            await refuse(scope, send, error, close=True)


def _announced(headers: Headers) -> int:
    """The Content-Length; 0 where there is none. A server passes no other than a number on."""
    return int(dict(headers).get(b"content-length", b"0"))


def _check_type(headers: Headers) -> None:
    """Can Django read the Content-Type? It reads it before there is anybody to answer."""
    values = [value.decode("latin-1") for name, value in headers if name == b"content-type"]
    try:
        parse_header_parameters(",".join(values))
    except ValueError:
        raise MalformedRequest("The Content-Type cannot be read.") from None
