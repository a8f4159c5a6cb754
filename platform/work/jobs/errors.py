"""Errors of starting a job."""

from common.errors import DomainError


class TooManyRuns(DomainError):
    code, status = "too_many_runs", 429
    message = "Too much is running for this account. Wait until some of it has ended."

    def __init__(self) -> None:
        super().__init__(retry_after=5)
