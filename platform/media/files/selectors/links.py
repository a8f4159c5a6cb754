"""Signed links to files. They work for a day, without credentials."""

import time

from django.conf import settings
from django.core.signing import BadSignature, Signer

from media.files.errors import LinkExpired, LinkNotValid

LINK_SECONDS = 24 * 3600
_STEP_SECONDS = 3600


def signed_url(name: str) -> str:
    """An absolute link to the file of that name, which works for a day."""
    return url_until(int(time.time()) + LINK_SECONDS, name)


def steady_url(name: str) -> str:
    """Like `signed_url`, but valid for up to an hour longer, and the same link for an hour: an
    answer that contains it does not change with each read."""
    step = int(time.time()) // _STEP_SECONDS
    return url_until((step + 1) * _STEP_SECONDS + LINK_SECONDS, name)


def url_until(expires: int, name: str) -> str:
    """An absolute link to the file of that name, valid until that Unix second.

    The signature is an HMAC-SHA256 of the name and the time, under SECRET_KEY.
    """
    signature = _signer().signature(f"{name}:{expires}")
    base_url = settings.PUBLIC_BASE_URL.rstrip("/")
    return f"{base_url}/files/{name}?expires={expires}&signature={signature}"


def check_link(*, name: str, expires: str, signature: str) -> None:
    """Raises LinkNotValid for a wrong signature, and LinkExpired."""
    try:
        _signer().unsign(f"{name}:{expires}:{signature}")
    except BadSignature:
        raise LinkNotValid from None
    # From here on all parts are as we wrote them.
    if int(expires) <= time.time():
        raise LinkExpired


def _signer() -> Signer:
    return Signer(salt="files.link")
