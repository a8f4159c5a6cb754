"""Bounds on request bodies, in front of Django.

Django's ASGI handler reads the whole body before any middleware or view can refuse it, and writes
what does not fit into memory to disk.
"""

from collections.abc import Callable

from django.utils.http import parse_header_parameters

from common.errors import DomainError, MalformedRequest, PayloadTooLarge
from server import bodies
from server.asgi import Application, Headers, Receive, Scope, Send
from server.bodies import Body, BodyTooSlow, Sender
from server.refuse import refuse

# Less than FILE_UPLOAD_MAX_MEMORY_SIZE, so that nothing is ever written to disk.
MAX_REQUEST_BYTES = 2_000_000

# Finds the sender of a body; raises DomainError where the body is refused unread.
SenderOf = Callable[[Scope], Sender]


class BodyLimit:
    """Answers 413 for `application` where an HTTP body is longer than `limit` bytes, announced or
    received, and refuses bodies that are too slow or exceed the memory limits (`server.bodies`).

    It also answers a DomainError that other code raises before or while the body is read, and a
    Content-Type that Django cannot parse.
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
        """Run the application. Errors of reading the body are raised here, before it answers."""
        try:
            self._check_announced(scope["headers"])
            _check_type(scope["headers"])
            await self._application(scope, receive, send)
        except DomainError as error:
            error.__traceback__ = None  # which gives back the body's memory
            if body is not None and not isinstance(error, BodyTooSlow):
                await body.discard()
            # The rest of the body is no request.
            await refuse(scope, send, error, close=body is not None)

    def _check_announced(self, headers: Headers) -> None:
        """A server passes on a Content-Length only if it is a number."""
        if int(dict(headers).get(b"content-length", b"0")) > self._limit:
            raise PayloadTooLarge(self._too_large)


def _waits_for_100(headers: Headers) -> bool:
    """Does the client wait for "100 Continue" before it sends the body (RFC 9110, section
    10.1.1)?"""
    return any(name == b"expect" for name, _ in headers)


def _check_type(headers: Headers) -> None:
    """Can Django parse the Content-Type? Django parses it before any view can answer."""
    values = [value.decode("latin-1") for name, value in headers if name == b"content-type"]
    try:
        parse_header_parameters(",".join(values))
    except ValueError:
        raise MalformedRequest("The Content-Type cannot be read.") from None
