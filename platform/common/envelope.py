"""The envelope of errors of `/api`, inside and outside of views."""

from typing import Any

from django.http import JsonResponse
from rest_framework import status

from common import request_line
from common.errors import DomainError
from observability.tracing import spans


def body(error: DomainError) -> dict[str, Any]:
    """`{detail, code}`: a sentence for people, and a code for programs. The `detail` of a 402 is an
    object with both. A 422 also has a list of problems, whose `loc` is empty where no single value
    is to blame."""
    if error.status == status.HTTP_402_PAYMENT_REQUIRED:
        return {"detail": {"code": error.code, "message": error.text, **error.extra}}
    problems = {}
    if error.status == status.HTTP_422_UNPROCESSABLE_ENTITY:
        problems["errors"] = [{"loc": [], "msg": error.text}]
    return {"detail": error.text, "code": error.code, **problems, **error.extra}


def headers(error: DomainError) -> dict[str, str]:
    """`Retry-After` and `WWW-Authenticate`."""
    fields = {}
    if error.retry_after is not None:
        fields["Retry-After"] = str(error.retry_after)
    if error.status == status.HTTP_401_UNAUTHORIZED:
        fields["WWW-Authenticate"] = 'Bearer realm="api"'
    return fields


def answer(error: DomainError) -> JsonResponse:
    """The response, for code outside of REST framework's views."""
    spans.current_span().set(code=error.code)
    request_line.current().note(error)
    return JsonResponse(body(error), status=error.status, headers=headers(error))
