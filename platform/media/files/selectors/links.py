"""Signed links to files. They work for a day, without credentials."""

import time
from urllib.parse import urlencode

from django.conf import settings
from django.core.signing import BadSignature, Signer

from media.files.errors import LinkExpired, LinkNotValid, LinkRevoked

LINK_SECONDS = 24 * 3600
_STEP_SECONDS = 3600


def signed_url(name: str) -> str:
    """An absolute link to the file of that name, which works for a day."""
    return url_until(int(time.time()) + LINK_SECONDS, name)


def steady_url(name: str, *, version: int | None = None) -> str:
    """Like `signed_url`, but valid for up to an hour longer, and the same link for an hour: an
    answer that contains it does not change with each read. `version` as in `url_until`."""
    step = int(time.time()) // _STEP_SECONDS
    return url_until((step + 1) * _STEP_SECONDS + LINK_SECONDS, name, version=version)


def url_until(expires: int, name: str, *, version: int | None = None) -> str:
    """An absolute link to the file of that name, valid until that Unix second. With a `version`
    (the `token_version` of the owner) it ends with the owner's tokens, too.

    The signature is an HMAC-SHA256 of the name, the time and the version, under SECRET_KEY.
    """
    query = {"expires": str(expires)}
    if version is not None:
        query["version"] = str(version)
    query["signature"] = _signer(query.get("version", "")).signature(f"{name}:{expires}")
    return f"{settings.PUBLIC_BASE_URL.rstrip('/')}/files/{name}?{urlencode(query)}"


def check_link(*, name: str, expires: str, version: str, signature: str) -> None:
    """Raises LinkNotValid for a wrong signature, and LinkExpired. Whether `version`, empty where
    the link has none, is still the owner's is for `check_version` to say."""
    try:
        _signer(version).unsign(f"{name}:{expires}:{signature}")
    except BadSignature:
        raise LinkNotValid from None
    # From here on all parts are as we wrote them.
    if int(expires) <= time.time():
        raise LinkExpired


def check_version(version: str, current: int) -> None:
    """Raises LinkRevoked for a link of another `version` than the owner's current one."""
    if version and int(version) != current:
        raise LinkRevoked


def _signer(version: str) -> Signer:
    return Signer(salt=f"files.link.{version}" if version else "files.link")
