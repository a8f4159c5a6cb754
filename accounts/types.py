"""What the accounts app hands to others."""

from dataclasses import dataclass
from typing import TypedDict
from uuid import UUID

from rest_framework.request import Request

from accounts.models import User
from accounts.tokens import AccessClaims

# On one API key.
MAX_ALLOWED_MODELS = 64
# What a model is told in every conversation, in characters.
MAX_AGENT_INSTRUCTIONS = 4_000


class AuthenticatedRequest(Request):
    """The request of a view that only signed-in users reach, with what their token claims."""

    user: User
    auth: AccessClaims


class AnybodysRequest(Request):
    """The request of a view that people reach signed in or not."""

    user: User | None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Client:
    """From where somebody signs in. `ip` is an IPv4 address or the /64 of an IPv6 one, `user_agent`
    the header, `device_id` a UUID that the client made up and keeps; each is empty where it is not
    known."""

    ip: str = ""
    user_agent: str = ""
    device_id: UUID | None = None


UNKNOWN_CLIENT = Client()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user with a fresh pair of tokens. `expires_in` is the seconds that the access token is
    good for."""

    user: User
    access_token: str
    refresh_token: str
    expires_in: int


class ProfileChanges(TypedDict, total=False):
    """What users may change about themselves."""

    name: str
    avatar_url: str
    locale: str
    timezone: str


class KeyChanges(TypedDict, total=False):
    """What may change on an API key. The cap is as sent: a JSON value yet to be judged."""

    name: str
    monthly_spend_cap_usd: object
    allowed_models: list[str]


class PreferenceChanges(TypedDict, total=False):
    """How a user wants a model. `reasoning_effort` is `low`, `medium`, `high`, or empty: the
    model's own."""

    enabled: bool
    favourite: bool
    instructions: str
    reasoning_effort: str
