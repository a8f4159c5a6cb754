"""How a provider call can fail. The door decides what that means for the charge and the caller."""

from typing import ClassVar, Literal

# What an operator has to look after: our key at a provider, our quota or balance there, or a model
# that the provider has given up.
AccountFault = Literal["key", "quota", "model"]


class ProviderError(Exception):
    """Base of all that a wire raises. The text may be shown to the caller: no credentials in it.

    `status` is that of the provider's answer, if there was one, and `codes` are its own words for
    what is wrong.
    """

    status: int | None = None
    codes: tuple[str, ...] = ()


class UpstreamError(ProviderError):
    """The provider failed: connection, timeout, 5xx, 429, or nonsense instead of an answer.

    `retryable`: the same call may go well a moment later. A wire that pays by the order, as those
    of images do, says so only where nothing was made; elsewhere a second call may cost us twice,
    and never the customer. `retry_after` is how many seconds the provider wants to be left alone,
    if it said so.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """The provider does not serve us until an operator has looked after what `fault` names."""

    _MESSAGES: ClassVar[dict[AccountFault, str]] = {
        "key": "The provider does not serve us at the moment.",
        "quota": "The provider does not serve us at the moment.",
        "model": "The provider does not serve this model any more.",
    }

    def __init__(self, fault: AccountFault) -> None:
        super().__init__(self._MESSAGES[fault])
        self.fault = fault


class RequestRefused(ProviderError):
    """The provider refused what the caller sent (too long, not allowed); the caller can mend it.

    `too_long` and `blocked` (by the provider's moderation) are refusals with codes of their own.
    """

    def __init__(self, message: str, *, too_long: bool = False, blocked: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.blocked = blocked
