"""Authorization codes (RFC 6749, 4.1.2), each bound to what was asked for with it (RFC 7636)."""

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass, field
from uuid import uuid4

from simulator.memory import Recent
from simulator.oauth.tokens import HostName

LIFETIMES: dict[HostName, int] = {"github": 600, "gitlab": 600, "google": 60}  # seconds
_PREFIXES: dict[HostName, str] = {"github": "", "gitlab": "", "google": "4/0"}


@dataclass(slots=True)
class Code:
    """A person's consent, to be exchanged once for tokens. `grant` is theirs, too."""

    host: HostName
    login: str
    scopes: tuple[str, ...]
    redirect_uri: str
    challenge: str
    is_renewable: bool
    text: str
    expires_at: float
    grant: str = field(default_factory=lambda: uuid4().hex)
    is_used: bool = False

    def is_proved_by(self, verifier: str) -> bool:
        """Is the challenge that of this verifier (RFC 7636, 4.6: S256)?"""
        return challenge_of(verifier) == self.challenge


class Codes:
    """The newest codes of all hosts."""

    def __init__(self) -> None:
        self._codes: Recent[Code] = Recent()

    def make(
        self,
        host: HostName,
        login: str,
        scopes: tuple[str, ...],
        *,
        redirect_uri: str,
        challenge: str,
        is_renewable: bool,
    ) -> Code:
        text = _PREFIXES[host] + secrets.token_hex(20)
        expires_at = time.time() + LIFETIMES[host]
        code = Code(host, login, scopes, redirect_uri, challenge, is_renewable, text, expires_at)
        self._codes.keep(text, code)
        return code

    def find(self, host: HostName, text: str) -> Code | None:
        """The code of this text, even if it is used; None once it has expired."""
        code = self._codes.get(text)
        if code is None or code.host != host or time.time() >= code.expires_at:
            return None
        return code

    def expire(self, text: str) -> bool:
        """Let a code expire now. False if there is none."""
        code = self._codes.get(text)
        if code is not None:
            code.expires_at = time.time()
        return code is not None


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
