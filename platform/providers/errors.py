"""How a provider call can fail. The door decides what that means for the charge and the caller."""


class ProviderError(Exception):
    """Base of all that a wire raises. The text may be shown to the caller: no credentials in it."""


class UpstreamError(ProviderError):
    """The provider failed: connection, timeout, 5xx, 429, or nonsense instead of an answer.

    `retryable`: the same call may go well a moment later. A wire that pays by the order, as those
    of images do, says so only where nothing was made; elsewhere a second call may cost us twice,
    and never the customer. `retry_after` is how many seconds the provider wants to be left alone,
    if it said so; `status` is that of its answer, if there was one.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = True,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status


class ProviderUnavailable(ProviderError):
    """The provider cannot serve us at all: not configured, or it refuses our credentials."""


class RequestRefused(ProviderError):
    """The provider refused what the caller sent (too long, not allowed); the caller can mend it.

    `too_long` and `blocked` (by the provider's moderation) are refusals with codes of their own.
    """

    def __init__(self, message: str, *, too_long: bool = False, blocked: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long
        self.blocked = blocked
