"""The edge of `/api`: reads bodies and writes errors."""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, NoReturn

import msgspec
import structlog
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.html import format_html
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.utils.encoders import JSONEncoder

from common import envelope, request_line
from common.errors import (
    DomainError,
    Forbidden,
    InternalError,
    MalformedRequest,
    NotAcceptable,
    NotFound,
    NotSetUp,
    PayloadTooLarge,
    Unauthenticated,
    UnknownHost,
    UnsupportedMediaType,
    ValidationFailed,
)
from common.outages import is_away
from common.set_up import is_missing, report_missing
from observability.tracing import spans

MAX_BODY_BYTES = 1_000_000
MAX_DEPTH = 64
MAX_PROBLEMS = 50  # that a 422 lists
MAX_DIGITS = 100  # of a whole number; Python refuses to read very long ones

log = structlog.get_logger(__name__)


class WrittenFloat(float):
    """A float whose `str()` is the number as the client sent it; its value may be rounded."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


class StrictJSONParser(BaseParser):
    """JSON that can be stored and answered again: UTF-8, at most 1 MB, at most 64 levels deep.
    Numbers with a point or an exponent are of type WrittenFloat.

    Raises ParseError (400), PayloadTooLarge (413), or ValidationFailed (422) for a number that
    no float can hold.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise PayloadTooLarge("The body is larger than 1 MB.")
        try:
            document = json.loads(
                body.decode("utf-8"),
                parse_int=_whole_number,
                parse_float=WrittenFloat,
                parse_constant=_refuse_constant,
            )
        except UnicodeDecodeError:
            raise exceptions.ParseError("The body is not valid UTF-8.") from None
        except RecursionError:
            raise exceptions.ParseError("The JSON is nested too deeply.") from None
        except json.JSONDecodeError as error:
            raise exceptions.ParseError(_explained(error)) from None
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not valid JSON: {error}.") from None
        _check(document)
        return document


def _explained(error: json.JSONDecodeError) -> str:
    if error.doc.startswith("\ufeff"):
        return "The body begins with a byte order mark: send it without, as JSON requires."
    return f"The body is not valid JSON: see line {error.lineno}, column {error.colno}."


