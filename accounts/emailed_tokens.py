"""The secrets in mails: 256 random bits each, for one purpose."""

import secrets
from datetime import timedelta

from django.utils.crypto import salted_hmac

from accounts.models import EmailedToken

LIFETIMES = {
    EmailedToken.Purpose.VERIFY_EMAIL: timedelta(days=3),
    EmailedToken.Purpose.RESET_PASSWORD: timedelta(hours=1),
}


def generate() -> str:
    """A new token. Only its mail contains it."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> bytes:
    """HMAC-SHA256 under SECRET_KEY, 32 bytes: the stored form."""
    return salted_hmac("accounts.emailed_tokens", token, algorithm="sha256").digest()
