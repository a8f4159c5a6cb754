"""Django middleware."""

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from structlog.contextvars import bound_contextvars

from common import envelope, request_line
from common.errors import (
    DomainError,
    LengthRequired,
    MalformedRequest,
    UnknownHost,
)
from common.ids import request_id
from observability.tracing import spans

Handler = Callable[[HttpRequest], HttpResponseBase]


def request_id_middleware(get_response: Handler) -> Handler:
    """Give every request an id: on the request, in its log lines, in its response."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        identity = request_id(request.headers.get("X-Request-ID"))
        request.request_id = identity  # type: ignore[attr-defined]
        spans.current_span().set(request_id=identity)
        request_line.current().request_id = identity
        with bound_contextvars(request_id=identity):
            response = get_response(request)
        response["x-request-id"] = identity
        return response

    return middleware


def request_guard_middleware(get_response: Handler) -> Handler:
    """Refuse, in JSON, the requests that Django would answer in HTML or misread."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if error := refusal(request):
            return envelope.answer(error)
        return get_response(request)

    return middleware


def refusal(request: HttpRequest) -> DomainError | None:
    """The error of an unknown host, or of a body that is compressed or of unknown length; else
    None."""
    try:
        request.get_host()
    except DisallowedHost:
        return UnknownHost()
    if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
        return LengthRequired()
    # The parsers would blame the body's content, or find it empty.
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        return MalformedRequest("Send the body uncompressed.")
    return None
