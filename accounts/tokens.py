"""The JWTs of `/api` (RFC 7519). Only this module uses SimpleJWT.

One algorithm (HS256), issuer and audience checked; the key is derived from SECRET_KEY, so that no
other signature made with SECRET_KEY is a token. Tokens that were signed under one of
SECRET_KEY_FALLBACKS are read, too.
"""

import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Literal

from django.utils import timezone
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import TokenBackendError

from accounts.errors import InvalidToken
from common import secret_keys

ACCESS_LIFETIME = timedelta(minutes=60)
REFRESH_LIFETIME = timedelta(days=30)

_NAME = "multi-model-ai-platform"
# Our tokens have some 450 characters. The bound keeps hostile JSON in a header shallow.
_MAX_LENGTH = 1024
# Seconds by which the clocks of our hosts may differ.
_LEEWAY_SECONDS = 5

TokenType = Literal["access", "refresh"]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of every token: its user, the user's token version, and the session."""

    user_id: uuid.UUID
    version: int
    session_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class AccessClaims(Claims):
    """`expires_at` is Unix seconds."""

    expires_at: int


@dataclass(frozen=True, slots=True)
class RefreshClaims(Claims):
    """`token_id` is the id of the token itself."""

    token_id: uuid.UUID


def access_token(claims: Claims, *, ends_at: datetime | None = None) -> str:
    """A token for one hour of calls, or until the session ends."""
    return _encode("access", claims, uuid.uuid4(), timezone.now(), ACCESS_LIFETIME, ends_at)


def refresh_token(
    claims: RefreshClaims, issued_at: datetime, *, ends_at: datetime | None = None
) -> str:
    """The refresh token of these claims, for thirty days or until the session ends. Deterministic:
    the same claims and times give the same token."""
    return _encode("refresh", claims, claims.token_id, issued_at, REFRESH_LIFETIME, ends_at)


def read_access(token: str) -> AccessClaims:
    """The claims of an access token; raises InvalidToken. Version and session are not checked
    here."""
    claims = _verify_access(token)
    if claims.expires_at <= time.time() - _LEEWAY_SECONDS:
        raise InvalidToken
    return claims


# Several layers read the token of each request, and a client sends its token with many requests;
# verification takes 0.1 ms.
@lru_cache(maxsize=4096)
def _verify_access(token: str) -> AccessClaims:
    """The claims of an access token, which was valid when it was verified."""
    claims = _decode(token, "access")
    try:
        return AccessClaims(*_owner(claims), expires_at=int(claims["exp"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidToken from None


def read_refresh(token: str) -> RefreshClaims:
    """The claims of a refresh token; raises InvalidToken. Use, version and session are not checked
    here."""
    claims = _decode(token, "refresh")
    try:
        return RefreshClaims(*_owner(claims), token_id=uuid.UUID(claims["jti"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidToken from None


def _owner(claims: dict[str, Any]) -> tuple[uuid.UUID, int, uuid.UUID]:
    """User, version and session. Tokens of earlier releases may name no session: a KeyError."""
    return uuid.UUID(claims["sub"]), int(claims["ver"]), uuid.UUID(claims["sid"])


@cache
def _backends() -> tuple[TokenBackend, ...]:
    """One for each key, the newest first."""
    return tuple(
        TokenBackend("HS256", key.hex(), audience=_NAME, issuer=_NAME, leeway=_LEEWAY_SECONDS)
        for key in secret_keys.digests("accounts.tokens", "signing key")
    )


def _encode(
    kind: TokenType,
    claims: Claims,
    token_id: uuid.UUID,
    issued_at: datetime,
    lifetime: timedelta,
    ends_at: datetime | None,
) -> str:
    expires_at = issued_at + lifetime
    return _backends()[0].encode(
        {
            "sub": str(claims.user_id),
            "ver": claims.version,
            "sid": str(claims.session_id),
            "typ": kind,
            "jti": str(token_id),
            "iat": int(issued_at.timestamp()),
            "exp": int((expires_at if ends_at is None else min(expires_at, ends_at)).timestamp()),
        }
    )


def _decode(token: str, kind: TokenType) -> dict[str, Any]:
    if len(token) > _MAX_LENGTH:
        raise InvalidToken
    for backend in _backends():
        try:
            # Annotated as a Token there, but handed to PyJWT as the text it is.
            claims = backend.decode(token)  # type: ignore[arg-type]
        except (TokenBackendError, ValueError, RecursionError):
            continue
        if claims.get("typ") == kind and "exp" in claims:
            return claims
    raise InvalidToken
