"""The authorization servers of connectors, and our client at each of them."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from integrations.connectors.types import Provider
from integrations.githosts import github, gitlab

_GITHUB: Final = "https://github.com"
_GOOGLE_ACCOUNTS: Final = "https://accounts.google.com"
_GOOGLE_OAUTH: Final = "https://oauth2.googleapis.com"
_GOOGLE_DRIVE: Final = "https://www.googleapis.com/drive/v3"
_READ_DRIVE: Final = "https://www.googleapis.com/auth/drive.readonly"


class Service(Struct, frozen=True, kw_only=True):
    """An authorization server, and the interface that its tokens open.

    `base_url` is that of a Git host's pages ("" for its cloud), or of Google Drive's interface.
    `needed` are scopes of which one suffices; `parameters` go to the page of consent besides.
    `ends_grant`: a revocation ends all tokens of the same account, also those of other users here.
    """

    provider: Provider
    name: str
    base_url: str
    authorize_url: str
    token_url: str
    revoke_url: str
    scopes: tuple[str, ...]
    needed: tuple[str, ...]
    client_id: str
    client_secret: str
    parameters: Mapping[str, str] = {}
    ends_grant: bool = False

    @property
    def is_configured(self) -> bool:
        return bool(self.client_id and self.client_secret)

    def __repr__(self) -> str:
        return f"Service({self.provider})"


def from_environ(environ: Mapping[str, str]) -> dict[Provider, Service]:
    """The services of an environment: `GITHUB_CLIENT_ID`, `GITHUB_CLIENT_SECRET`, `GITHUB_URL`,
    and so on (docs/configuration.md)."""
    services = (_github(environ), _gitlab(environ), _google_drive(environ))
    return {service.provider: service for service in services}


def _github(environ: Mapping[str, str]) -> Service:
    """docs.github.com: "Generating a user access token for a GitHub App"; OAuth apps are the same
    but for the scopes, which GitHub Apps ignore."""
    base_url = _url(environ, "GITHUB_URL")
    client_id = environ.get("GITHUB_CLIENT_ID", "")
    pages = f"{base_url or _GITHUB}/login/oauth"
    return Service(
        provider=Provider.GITHUB,
        name="GitHub",
        base_url=base_url,
        authorize_url=f"{pages}/authorize",
        token_url=f"{pages}/access_token",
        revoke_url=f"{github.api_url(base_url)}/applications/{client_id}/grant",
        scopes=("repo", "workflow"),
        needed=("repo", "public_repo"),
        client_id=client_id,
        client_secret=environ.get("GITHUB_CLIENT_SECRET", ""),
        ends_grant=True,
    )


def _gitlab(environ: Mapping[str, str]) -> Service:
    """docs.gitlab.com/api/oauth2."""
    base_url = _url(environ, "GITLAB_URL")
    pages = f"{base_url or gitlab.CLOUD}/oauth"
    return Service(
        provider=Provider.GITLAB,
        name="GitLab",
        base_url=base_url,
        authorize_url=f"{pages}/authorize",
        token_url=f"{pages}/token",
        revoke_url=f"{pages}/revoke",
        scopes=("api",),
        needed=("api",),
        client_id=environ.get("GITLAB_CLIENT_ID", ""),
        client_secret=environ.get("GITLAB_CLIENT_SECRET", ""),
    )


def _google_drive(environ: Mapping[str, str]) -> Service:
    """developers.google.com/identity/protocols/oauth2/web-server. Google gives a refresh token with
    `access_type=offline`, and after the first consent with `prompt=consent` alone."""
    accounts = _url(environ, "GOOGLE_ACCOUNTS_URL") or _GOOGLE_ACCOUNTS
    tokens = _url(environ, "GOOGLE_OAUTH_URL") or _GOOGLE_OAUTH
    return Service(
        provider=Provider.GOOGLE_DRIVE,
        name="Google Drive",
        base_url=_url(environ, "GOOGLE_DRIVE_URL") or _GOOGLE_DRIVE,
        authorize_url=f"{accounts}/o/oauth2/v2/auth",
        token_url=f"{tokens}/token",
        revoke_url=f"{tokens}/revoke",
        scopes=(_READ_DRIVE,),
        needed=(_READ_DRIVE,),
        client_id=environ.get("GOOGLE_DRIVE_CLIENT_ID", ""),
        client_secret=environ.get("GOOGLE_DRIVE_CLIENT_SECRET", ""),
        parameters={"access_type": "offline", "prompt": "consent"},
        ends_grant=True,
    )


def _url(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip().rstrip("/")
