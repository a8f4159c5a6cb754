"""Why a call is not let through to its provider. Nothing was begun, held or billed."""

from common.errors import DomainError


class ProviderNotAvailable(DomainError):
    code, status = "provider_unavailable", 503
    message = "This model's provider is not available here. Nothing was billed; choose another."


class ProviderSuspended(ProviderNotAvailable):
    """The provider fails, as a probe or a fault has shown: it is spared until a probe is answered,
    which may be in `retry_after` seconds."""

    message = (
        "This model's provider fails at the moment. Nothing was billed; try again after "
        "Retry-After seconds, or choose another model."
    )


class CallsKeepFailing(DomainError):
    """The caller's own calls fail, while the provider answers others: this caller is refused for
    `retry_after` seconds."""

    code, status = "rate_limit_exceeded", 429
    message = (
        "Your own calls keep failing at the model's provider, which answers others. Wait for "
        "Retry-After seconds, and change the request. Nothing was billed."
    )
