"""Bounds on request bodies, in front of Django.

Django's ASGI handler reads the whole body before any middleware or view can refuse it, and writes
what does not fit into memory to disk.
"""

from collections.abc import Callable

from django.utils.http import parse_header_parameters

from common import bodies
from common.asgi import Application, Headers, Receive, Scope, Send
from common.bodies import Body, BodyTooSlow, Sender
from common.errors import DomainError, MalformedRequest, PayloadTooLarge
from common.refuse import refuse

# Less than FILE_UPLOAD_MAX_MEMORY_SIZE, so that nothing is ever written to disk.
MAX_REQUEST_BYTES = 2_000_000

# Who sends the body of a request; raises DomainError where nothing of it is to be read.
SenderOf = Callable[[Scope], Sender]


class BodyLimit:
    """Answers 413 for `application` where an HTTP body is announced, or comes, over `limit` bytes,
    and refuses one that is too slow, or too much beside all others (`common.bodies`).

    What else refuses a body before or while it is read raises DomainError, and is answered for as
    well. So is a Content-Type over which Django would stumble.
    """

    def __init__(
        self,
        application: Application,
        sender_of: SenderOf,
        *,
        limit: int = MAX_REQUEST_BYTES,
        too_large: str = "The body is larger than 2 MB.",
    ) -> None:
        self._application = application
        self._sender_of = sender_of
        self._limit = limit
        self._too_large = too_large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not bodies.is_announced(scope["headers"]):
            await self._serve(scope, receive, send, None)
            return
        try:
            sender = self._sender_of(scope)
        except DomainError as error:
            await refuse(scope, send, error, close=_waits_for_100(scope["headers"]))
            return
        too_large = PayloadTooLarge(self._too_large)
        with bodies.incoming(receive, sender, limit=self._limit, too_large=too_large) as body:
            await self._serve(scope, body.receive, send, body)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, body: Body | None) -> None:
        """With what is raised while the application reads the body, that is before it answers."""
        try:
            self._check_announced(scope["headers"])
            _check_type(scope["headers"])
            await self._application(scope, receive, send)
        except DomainError as error:
            error.__traceback__ = None  # with which goes what was read
            if body is not None and not isinstance(error, BodyTooSlow):
                await body.discard()
            # What still comes of it is no request.
            await refuse(scope, send, error, close=body is not None)

    def _check_announced(self, headers: Headers) -> None:
        """A server passes no other Content-Length than a number on."""
        if int(dict(headers).get(b"content-length", b"0")) > self._limit:
            raise PayloadTooLarge(self._too_large)


def _waits_for_100(headers: Headers) -> bool:
    """A client that has not sent its body yet: it may never do so (RFC 9110, section 10.1.1)."""
    return any(name == b"expect" for name, _ in headers)


def _check_type(headers: Headers) -> None:
    """Can Django read the Content-Type? It reads it before there is anybody to answer."""
    values = [value.decode("latin-1") for name, value in headers if name == b"content-type"]
    try:
        parse_header_parameters(",".join(values))
    except ValueError:
        raise MalformedRequest("The Content-Type cannot be read.") from None
