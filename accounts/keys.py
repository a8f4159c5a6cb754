"""The format of API keys.

`mk_`, 38 random base62 characters (226 bits), then the CRC32 of these in 6 base62 characters: a
mistyped key is recognised without a query.
"""

import hmac
import re
import secrets
import string
import zlib
from functools import cache

from django.conf import settings

PREFIX = "mk_"
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 38
_CHECKSUM_LENGTH = 6
_SHAPE = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_RANDOM_LENGTH + _CHECKSUM_LENGTH}}}", re.ASCII)


def generate() -> str:
    """A new key. It is not stored; only its owner has it."""
    body = PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
    return body + _checksum(body)


def well_formed(key: str) -> bool:
    """Has the text the format of a key?"""
    if not _SHAPE.fullmatch(key):
        return False
    return _checksum(key[:-_CHECKSUM_LENGTH]) == key[-_CHECKSUM_LENGTH:]


def digest(key: str) -> bytes:
    """HMAC-SHA256 under the pepper, 32 bytes: the stored form."""
    return _digest(key, settings.API_KEY_PEPPER)


def digests(key: str) -> tuple[bytes, ...]:
    """The stored forms that a key can have, the one under the newest pepper first."""
    return tuple(_digest(key, pepper) for pepper in peppers())


def peppers() -> list[str]:
    """API_KEY_PEPPER, then API_KEY_PEPPER_FALLBACKS."""
    return [settings.API_KEY_PEPPER, *settings.API_KEY_PEPPER_FALLBACKS]


@cache
def fingerprint(pepper: str) -> str:
    """What stored keys say of the pepper that they are hashed under: 8 hexadecimal digits, from
    which nobody learns a random pepper."""
    return _digest("fingerprint", pepper)[:4].hex()


def hint(key: str) -> str:
    """The last four characters, by which an owner recognises the key."""
    return key[-4:]


def _digest(text: str, pepper: str) -> bytes:
    return hmac.digest(pepper.encode(), text.encode(), "sha256")


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    digits = []
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
