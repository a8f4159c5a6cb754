"""Errors of a call, and the common base of all providers: how a key is sent, and how errors
look."""

from dataclasses import dataclass
from typing import Any, Protocol

from simulator.connection import Connection


@dataclass(frozen=True, slots=True)
class Problem:
    """An HTTP status, and the particulars of the error; the provider has usual values for the rest.

    `code` is the provider's own code of the error, `retry_after` is in seconds.
    """

    status: int
    message: str | None = None
    code: str | None = None
    param: str | None = None
    retry_after: int | None = None


class Refused(Exception):
    """The call is answered with an HTTP error."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


Json = dict[str, Any]

WRONG_KEY = "wrong"  # the only key that all providers refuse


class Provider(Protocol):
    """`retry_after_header`: a refusal has a Retry-After header."""

    @property
    def retry_after_header(self) -> bool: ...

    def require_key(self, connection: Connection) -> None:
        """Raises `Refused` where the key is missing or `WRONG_KEY`."""
        ...

    def error(self, problem: Problem, request_id: str) -> Json:
        """The body of an error, and of an error event."""
        ...

    def headers(self, request_id: str) -> dict[str, str]:
        """Headers of all answers of this provider."""
        ...


def require_bearer(connection: Connection) -> None:
    """A key in the form of most providers. Raises `Refused`."""
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        message = "You didn't provide an API key: send it as a Bearer token in Authorization."
        raise Refused(Problem(401, message))
    if key.strip() == WRONG_KEY:
        raise Refused(Problem(401))


class BearerProvider:
    """The base of providers whose key comes as a bearer token. A refusal has a Retry-After."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        require_bearer(connection)

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
