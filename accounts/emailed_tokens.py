"""The tokens of accounts' mails: each for one purpose."""

from datetime import timedelta

from accounts.models import EmailedToken
from common import link_tokens

LIFETIMES = {
    EmailedToken.Purpose.VERIFY_EMAIL: timedelta(days=3),
    EmailedToken.Purpose.RESET_PASSWORD: timedelta(hours=1),
}


def digest(token: str) -> bytes:
    """The stored form of a token."""
    return link_tokens.digest(token, salt="accounts.emailed_tokens")
