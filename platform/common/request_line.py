"""The log line of a request: whoever answers it adds what it knows."""

from contextvars import ContextVar
from uuid import UUID

from common.errors import DomainError, ServiceUnavailable
from common.logging import CallLine
from common.outages import report


class RequestLine(CallLine, tag_field="event", tag="request.answered"):
    """`route` is the pattern of the path, without values, and None where the request was refused
    before it was known. `status` is None where the client had gone before the answer began; that of
    an accepted socket is 101. `code` is that of the error, `cause` the class of an exception behind
    it. `account_id` is the account that the request has proved."""

    method: str
    route: str | None = None
    status: int | None = None
    code: str | None = None
    cause: str | None = None
    milliseconds: float = 0.0
    request_id: str | None = None
    account_id: UUID | None = None
    api_key_id: UUID | None = None

    def note(self, error: DomainError, cause: BaseException | None = None) -> None:
        """The request is answered with this error, because of `cause` where that is another."""
        self.code = error.code
        cause = cause or error.__cause__
        if cause is not None:
            self.cause = type(cause).__name__


_current: ContextVar[RequestLine | None] = ContextVar("request_line", default=None)


def begin(line: RequestLine) -> None:
    """Make it the line of the request that this task, and what it starts, carries out."""
    _current.set(line)


def current() -> RequestLine:
    """The line of the request that is carried out here; one that is never written outside of a
    request."""
    return _current.get() or RequestLine(method="")


def unavailable(error: BaseException) -> ServiceUnavailable:
    """The answer to a request that has met this error of the database. Its line has the cause; what
    is no outage is logged besides."""
    report(error)
    refusal = ServiceUnavailable()
    current().note(refusal, error.__cause__ or error)
    return refusal
