"""The secrets of mailed links: 256 random bits each, of which the database has a digest."""

import secrets

from django.utils.crypto import salted_hmac


def generate() -> str:
    """A new token. Only its mail contains it."""
    return secrets.token_urlsafe(32)


def digest(token: str, *, salt: str) -> bytes:
    """HMAC-SHA256 under SECRET_KEY, 32 bytes: the stored form. Each use of tokens has a `salt`."""
    return salted_hmac(salt, token, algorithm="sha256").digest()
