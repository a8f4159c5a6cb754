"""Signed texts in the compact form (RFC 7515), valid ones and forgeries."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from simulator.provider import Json

_HASHES: dict[str, hashes.HashAlgorithm] = {
    "RS256": hashes.SHA256(),
    "RS384": hashes.SHA384(),
    "RS512": hashes.SHA512(),
}


def sign(header: Json, claims: Json, key: rsa.RSAPrivateKey) -> str:
    """The text, signed with the header's `alg`.

    `none` gives no signature, as does a missing `alg`; HS256 uses the PEM form of the public key,
    which everybody knows, as the secret (RFC 8725, 2.1). Raises KeyError for another `alg`.
    """
    seal = _seals(key)[str(header.get("alg", "none"))]
    text = f"{_encoded(_json(header))}.{_encoded(_json(claims))}"
    return f"{text}.{_encoded(seal(text.encode()))}"


def number(value: int) -> str:
    """A whole number in the form of JSON Web Keys (RFC 7518, 2: Base64urlUInt)."""
    return _encoded(value.to_bytes((value.bit_length() + 7) // 8))


def _seals(key: rsa.RSAPrivateKey) -> dict[str, Callable[[bytes], bytes]]:
    def rsa_seal(name: str) -> Callable[[bytes], bytes]:
        return lambda text: key.sign(text, padding.PKCS1v15(), _HASHES[name])

    return {
        "none": lambda text: b"",
        "HS256": lambda text: hmac.digest(_pem(key), text, hashlib.sha256),
        **{name: rsa_seal(name) for name in _HASHES},
    }


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
