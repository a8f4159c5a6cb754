"""Retries of provider calls after temporary failures, and the pauses before them.

Full jitter over a bound that doubles, as in "Exponential Backoff And Jitter" (AWS Architecture
Blog, 2015). A time that the provider names is respected after the first attempt, unless it
is long.
"""

import random

from ai.providers.errors import ProviderError, UpstreamError

_ATTEMPTS = 3

_FIRST_BOUND = 0.5  # seconds
_LONGEST_PAUSE = 8.0  # seconds that a caller may have to wait


def pause_after(error: ProviderError, attempts: int) -> float | None:
    """Seconds to wait after the latest of these attempts failed with this error; None for no
    retry."""
    if attempts >= _ATTEMPTS or not isinstance(error, UpstreamError) or not error.retryable:
        return None
    if error.retry_after is None:
        return random.uniform(0, _FIRST_BOUND * 2 ** (attempts - 1))  # noqa: S311 - spreads load, no secret
    # Later the caller is told for how long to wait: official clients repeat a 502 themselves.
    is_too_long = error.retry_after > (_LONGEST_PAUSE if attempts == 1 else 0)
    return None if is_too_long else error.retry_after
