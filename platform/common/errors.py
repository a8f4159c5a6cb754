"""The error tree. Services raise these; `/api` and `/v1` each render them in their own envelope."""

from collections.abc import Sequence
from typing import Any, ClassVar


class DomainError(Exception):
    """A refusal the caller can act on.

    `code` is what a program branches on, `message` is a sentence a person can read, `status` is the
    HTTP status. `extra` holds further JSON fields; `retry_after` (seconds) becomes `Retry-After`.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    message: ClassVar[str] = "The request cannot be carried out."

    def __init__(
        self, message: str | None = None, *, retry_after: int | None = None, **extra: Any
    ) -> None:
        self.text = message or self.message
        self.retry_after = retry_after
        self.extra = extra
        super().__init__(self.text)


class ValidationFailed(DomainError):
    """A well-formed request with a value that is not allowed. `extra["errors"]`: `[{loc, msg}]`."""

    code, status = "validation_failed", 422
    message = "A value is not allowed."

    @classmethod
    def of(cls, field: str, problem: str) -> "ValidationFailed":
        """The error for one field of the body; `problem` is a sentence."""
        return cls.at([field], problem)

    @classmethod
    def at(cls, loc: Sequence[str | int], problem: str) -> "ValidationFailed":
        """The error for a place in the body."""
        where = ".".join(map(str, loc))
        return cls(f"{where}: {problem}", errors=[{"loc": list(loc), "msg": problem}])


class MalformedRequest(DomainError):
    code, status = "malformed_request", 400
    message = "The request is malformed."


class UnknownHost(DomainError):
    code, status = "invalid_host", 400
    message = "This host is not served here."


class LengthRequired(DomainError):
    """The parsers would take a body of unknown length for an empty one."""

    code, status = "length_required", 411
    message = "Send the body with a Content-Length."


class PayloadTooLarge(DomainError):
    code, status = "payload_too_large", 413
    message = "The body is too large."


class NotFound(DomainError):
    code, status = "not_found", 404
    message = "There is nothing at this address."


class Forbidden(DomainError):
    code, status = "forbidden", 403
    message = "You are not allowed to do this."


class Conflict(DomainError):
    code, status = "conflict", 409
    message = "A competing operation is in progress."


class Unauthenticated(DomainError):
    code, status = "not_authenticated", 401
    message = "Sign in and send the access token as `Authorization: Bearer <token>`."


class NotAcceptable(DomainError):
    code, status = "not_acceptable", 406
    message = "The answer is JSON, which the request does not accept."


class UnsupportedMediaType(DomainError):
    code, status = "unsupported_media_type", 415
    message = "Send the body as `application/json`."


class TooManyRequests(DomainError):
    code, status = "rate_limit_exceeded", 429
    message = "Too many requests came from your address. Wait for Retry-After seconds."


class InternalError(DomainError):
    code, status = "internal_error", 500
    message = "Something went wrong on our side. Please try again."


class ServiceUnavailable(DomainError):
    """Our own database or capacity. Nothing was billed; the same request may succeed later."""

    code, status = "service_unavailable", 503
    message = "The service is busy or restarting. Nothing was billed; try again in a moment."


class NotSetUp(ServiceUnavailable):
    """The database lacks tables, functions or plans (`common.set_up.is_missing`)."""

    message = "This service is not set up yet: its operator has to run `manage.py setup`."
