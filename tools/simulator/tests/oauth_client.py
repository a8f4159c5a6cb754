"""A client of the authorization servers as their documentation describes one, by hand."""

import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from simulator.oauth.codes import challenge_of
from simulator.oauth.registration import CLIENT_ID, CLIENT_SECRET
from simulator.process import RunningSimulator

BACK = "http://localhost:3000/connected?from=here"
SECRETS = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
SCOPES = {
    "github": "",
    "gitlab": "read_user api",
    "google": "https://www.googleapis.com/auth/drive.readonly",
}
_AUTHORIZE = {
    "github": "/login/oauth/authorize",
    "gitlab": "/oauth/authorize",
    "google": "/o/oauth2/v2/auth",
}
_TOKEN = {"github": "/login/oauth/access_token", "gitlab": "/oauth/token", "google": "/token"}


@dataclass(frozen=True, slots=True)
class Client:
    """One client of one server, with a login of its own."""

    simulator: RunningSimulator
    host: str
    login: str = field(default_factory=lambda: f"alice-{secrets.token_hex(4)}")
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def base(self) -> str:
        return self.simulator.oauth.base_url(self.host)

    def query(self, **changes: str | None) -> dict[str, str]:
        """The parameters of a request for authorization; None leaves one out."""
        usual = {
            "client_id": CLIENT_ID,
            "redirect_uri": BACK,
            "response_type": "code",
            "scope": SCOPES[self.host],
            "state": "a&b",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
        }
        if self.host == "google":
            usual["access_type"] = "offline"
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def authorize_url(self, **changes: str | None) -> str:
        return f"{self.base}{_AUTHORIZE[self.host]}?{urlencode(self.query(**changes))}"

    def sent_back(self, **changes: str | None) -> dict[str, str]:
        """What a person who allows brings back to the client."""
        url = self.authorize_url(**changes)
        return _brought(self.simulator.oauth.consent(url, login=self.login))

    def sent_back_denying(self) -> dict[str, str]:
        """What a person who denies brings back to the client."""
        url = self.authorize_url()
        return _brought(self.simulator.oauth.consent(url, login=self.login, allow=False))

    def code(self, **changes: str | None) -> str:
        return self.sent_back(**changes)["code"]

    def post(self, fields: dict[str, str], **options: Any) -> httpx.Response:
        """A request to the token endpoint."""
        headers = {"accept": "application/json"}
        return httpx.post(
            f"{self.base}{_TOKEN[self.host]}", data=fields, **{"headers": headers, **options}
        )

    def exchange(self, code: str, **changes: str | None) -> httpx.Response:
        """Exchange a code; None leaves a parameter out."""
        usual = {
            **SECRETS,
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": BACK,
            "code_verifier": self.verifier,
        }
        fields = {name: value for name, value in (usual | changes).items() if value is not None}
        return self.post(fields)

    def refresh(self, refresh_token: str) -> httpx.Response:
        fields = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return self.post(SECRETS | fields)

    def connect(self, **changes: str | None) -> dict[str, Any]:
        """The whole flow."""
        answer = self.exchange(self.code(**changes))
        assert answer.status_code == 200
        tokens: dict[str, Any] = answer.json()
        assert "access_token" in tokens
        return tokens

    def asked(self) -> list[tuple[str, str | None, int]]:
        """What the server was asked since the log was emptied, and its statuses."""
        return [
            (asked["endpoint"], asked["grant_type"], asked["status"])
            for asked in self.simulator.oauth.requests()
            if asked["server"] == self.host
        ]


def _brought(location: str) -> dict[str, str]:
    assert location.startswith(f"{BACK}&")
    return dict(parse_qsl(urlsplit(location).query))
