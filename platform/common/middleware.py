"""Django middleware."""

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import format_html
from structlog.contextvars import bound_contextvars

from common import envelope, request_line
from common.database import DATABASE_AWAY
from common.errors import (
    DomainError,
    LengthRequired,
    MalformedRequest,
    UnknownHost,
)
from common.ids import request_id
from observability.tracing import spans

Handler = Callable[[HttpRequest], HttpResponseBase]

_PAGE = '<!doctype html><html lang="en"><title>{title}</title><p>{title}</p></html>'


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


class DatabaseAwayMiddleware:
    """Answer a page that finds no database with 503 and a sentence: what is under `/api` does so
    itself (`common.api`)."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Called by Django with what a view has raised."""
        if not isinstance(error, DATABASE_AWAY):
            return None
        refusal = request_line.unavailable(error)
        page = format_html(_PAGE, title=refusal.text)
        return HttpResponse(page, status=refusal.status, headers={"Retry-After": "1"})


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
