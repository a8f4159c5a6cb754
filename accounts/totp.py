"""Codes of an authenticator app (TOTP, RFC 6238), recovery codes, and the encryption of the app's
secret."""

import base64
import re
import secrets
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from cryptography.hazmat.primitives import constant_time
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.conf import settings

from common import secret_keys
from common.encryption import decrypt, encrypt

# All authenticator apps support 30 seconds and 6 digits.
STEP_SECONDS = 30
_DIGITS = 6
# 160 bits, as the RFC recommends for HMAC-SHA-1.
_SECRET_BYTES = 20
# The clock of a phone may be this many steps ahead or behind.
_STEPS_OF_LEEWAY = 1
RECOVERY_CODES = 10
# 80 bits each, so that a fast hash is enough.
_RECOVERY_BYTES = 10
_SALT = "accounts.totp"
# What the secrets are encrypted for.
PURPOSE = "accounts.totp"
_NOT_OF_A_CODE = re.compile(r"[\s-]+")


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def written(secret: bytes) -> str:
    """The secret for typing: Base32 in groups of four."""
    text = base64.b32encode(secret).decode()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def provisioning_uri(secret: bytes, address: str) -> str:
    """The content of the QR code (the key URI format of Google Authenticator)."""
    return _totp(secret).get_provisioning_uri(address, settings.PRODUCT_NAME)


def code_at(secret: bytes, seconds: float) -> str:
    """The code of the app at that Unix time."""
    return _totp(secret).generate(seconds).decode()


def steps_of(secret: bytes, code: str, seconds: float) -> Iterator[int]:
    """The time steps near that Unix time with this code, the earliest first."""
    sent = _NOT_OF_A_CODE.sub("", code).encode()
    now = int(seconds // STEP_SECONDS)
    for step in range(now - _STEPS_OF_LEEWAY, now + _STEPS_OF_LEEWAY + 1):
        if constant_time.bytes_eq(sent, code_at(secret, step * STEP_SECONDS).encode()):
            yield step


def new_recovery_codes() -> list[str]:
    return [written(secrets.token_bytes(_RECOVERY_BYTES)) for _ in range(RECOVERY_CODES)]


def recovery_digest(code: str) -> str:
    """The stored form of a recovery code, however it is typed: a hash of 64 hexadecimal digits."""
    return recovery_digests(code)[0]


def recovery_digests(code: str) -> list[str]:
    """The stored forms that a recovery code can have: it may be older than SECRET_KEY."""
    plain = _NOT_OF_A_CODE.sub("", code).upper()
    return [digest.hex() for digest in secret_keys.digests(_SALT, plain)]


def seal(secret: bytes, user_id: UUID) -> str:
    """The secret, encrypted for that user alone."""
    return encrypt(secret, purpose=PURPOSE, owner=user_id)


def unseal(sealed: str, user_id: UUID, *, within: timedelta | None = None) -> bytes:
    """Raises `common.encryption.Unreadable`."""
    return decrypt(sealed, purpose=PURPOSE, owner=user_id, within=within)


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, _DIGITS, SHA1(), STEP_SECONDS)  # noqa: S303
