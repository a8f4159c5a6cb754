"""The window of a key's requests, as the service counts them."""

from accounts.models import ApiKey
from publicapi.v1.authentication import KEY_LIMIT
from server.tests import windows


def use_up(key: ApiKey) -> None:
    """Make as many requests as the key may make in a minute, without the service."""
    windows.use_up(f"key:{key.pk}", KEY_LIMIT)


def let_pass(key: ApiKey, seconds: float) -> None:
    """Let the requests so far lie so many seconds further back."""
    windows.let_pass(f"key:{key.pk}", KEY_LIMIT, seconds)
