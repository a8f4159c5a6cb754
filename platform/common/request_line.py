"""The log line of a request: whoever answers it adds what it knows."""

from contextvars import ContextVar
from uuid import UUID

from common.errors import DomainError, ServiceUnavailable
from common.logging import CallLine


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

    def note(self, error: DomainError) -> None:
        """The request is answered with this error."""
        self.code = error.code
        if error.__cause__ is not None:
            self.cause = type(error.__cause__).__name__


_current: ContextVar[RequestLine | None] = ContextVar("request_line", default=None)


def begin(line: RequestLine) -> None:
    """Make it the line of the request that this task, and what it starts, carries out."""
    _current.set(line)


def current() -> RequestLine:
    """The line of the request that is carried out here; one that is never written outside of a
    request."""
    return _current.get() or RequestLine(method="")


def unavailable(error: BaseException) -> ServiceUnavailable:
    """The answer to a request that has met this error of the database. Its line has the cause; an
    outage has lines of its own (`common.outages`)."""
    refusal = ServiceUnavailable()
    line = current()
    line.note(refusal)
    line.cause = type(error.__cause__ or error).__name__
    return refusal
