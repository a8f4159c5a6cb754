"""What the authorization servers have issued: access tokens, and the refresh tokens beside them."""

import secrets
import time
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

HostName = Literal["github", "gitlab", "google"]


@dataclass(frozen=True, slots=True)
class Terms:
    """How the tokens of a host look and live. Lifetimes are in seconds; None is for ever.

    Where refresh tokens rotate, one use ends them and the access token that came with them.
    """

    prefix: str
    refresh_prefix: str
    lifetime: int
    refresh_lifetime: int | None = None
    rotates: bool = True


# As each host documents its user tokens.
TERMS: dict[HostName, Terms] = {
    "github": Terms("ghu_", "ghr_", 28_800, refresh_lifetime=15_897_600),
    "gitlab": Terms("", "", 7_200),
    "google": Terms("ya29.", "1//", 3_599, rotates=False),
}


@dataclass(slots=True)
class Token:
    """An access token. `scopes` are those that the person has allowed; times are Unix seconds.

    `grant` is common to all tokens that descend from one consent.
    """

    host: HostName
    login: str
    scopes: tuple[str, ...]
    text: str
    grant: str
    expires_at: float
    refresh_token: str | None = None
    refresh_expires_at: float | None = None
    is_revoked: bool = False

    @property
    def is_live(self) -> bool:
        """Is the access token accepted now?"""
        return not self.is_revoked and time.time() < self.expires_at

    @property
    def is_renewable(self) -> bool:
        """Is the refresh token accepted now? It outlives the access token."""
        if self.is_revoked or self.refresh_token is None:
            return False
        return self.refresh_expires_at is None or time.time() < self.refresh_expires_at


class TokenStore:
    """All tokens of all hosts. A token of one host is unknown to the others."""

    def __init__(self) -> None:
        self._tokens: dict[tuple[HostName, str], Token] = {}

    def issue(
        self,
        host: HostName,
        login: str,
        scopes: tuple[str, ...],
        *,
        grant: str | None = None,
        is_renewable: bool = True,
    ) -> Token:
        """A new access token, with a new refresh token if it `is_renewable`."""
        refresh = _random(TERMS[host].refresh_prefix) if is_renewable else None
        return self._add(host, login, scopes, grant or uuid4().hex, refresh)

    def find(self, host: HostName, text: str) -> Token | None:
        """The access token of this text; None for one that is unknown, expired or revoked."""
        token = self._tokens.get((host, text))
        return token if token is not None and token.is_live else None

    def find_any(self, host: HostName, text: str) -> Token | None:
        """What this access or refresh token stands for, even if expired; None once revoked."""
        for token in self._of(host):
            if text in (token.text, token.refresh_token) and not token.is_revoked:
                return token
        return None

    def refresh(self, host: HostName, text: str) -> Token | None:
        """A new access token for a refresh token; None if that is not accepted."""
        for token in self._of(host):
            if token.refresh_token == text and token.is_renewable:
                return self._renewed(token)
        return None

    def can_refresh(self, host: HostName, login: str) -> bool:
        """Has somebody issued a refresh token for this person that is still accepted?"""
        return any(token.login == login and token.is_renewable for token in self._of(host))

    def revoke(self, token: Token) -> None:
        """End an access token and its refresh token."""
        token.is_revoked = True

    def revoke_grant(self, grant: str) -> None:
        """End all tokens that descend from one consent."""
        for token in self._tokens.values():
            if token.grant == grant:
                self.revoke(token)

    def revoke_login(self, host: HostName, login: str) -> int:
        """End all tokens of a person at a host. Returns how many were not ended before."""
        ended = [each for each in self._of(host) if each.login == login and not each.is_revoked]
        for token in ended:
            self.revoke(token)
        return len(ended)

    def expire(self, text: str) -> bool:
        """Let an access token expire now. False if there is none."""
        found = [token for token in self._tokens.values() if token.text == text]
        for token in found:
            token.expires_at = time.time()
        return bool(found)

    def _renewed(self, token: Token) -> Token:
        refresh = token.refresh_token
        if TERMS[token.host].rotates:
            self.revoke(token)
            refresh = _random(TERMS[token.host].refresh_prefix)
        return self._add(token.host, token.login, token.scopes, token.grant, refresh)

    def _add(
        self,
        host: HostName,
        login: str,
        scopes: tuple[str, ...],
        grant: str,
        refresh_token: str | None,
    ) -> Token:
        terms, now = TERMS[host], time.time()
        token = Token(
            host,
            login,
            scopes,
            _random(terms.prefix),
            grant,
            now + terms.lifetime,
            refresh_token,
            None if terms.refresh_lifetime is None else now + terms.refresh_lifetime,
        )
        self._tokens[host, token.text] = token
        return token

    def _of(self, host: HostName) -> list[Token]:
        return [token for token in self._tokens.values() if token.host == host]


def _random(prefix: str) -> str:
    return prefix + secrets.token_hex(32)
