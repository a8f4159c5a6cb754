"""Signatures of thoughts, which a provider wants back as they came."""

import base64
import binascii
import hashlib
import hmac

_KEY = b"the simulator"
_HALF = 12  # bytes of the digest, and of its proof


def sign(text: str) -> str:
    """The signature of a text, in base64."""
    digest = hashlib.sha256(text.encode()).digest()[:_HALF]
    return base64.b64encode(digest + _proof(digest)).decode()


def is_valid(signature: str, text: str | None = None) -> bool:
    """Was it made here, and, with a `text`, of this text?"""
    try:
        data = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return False
    if not hmac.compare_digest(_proof(data[:_HALF]), data[_HALF:]):
        return False
    return text is None or sign(text) == signature


def _proof(digest: bytes) -> bytes:
    return hmac.digest(_KEY, digest, "sha256")[:_HALF]
