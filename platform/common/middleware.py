"""Django middleware. What also serves refusals in front of Django is sync and async alike."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from typing import cast

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from structlog.contextvars import bound_contextvars

from common import envelope
from common.errors import DomainError, LengthRequired, MalformedRequest, UnknownHost
from common.ids import request_id

SyncHandler = Callable[[HttpRequest], HttpResponseBase]
AsyncHandler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_id_middleware(get_response: SyncHandler | AsyncHandler) -> SyncHandler | AsyncHandler:
    """Give every request an id: on the request, on its log lines, on its response."""

    @contextmanager
    def identified(request: HttpRequest) -> Iterator[str]:
        identity = request_id(request.headers.get("X-Request-ID"))
        request.request_id = identity  # type: ignore[attr-defined]
        with bound_contextvars(request_id=identity):
            yield identity

    async def amiddleware(request: HttpRequest) -> HttpResponseBase:
        with identified(request) as identity:
            response = await cast(AsyncHandler, get_response)(request)
            response["x-request-id"] = identity
            return response

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with identified(request) as identity:
            response = cast(SyncHandler, get_response)(request)
            response["x-request-id"] = identity
            return response

    return amiddleware if iscoroutinefunction(get_response) else middleware


def request_guard_middleware(get_response: SyncHandler) -> SyncHandler:
    """Refuse, in JSON, what Django would answer in HTML or misread."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if error := refusal(request):
            return envelope.answer(error)
        return get_response(request)

    return middleware


def refusal(request: HttpRequest) -> DomainError | None:
    """What is wrong with an unknown host or a body that is compressed or of unknown length; else
    None."""
    try:
        request.get_host()
    except DisallowedHost:
        return UnknownHost()
    if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
        return LengthRequired()
    # The parsers would blame what is in it, or find nothing there.
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        return MalformedRequest("Send the body uncompressed.")
    return None
