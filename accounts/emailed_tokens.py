"""The tokens of accounts' mails: each for one purpose."""

from datetime import timedelta

from accounts.models import EmailedToken
from common import link_tokens

_SALT = "accounts.emailed_tokens"
LIFETIMES = {
    EmailedToken.Purpose.VERIFY_EMAIL: timedelta(days=3),
    EmailedToken.Purpose.RESET_PASSWORD: timedelta(hours=1),
}


def digest(token: str) -> bytes:
    """The stored form of a token."""
    return link_tokens.digest(token, salt=_SALT)


def digests(token: str) -> list[bytes]:
    """The stored forms that a token can have."""
    return link_tokens.digests(token, salt=_SALT)
