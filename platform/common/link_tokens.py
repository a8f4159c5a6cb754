"""The secrets of mailed links: 256 random bits each, of which the database has a digest."""

import secrets

from common import secret_keys


def generate() -> str:
    """A new token. Only its mail contains it."""
    return secrets.token_urlsafe(32)


def digest(token: str, *, salt: str) -> bytes:
    """HMAC-SHA256 under SECRET_KEY, 32 bytes: the stored form. Each use of tokens has a `salt`."""
    return secret_keys.digests(salt, token)[0]


def digests(token: str, *, salt: str) -> list[bytes]:
    """The stored forms that a token can have: it may be older than SECRET_KEY."""
    return secret_keys.digests(salt, token)
