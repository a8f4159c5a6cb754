"""What is wrong with a call; and what the provider of every wire has: a way to be given a key, and
a shape for errors."""

from dataclasses import dataclass
from typing import Any, Protocol

from simulator.connection import Connection


@dataclass(frozen=True, slots=True)
class Problem:
    """An HTTP status, and what is particular about it; for the rest a provider has usual words.

    `code` is the provider's own word for the error, `retry_after` seconds.
    """

    status: int
    message: str | None = None
    code: str | None = None
    param: str | None = None
    retry_after: int | None = None


class Refused(Exception):
    """The call is answered with an HTTP error instead."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


Json = dict[str, Any]

WRONG_KEY = "wrong"  # the one key that no provider takes; any other will do


class Provider(Protocol):
    """`retry_after_header` tells whether a refusal says in a header when to come back."""

    @property
    def retry_after_header(self) -> bool: ...

    def require_key(self, connection: Connection) -> None:
        """Raises `Refused` where there is no key or `WRONG_KEY`."""
        ...

    def error(self, problem: Problem, request_id: str) -> Json:
        """The body of an error, and of an error event."""
        ...

    def headers(self, request_id: str) -> dict[str, str]:
        """What every answer of this provider has among its headers."""
        ...


def require_bearer(connection: Connection) -> None:
    """A key as most providers take it. Raises `Refused`."""
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        message = "You didn't provide an API key: send it as a Bearer token in Authorization."
        raise Refused(Problem(401, message))
    if key.strip() == WRONG_KEY:
        raise Refused(Problem(401))
