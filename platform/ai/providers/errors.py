"""Errors of calls to providers. Their callers decide what these mean for the charge and the
client."""

from typing import ClassVar, Literal

# What an operator has to look after: our key at a provider, our quota or balance there, or a model
# that the provider has withdrawn.
AccountFault = Literal["key", "quota", "model"]


class ProviderError(Exception):
    """Base of all errors of a wire. The caller may see the text: it contains no credentials.

    `status` is that of the provider's answer, if there was one, and `codes` are the provider's
    error codes.
    """

    status: int | None = None
    codes: tuple[str, ...] = ()


class UpstreamError(ProviderError):
    """The provider failed: connection, timeout, 5xx, 429, or a malformed answer.

    `retryable`: the same call may succeed a moment later. A wire that pays by the order, as image
    wires do, sets it only where nothing was made; elsewhere a second call may cost us twice, and
    never the customer. `retry_after` is the number of seconds that the provider asks to wait, if it
    does.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class AnswerTooLate(UpstreamError):
    """The provider did not answer in time. It may have worked: no second attempt."""

    def __init__(self) -> None:
        super().__init__("The provider did not answer in time.", retryable=False)


class AnswerUnusable(UpstreamError):
    """The provider has answered an order with nothing that can be used. It may bill that: no second
    attempt."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class NothingMade(UpstreamError):
    """The provider's own verdict: it could not make what was ordered, and bills nothing."""

    def __init__(self) -> None:
        super().__init__("The provider failed to make the picture.", retryable=False)


class NoPicture(AnswerUnusable):
    """The provider has answered as it should, but with words alone: mostly because of what it was
    asked for."""

    def __init__(self) -> None:
        super().__init__("The provider sent no picture.")


class ResultExpired(UpstreamError):
    """The URL of a result does not work any more; another poll brings a new one."""

    def __init__(self) -> None:
        super().__init__("The address of the result does not work any more.")


class ResultTooLong(UpstreamError):
    """A result is longer than allowed: another attempt would bring as much."""

    def __init__(self) -> None:
        super().__init__("The result is too large.", retryable=False)


class ResultMisplaced(UpstreamError):
    """A result is said to be where it must not be fetched from: at an address that is not the
    provider's, or that redirects."""

    def __init__(self) -> None:
        super().__init__("The provider named a place that is not its own.", retryable=False)


class ProviderUnavailable(ProviderError):
    """The provider refuses to serve us until an operator has looked after `fault`.

    `turned_away`: the provider has answered the request itself with this refusal, and has begun
    nothing. `is_certain`: any other request would be refused as well. A status alone says that only
    of a key (401): a firewall refuses contents with 403, a request may be too large for what is
    left of a quota (402, 429), and what is not found (404) may be named in it.
    """

    _MESSAGES: ClassVar[dict[AccountFault, str]] = {
        "key": "The provider does not serve us at the moment.",
        "quota": "The provider does not serve us at the moment.",
        "model": "The provider does not serve this model any more.",
    }

    def __init__(
        self, fault: AccountFault, *, turned_away: bool = False, is_certain: bool = False
    ) -> None:
        super().__init__(self._MESSAGES[fault])
        self.fault = fault
        self.turned_away = turned_away
        self.is_certain = is_certain


class Unsupported(ProviderError):
    """A parameter of a request, `param`, that the provider does not take: nothing was sent."""

    def __init__(self, message: str, *, param: str) -> None:
        super().__init__(message)
        self.param = param


class RequestRefused(ProviderError):
    """The provider refused the request (too long, not allowed); the caller can correct it.

    `too_long` and `blocked` (by the provider's moderation) have codes of their own.
    """

    def __init__(self, message: str, *, too_long: bool = False, blocked: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.blocked = blocked
