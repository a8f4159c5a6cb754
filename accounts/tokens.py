"""The JWTs of the application interface (RFC 7519). Everything SimpleJWT does for us is in here.

One algorithm (HS256), issuer and audience checked; the key is derived from SECRET_KEY, so that no
other signature made with SECRET_KEY is a token.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal

from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import TokenBackendError

from accounts.errors import InvalidToken

ACCESS_LIFETIME = timedelta(minutes=60)
REFRESH_LIFETIME = timedelta(days=30)

_NAME = "multi-model-ai-platform"
# Ours have some 450 characters. The bound keeps hostile JSON in a header shallow.
_MAX_LENGTH = 1024
# For the clocks of several hosts.
_LEEWAY_SECONDS = 5

TokenType = Literal["access", "refresh"]


@dataclass(frozen=True, slots=True)
class AccessClaims:
    """`expires_at` is Unix seconds."""

    user_id: uuid.UUID
    version: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class RefreshClaims:
    """`family_id` is the sign-in that the token descends from, `token_id` the token itself."""

    user_id: uuid.UUID
    version: int
    family_id: uuid.UUID
    token_id: uuid.UUID


def access_token(user_id: uuid.UUID, version: int) -> str:
    """A token for one hour of calls."""
    return _encode("access", user_id, version, uuid.uuid4(), timezone.now(), ACCESS_LIFETIME)


def refresh_token(claims: RefreshClaims, issued_at: datetime) -> str:
    """The token of these claims. Deterministic: the same claims and time give the same token."""
    return _encode(
        "refresh",
        claims.user_id,
        claims.version,
        claims.token_id,
        issued_at,
        REFRESH_LIFETIME,
        sid=str(claims.family_id),
    )


def read_access(token: str) -> AccessClaims:
    """The claims of an access token; raises InvalidToken. Its version is not checked here."""
    claims = _decode(token, "access")
    try:
        return AccessClaims(uuid.UUID(claims["sub"]), int(claims["ver"]), int(claims["exp"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidToken from None


def read_refresh(token: str) -> RefreshClaims:
    """The claims of a refresh token; raises InvalidToken. Use and version are not checked here."""
    claims = _decode(token, "refresh")
    try:
        return RefreshClaims(
            user_id=uuid.UUID(claims["sub"]),
            version=int(claims["ver"]),
            family_id=uuid.UUID(claims["sid"]),
            token_id=uuid.UUID(claims["jti"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidToken from None


@cache
def _backend() -> TokenBackend:
    key = salted_hmac("accounts.tokens", "signing key", algorithm="sha256").hexdigest()
    return TokenBackend("HS256", key, audience=_NAME, issuer=_NAME, leeway=_LEEWAY_SECONDS)


def _encode(
    kind: TokenType,
    user_id: uuid.UUID,
    version: int,
    token_id: uuid.UUID,
    issued_at: datetime,
    lifetime: timedelta,
    **further: str,
) -> str:
    issued = int(issued_at.timestamp())
    claims = {
        "sub": str(user_id),
        "ver": version,
        "typ": kind,
        "jti": str(token_id),
        "iat": issued,
        "exp": issued + int(lifetime.total_seconds()),
        **further,
    }
    return _backend().encode(claims)


def _decode(token: str, kind: TokenType) -> dict[str, Any]:
    if len(token) > _MAX_LENGTH:
        raise InvalidToken
    try:
        # Annotated as a Token there, but handed to PyJWT as the text it is.
        claims = _backend().decode(token)  # type: ignore[arg-type]
    except (TokenBackendError, ValueError, RecursionError):
        raise InvalidToken from None
    if claims.get("typ") != kind or "exp" not in claims:
        raise InvalidToken
    return claims
