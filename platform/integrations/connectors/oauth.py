"""OAuth 2.0 with PKCE (RFC 6749, 7636, 7009): authlib's client over the outbound client."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import msgspec
import structlog
from authlib.common.urls import url_decode
from authlib.oauth2 import OAuth2Client, OAuth2Error
from authlib.oauth2.auth import ClientAuth
from django.conf import settings
from msgspec import Meta, Struct

from integrations.connectors.errors import ConnectorUnavailable
from integrations.connectors.providers import Service
from integrations.safe_http.client import JSON, Answer, Client
from integrations.safe_http.errors import OutboundError, UnusableAnswer

log = structlog.get_logger(__name__)

_SECONDS: Final = 10.0
_MAX_BYTES: Final = 100_000
_LONGEST_TOKEN: Final = 8_192  # characters
# What says that the code or the refresh token will never do; the last two are GitHub's words.
_ENDED: Final = frozenset({"invalid_grant", "bad_verification_code", "bad_refresh_token"})
# Seconds; no token lasts so long, and no year has more than four digits.
_LONGEST: Final = 100_000_000_000


class GrantRefused(Exception):
    """The server does not accept the code or the refresh token, and never will."""


class Tokens(Struct, frozen=True, kw_only=True):
    """What a server has issued. `refresh` is empty where there is none, `expires_at` None where the
    access token does not expire, `scopes` None where the server does not say."""

    access: str
    refresh: str
    expires_at: datetime | None
    scopes: tuple[str, ...] | None

    def __repr__(self) -> str:
        return "Tokens(...)"


def authorize_url(service: Service, *, state: str, verifier: str) -> str:
    """The page of consent, which leads back to our callback."""
    url, _ = _client(service).create_authorization_url(
        service.authorize_url, state=state, code_verifier=verifier, **service.parameters
    )
    return str(url)


def exchange(service: Service, *, code: str, verifier: str) -> Tokens:
    """The tokens of a consent. Raises GrantRefused, ConnectorUnavailable."""
    with _Answers(service):
        found = _client(service).fetch_token(
            service.token_url,
            grant_type="authorization_code",
            code=code,
            code_verifier=verifier,
        )
        return _tokens(found)


def refresh(service: Service, refresh_token: str) -> Tokens:
    """New tokens; a server that does not rotate refresh tokens leaves the one there is. Raises
    GrantRefused, ConnectorUnavailable."""
    with _Answers(service):
        return _tokens(_client(service).refresh_token(service.token_url, refresh_token))


def revoke(service: Service, tokens: Tokens) -> None:
    """End what the user has granted; what has ended already is no error. Raises
    ConnectorUnavailable."""
    with _Answers(service):
        if service.provider == "github":
            _revoke_at_github(service, tokens.access)
            return
        token = tokens.refresh or tokens.access
        answer = _client(service).revoke_token(service.revoke_url, token=token)
        # Google's word for a token that is not valid any more is a 400.
        if answer.status_code >= 500 or answer.status_code in (401, 403, 429):
            raise ConnectorUnavailable


def _revoke_at_github(service: Service, access_token: str) -> None:
    """docs.github.com/rest/apps/oauth-applications: "Delete an app authorization"."""
    auth = ClientAuth(service.client_id, service.client_secret, "client_secret_basic")
    url, headers, _ = auth.prepare("DELETE", service.revoke_url, {}, "")
    with Client(url, headers=headers) as client:
        answer = client.request(
            "DELETE", json={"access_token": access_token}, seconds=_SECONDS, max_bytes=_MAX_BYTES
        )
    # 404 and 422: there is no such authorization any more.
    if not answer.is_success and answer.status not in (404, 422):
        raise ConnectorUnavailable


def _client(service: Service) -> OAuth2Client:
    return OAuth2Client(
        _Session(),
        client_id=service.client_id,
        client_secret=service.client_secret,
        token_endpoint_auth_method="client_secret_post",  # noqa: S106 - the name of a method
        revocation_endpoint_auth_method="client_secret_post",
        scope=" ".join(service.scopes),
        redirect_uri=f"{settings.PUBLIC_BASE_URL}/api/connectors/{service.provider}/callback",
        code_challenge_method="S256",
    )


class _Session:
    """As much of an HTTP session as authlib's client asks for."""

    def post(
        self, url: str, *, data: Mapping[str, str], headers: Mapping[str, str], auth: ClientAuth
    ) -> "_Response":
        url, headers, body = auth.prepare("POST", url, dict(headers), urlencode(data))
        with Client(url, headers=headers) as client:
            answer = client.request(
                "POST",
                form=dict(url_decode(body)),
                seconds=_SECONDS,
                max_bytes=_MAX_BYTES,
                media_types=JSON,
            )
        return _Response(answer)


class _Fields(Struct):
    """Fields of an answer that authlib reads itself, and takes to be as the RFC says."""

    error: str | None = None
    expires_in: Annotated[int, Meta(ge=0, le=_LONGEST)] | None = None
    expires_at: Annotated[int, Meta(ge=0, le=_LONGEST)] | None = None


class _Response:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status_code = answer.status

    def json(self) -> dict[str, Any]:
        """Raises UnusableAnswer."""
        found: dict[str, Any] = self._answer.json()
        try:
            msgspec.convert(found, _Fields, strict=False)
        except msgspec.ValidationError as error:
            raise UnusableAnswer(f"The answer is unreadable: {error}") from None
        return found

    def raise_for_status(self) -> None:
        if not self._answer.is_success:
            raise ConnectorUnavailable


class _Answers:
    """Turns the errors of a call to an authorization server into ours."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OAuth2Error):
            if error.error in _ENDED:
                raise GrantRefused from None
            # Our client is not what the server expects: that is for operators.
            log.error("connector.refused", provider=self._service.provider, error=error.error)
            raise ConnectorUnavailable from None
        if isinstance(error, OutboundError):
            log.warning("connector.no_answer", provider=self._service.provider, error=str(error))
            raise ConnectorUnavailable from None


def _tokens(found: Mapping[str, Any]) -> Tokens:
    """Raises UnusableAnswer for what are no tokens."""
    access, renewable = found.get("access_token"), found.get("refresh_token") or ""
    if not _is_token(access) or not (renewable == "" or _is_token(renewable)):
        raise UnusableAnswer("The answer has no token.")
    expires_at, scopes = found.get("expires_at"), found.get("scope")
    return Tokens(
        access=str(access),
        refresh=str(renewable),
        expires_at=None if expires_at is None else datetime.fromtimestamp(int(expires_at), UTC),
        scopes=tuple(scopes.replace(",", " ").split()) or None if isinstance(scopes, str) else None,
    )


def _is_token(text: object) -> bool:
    return isinstance(text, str) and text.isprintable() and 0 < len(text) <= _LONGEST_TOKEN
