"""ID tokens of Google (OpenID Connect Core 1.0, 3.1.3.7; RFC 8725 for known attacks)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import jwt
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.addresses import validate_address
from accounts.errors import IdentityProviderOff, InvalidIdToken
from accounts.jwks import ALGORITHM, signing_keys
from accounts.pictures import validate_picture_url

# ID tokens of Google have some 1,200 characters.
MAX_LENGTH = 8192
# A page sends a token at once; an older one may have been stolen.
MAX_AGE = timedelta(minutes=10)
_LEEWAY = timedelta(seconds=30)
# Google writes its own issuer in two ways.
_SAME_ISSUER = {"accounts.google.com": "https://accounts.google.com"}
# Control characters, separators of lines and paragraphs, halves of surrogate pairs.
_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class IdentityClaims:
    """The signed-in person: `subject` is their permanent id at the `issuer`. `email`, in lower
    case, `name` and `picture` (https) are "" where Google has none that we can store.
    `token_digest` is the digest of the token, which is too old after `token_expires_at`."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
    picture: str
    token_digest: bytes
    token_expires_at: datetime


def read_id_token(text: str, nonce: str | None = None) -> IdentityClaims:
    """The claims of a genuine, recent token that was issued for one of our apps, with this `nonce`,
    where there is one. Earlier use is not checked here.

    Raises InvalidIdToken, IdentityProviderOff or IdentityProviderUnavailable.
    """
    if not settings.GOOGLE_CLIENT_IDS:
        raise IdentityProviderOff
    if len(text) > MAX_LENGTH or not text.isascii():
        raise InvalidIdToken
    try:
        claims = _decode(text)
        _check_age(claims)
        _check_party(claims)
        if nonce is not None and claims.get("nonce") != nonce:
            raise InvalidIdToken
        return _identity(claims, text)
    except jwt.PyJWTError:
        raise InvalidIdToken from None


def _decode(text: str) -> dict[str, Any]:
    """The signed claims. Only keys of GOOGLE_JWKS_URL count, whatever key the header offers."""
    header = jwt.get_unverified_header(text)
    if header.get("alg") != ALGORITHM or not isinstance(header.get("kid"), str):
        raise InvalidIdToken
    key = signing_keys(settings.GOOGLE_JWKS_URL).find(header["kid"])
    if key is None:
        raise InvalidIdToken
    return jwt.decode(
        text,
        key,
        algorithms=[ALGORITHM],
        audience=settings.GOOGLE_CLIENT_IDS,
        issuer=settings.GOOGLE_ISSUERS,
        leeway=_LEEWAY,
        options={
            "require": ["iss", "sub", "aud", "exp", "iat"],
            "enforce_minimum_key_length": True,
        },
    )


def _check_age(claims: dict[str, Any]) -> None:
    age = timezone.now().timestamp() - int(claims["iat"])
    if age > (MAX_AGE + _LEEWAY).total_seconds():
        raise InvalidIdToken


def _check_party(claims: dict[str, Any]) -> None:
    """Check that a token for several parties was issued to one of ours."""
    is_for_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if is_for_several and claims.get("azp") not in settings.GOOGLE_CLIENT_IDS:
        raise InvalidIdToken


def _identity(claims: dict[str, Any], text: str) -> IdentityClaims:
    subject: str = claims["sub"]
    if not 0 < len(subject) <= 255 or not subject.isascii() or not subject.isprintable():
        raise InvalidIdToken
    return IdentityClaims(
        issuer=_SAME_ISSUER.get(claims["iss"], claims["iss"]),
        subject=subject,
        email=_valid(claims.get("email"), 254, validate_address).lower(),
        email_verified=claims.get("email_verified") is True,
        name=_name(claims.get("name")),
        picture=_valid(claims.get("picture"), 500, validate_picture_url),
        token_digest=_digest(claims, text),
        token_expires_at=datetime.fromtimestamp(int(claims["iat"]), UTC) + MAX_AGE + _LEEWAY,
    )


def _digest(claims: dict[str, Any], text: str) -> bytes:
    """The digest of the token's id at its issuer; of the signed content where it has no id."""
    signed = f"{claims['iss']} {claims['jti']}" if claims.get("jti") else text.rpartition(".")[0]
    return sha256(signed.encode(errors="surrogatepass")).digest()


def _name(value: object) -> str:
    """The name as one line, cut where it is too long."""
    return _NOT_IN_A_NAME.sub("", value).strip()[:200] if isinstance(value, str) else ""


def _valid(value: object, longest: int, validate: Callable[[str], None]) -> str:
    """The text, or "" where accounts cannot store it."""
    if not isinstance(value, str) or len(value) > longest:
        return ""
    try:
        validate(value)
    except ValidationError:
        return ""
    return value
