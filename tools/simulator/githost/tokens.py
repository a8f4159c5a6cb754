"""Tokens of the hosts, and what they may do."""

import time
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import field

from simulator.githost.repositories import Person

HostName = Literal["github", "gitlab"]
Kind = Literal["classic", "fine_grained", "oauth", "project"]


class Token(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """`scopes` are those of GitHub's classic tokens and of all of GitLab's; `permissions` those of
    fine-grained tokens, such as `{"contents": "write"}`. `repositories` are all that it reaches,
    None for all of its owner. `expires_at` is an ISO 8601 time."""

    host: HostName
    token: str
    login: str = "alice"
    kind: Kind = "classic"
    scopes: tuple[str, ...] = ("repo", "workflow", "api")
    permissions: dict[str, str] = field(
        default_factory=lambda: {"contents": "write", "pull_requests": "write"}
    )
    repositories: list[str] | None = None
    expires_at: datetime | None = None

    @property
    def owner(self) -> Person:
        """Whose name commits bear that say no other."""
        return Person(self.login, f"{self.login}@example.com")

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at.timestamp() <= time.time()

    @property
    def may_write(self) -> bool:
        """Contents of repositories that its owner may write."""
        if self.kind == "fine_grained":
            return self.permissions.get("contents") == "write"
        wanted = ("repo", "public_repo") if self.host == "github" else ("api",)
        return any(scope in wanted for scope in self.scopes)

    @property
    def may_read(self) -> bool:
        if self.kind == "fine_grained":
            return self.permissions.get("contents") in ("read", "write")
        wanted = ("repo", "public_repo") if self.host == "github" else ("api", "read_api")
        return any(scope in wanted for scope in self.scopes)

    @property
    def may_write_workflows(self) -> bool:
        """Files in `.github/workflows`."""
        if self.kind == "fine_grained":
            return self.permissions.get("workflows") == "write"
        return "workflow" in self.scopes


class Tokens:
    """All tokens, by their host and text, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        kept = msgspec.json.decode(path.read_bytes(), type=list[Token]) if path.exists() else []
        self._tokens: dict[tuple[str, str], Token] = {
            (token.host, token.token): token for token in kept
        }

    def add(self, token: Token) -> None:
        self._tokens[token.host, token.token] = token
        self._save()

    def revoke(self, text: str) -> None:
        for key in [key for key in self._tokens if key[1] == text]:
            del self._tokens[key]
        self._save()

    def _save(self) -> None:
        self._path.write_bytes(msgspec.json.encode([*self._tokens.values()]))

    def find(self, host: str, text: str) -> Token | None:
        """None for one that is unknown, revoked or has expired."""
        token = self._tokens.get((host, text))
        return None if token is None or token.is_expired else token
