"""The keys with which the identity provider signs: made when first needed, rotated on request."""

import asyncio
from dataclasses import dataclass
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import rsa

from simulator import jws
from simulator.provider import Json


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An RSA key and its name."""

    kid: str
    private: rsa.RSAPrivateKey

    @classmethod
    def make(cls) -> "SigningKey":
        """Make a key. Takes a tenth of a second or more."""
        return cls(uuid4().hex, rsa.generate_private_key(public_exponent=65537, key_size=2048))

    @property
    def public(self) -> Json:
        """The public key in the form of a JSON Web Key Set (RFC 7517)."""
        numbers = self.private.public_key().public_numbers()
        return {
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": self.kid,
            "n": jws.number(numbers.n),
            "e": jws.number(numbers.e),
        }


class KeyRing:
    """The current key and the previous one; older keys are no longer published."""

    def __init__(self) -> None:
        self._keys: list[SigningKey] = []
        self._making = asyncio.Lock()

    async def keys(self) -> list[SigningKey]:
        """The keys, the newest first."""
        async with self._making:
            if not self._keys:
                self._keys = [await asyncio.to_thread(SigningKey.make)]
            return self._keys

    async def rotate(self) -> list[SigningKey]:
        """Sign with a new key from now on."""
        before = await self.keys()
        async with self._making:
            self._keys = [await asyncio.to_thread(SigningKey.make), before[0]]
            return self._keys
