"""SECRET_KEY and its fallbacks, as Django's own signatures use them: the first one signs, and each
of them verifies."""

from django.conf import settings
from django.utils.crypto import salted_hmac


def secret_keys() -> list[str]:
    """SECRET_KEY, then SECRET_KEY_FALLBACKS."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def digests(salt: str, value: str) -> list[bytes]:
    """HMAC-SHA256 of the value, 32 bytes, under each of the keys. The first is the form to store;
    a stored one may be any of them."""
    return [
        salted_hmac(salt, value, secret=secret, algorithm="sha256").digest()
        for secret in secret_keys()
    ]
