"""What the end of a call says of the health of its provider."""

from msgspec import Struct

from ai.providers.errors import (
    AnswerTooLate,
    NoPicture,
    NothingMade,
    ProviderError,
    ProviderUnavailable,
    RequestRefused,
    ResultExpired,
    ResultMisplaced,
    ResultTooLong,
    UpstreamError,
)
from common.http import AnswerTooLong, ConnectFailed, TransportError

_OWN_VERDICTS = (NoPicture, NothingMade, ResultExpired, ResultMisplaced, ResultTooLong)


class Outcome(Struct, frozen=True):
    """`code` is one of a few words, for statistics. `is_failure`: it counts against the provider.
    `is_fault`: whoever calls would see it, because neither the content nor the size of a request
    can cause it: no connection, or a key or balance of ours that the provider refuses."""

    code: str
    is_failure: bool = False
    is_fault: bool = False


SERVED = Outcome("served")


def outcome_of(error: ProviderError, *, was_patient: bool = True) -> Outcome:
    """The outcome of a call that a provider has failed.

    What is wrong with the request is never the provider's failure, and neither is a limit of its
    requests, which it names itself. `was_patient`: the provider had the time that it may take.
    """
    if isinstance(error, RequestRefused):
        return Outcome("refused")
    if isinstance(error, ProviderUnavailable):
        return Outcome(error.fault, is_failure=True, is_fault=error.is_certain)
    if isinstance(error, AnswerTooLate):
        return Outcome("timeout", is_failure=was_patient)
    if isinstance(error, UpstreamError) and not isinstance(error, _OWN_VERDICTS):
        return _failure_of(error)
    return Outcome("no_result")


def _failure_of(error: UpstreamError) -> Outcome:
    status, cause = error.status, error.__cause__
    if status is not None:
        is_failure = status >= 500 or status == 408
        return Outcome(str(status) if 400 <= status < 600 else "other", is_failure)
    if isinstance(cause, AnswerTooLong):
        return Outcome("no_result")
    if isinstance(cause, ConnectFailed):
        return Outcome("connect", is_failure=True, is_fault=True)
    return Outcome("connection" if isinstance(cause, TransportError) else "broken", True)
