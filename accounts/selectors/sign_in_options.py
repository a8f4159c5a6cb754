"""The ways in that this service has: what a page for signing in shows."""

from dataclasses import dataclass

import msgspec
from django.conf import settings

from content.flags import SIGN_UP


@dataclass(frozen=True, slots=True)
class GoogleAuthorization:
    """The page that signs people in with Google, and the client for which it makes ID tokens."""

    authorize_url: str
    client_id: str


class DemoCredentials(msgspec.Struct, frozen=True):
    """The address and the password of the demo user."""

    email: str
    password: str


@dataclass(frozen=True, slots=True)
class SignInOptions:
    """`sign_up`: can new accounts be made? `google` and `demo` are None where there is no such way
    in."""

    sign_up: bool
    google: GoogleAuthorization | None
    demo: DemoCredentials | None


def get_sign_in_options() -> SignInOptions:
    """Raises ServiceUnavailable while the database is away and was never reached before."""
    return SignInOptions(sign_up=SIGN_UP.is_on(), google=_google(), demo=_demo())


def _google() -> GoogleAuthorization | None:
    """The first client is that of the web app."""
    if not settings.GOOGLE_CLIENT_IDS:
        return None
    return GoogleAuthorization(settings.GOOGLE_AUTHORIZE_URL, settings.GOOGLE_CLIENT_IDS[0])


def _demo() -> DemoCredentials | None:
    """What `create_demo` has written; None where it has not run. Production refuses to start with
    DEMO_SEEDS; should it ever start, its page must not give a password away."""
    if settings.PRODUCTION or not settings.DEMO_SEEDS:
        return None
    try:
        return msgspec.json.decode(settings.DEMO_FILE.read_bytes(), type=DemoCredentials)
    except (OSError, msgspec.DecodeError):
        return None
