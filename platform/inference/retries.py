"""When a provider call that failed in passing is made once more, and after what pause.

Full jitter over a bound that doubles, as in "Exponential Backoff And Jitter" (AWS Architecture
Blog, 2015); a provider that names a time is given that time, if it is not too long to wait.
"""

import random

from providers.errors import ProviderError, UpstreamError

_ATTEMPTS = 3

_FIRST_BOUND = 0.5  # seconds
_LONGEST_PAUSE = 8.0  # seconds that a caller may be kept waiting for


def pause_after(error: ProviderError, attempts: int) -> float | None:
    """Seconds to wait after the last of so many attempts failed so; None where there is no more."""
    if attempts >= _ATTEMPTS or not isinstance(error, UpstreamError) or not error.retryable:
        return None
    if error.retry_after is None:
        return random.uniform(0, _FIRST_BOUND * 2 ** (attempts - 1))  # noqa: S311 - spreads load, no secret
    return error.retry_after if error.retry_after <= _LONGEST_PAUSE else None