def _whole_number(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _number_too_large()
    return int(text)


def _number_too_large() -> ValidationFailed:
    return ValidationFailed("A number in the body is too large.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check(document: Any) -> None:
    """Refuse what PostgreSQL cannot store or JSON cannot express. It walks level by level, because
    a deep value would exceed Python's recursion limit."""
    level: list[Any] = [[document]]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[Any] = []
        for container in level:
            _check_items(container, deeper)
            if isinstance(container, dict):
                _check_items(container.values(), deeper)
        level = deeper
    if level:
        raise exceptions.ParseError("The JSON is nested too deeply.")


def _check_items(items: Iterable[Any], containers: list[Any]) -> None:
    """Check texts and numbers; append lists and objects to `containers`."""
    for item in items:
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise _number_too_large()
        elif isinstance(item, (list, dict)):
            containers.append(item)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise exceptions.ParseError("The body contains a NUL character.")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise exceptions.ParseError("The body contains an unpaired surrogate.")


class FastJSONRenderer(JSONRenderer):
    """The same JSON in a fifth of DRF's time: a conversation may have megabytes."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else msgspec.json.encode(data, enc_hook=JSONEncoder().default)


class AnyAccepted(DefaultContentNegotiation):
    """For views that have one format, whatever the client's `Accept` asks for."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """The answer to an exception of a view. As the outermost handler, it logs an unexpected one and
    answers 500."""
    answer = _answer(error, context)
    # The traceback keeps the frames of all functions, and one of them may refer to the exception.
    error.__traceback__ = None
    return answer


def _answer(error: Exception, context: Mapping[str, Any]) -> Response:
    match error:
        case DomainError():
            return _domain_response(error)
        case exceptions.ValidationError():
            return _domain_response(_validation_failed(error))
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return _domain_response(Unauthenticated())
        case exceptions.ParseError():
            return _domain_response(MalformedRequest(str(error.detail)))
        case exceptions.NotAcceptable():
            return _domain_response(NotAcceptable())
        case exceptions.UnsupportedMediaType():
            expected = context["view"].parser_classes[0].media_type
            return _domain_response(UnsupportedMediaType(f"Send the body as `{expected}`."))
        case exceptions.APIException():
            body = {"detail": str(error.detail), "code": error.default_code}
            return Response(body, status=error.status_code)
        case Http404():
            return _domain_response(NotFound())
        case PermissionDenied():
            return _domain_response(Forbidden())
        case SuspiciousOperation() | BadRequest():
            return _domain_response(_bad_request(error))
        case _ if is_away(error):
            return _domain_response(request_line.unavailable(error))
        case _:
            return _domain_response(_unexpected(error))


def _unexpected(error: Exception) -> DomainError:
    refusal: DomainError
    if is_missing(error):
        report_missing(error)
        refusal = NotSetUp()
    else:
        log.error("unhandled_exception", exc_info=error)
        refusal = InternalError()
    request_line.current().note(refusal, error)
    return refusal


def _bad_request(error: Exception | None) -> DomainError:
    """The answer to a request that Django itself refuses, for example with too many fields."""
    match error:
        case RequestDataTooBig():
            return PayloadTooLarge()
        case DisallowedHost():
            return UnknownHost()
        case _:
            return MalformedRequest()


def _domain_response(error: DomainError) -> Response:
    spans.current_span().set(code=error.code)
    request_line.current().note(error)
    return Response(envelope.body(error), status=error.status, headers=envelope.headers(error))


def _validation_failed(error: exceptions.ValidationError) -> ValidationFailed:
    problems = list(islice(_flat(error.detail, []), MAX_PROBLEMS))
    loc, message = problems[0]
    where = ".".join(str(part) for part in loc)
    errors = [{"loc": loc, "msg": message} for loc, message in problems]
    return ValidationFailed(f"{where}: {message}" if where else message, errors=errors)


def _flat(detail: Any, loc: list[str | int]) -> Iterator[tuple[list[str | int], str]]:
    """Each problem of DRF's nested error tree, with the path of its value."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            general = key == api_settings.NON_FIELD_ERRORS_KEY
            yield from _flat(value, loc if general else [*loc, key])
    elif isinstance(detail, list | tuple):
        for index, value in enumerate(detail):
            yield from _flat(value, loc if isinstance(value, str) else [*loc, index])
    else:
        yield loc, str(detail)


# --- Answers given outside of any view ----------------------------------------------------------

_PAGE = '<!doctype html><html lang="en"><title>{title}</title><p>{title}</p></html>'


@csrf_exempt
def unknown_path(request: HttpRequest, **path: str) -> JsonResponse:
    """The last route: 404 for any method."""
    return envelope.answer(NotFound())


def _json_outside_admin(
    refusal: Callable[[Exception | None], DomainError], admin_page: Callable[..., HttpResponse]
) -> Callable[..., HttpResponse]:
    """An error view: JSON for programs, Django's `admin_page` for the operators' browsers."""

    def handler(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return envelope.answer(refusal(exception))
        return admin_page(request) if exception is None else admin_page(request, exception)

    return handler


bad_request = _json_outside_admin(_bad_request, defaults.bad_request)
permission_denied = _json_outside_admin(lambda _: Forbidden(), defaults.permission_denied)
page_not_found = _json_outside_admin(lambda _: NotFound(), defaults.page_not_found)
_server_error = _json_outside_admin(lambda _: InternalError(), defaults.server_error)


def server_error(request: HttpRequest) -> HttpResponse:
    """The answer to an exception that no view has handled."""
    error = sys.exception()
    refusal: DomainError
    if error is not None and is_missing(error):
        report_missing(error)
        refusal = NotSetUp()
        request_line.current().note(refusal, error)
    elif error is not None and is_away(error):
        refusal = request_line.unavailable(error)
    else:
        request_line.current().note(InternalError(), error)
        return _server_error(request)
    if not request.path.startswith("/admin/"):
        return envelope.answer(refusal)
    page = format_html(_PAGE, title=refusal.text)
    return HttpResponse(page, status=refusal.status, headers={"Retry-After": "1"})
