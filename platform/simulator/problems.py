"""What is wrong with a call, before any provider has put it into its own words."""

from dataclasses import dataclass


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
