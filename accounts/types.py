"""Types of the accounts app, for other apps as well."""

from dataclasses import dataclass
from typing import TypedDict
from uuid import UUID

from rest_framework.request import Request

from accounts.features import KeyFeature
from accounts.models import User
from accounts.tokens import AccessClaims

# The length of the list of models on one API key.
MAX_ALLOWED_MODELS = 64
# The length of a model's instructions, in characters.
MAX_AGENT_INSTRUCTIONS = 4_000
# What is shown in the place of the address of somebody whose data was deleted.
DELETED_ADDRESS = "deleted@invalid.example"


class AuthenticatedRequest(Request):
    """The request of a view for signed-in users, with the claims of its token."""

    user: User
    auth: AccessClaims


class AnybodysRequest(Request):
    """The request of a view for users who are signed in or not."""

    user: User | None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a sign-in. `ip` is an IPv4 address or the /64 of an IPv6 one, `user_agent` the
    header, `device_id` a UUID that the client generated and keeps; each is empty where it is not
    known."""

    ip: str = ""
    user_agent: str = ""
    device_id: UUID | None = None


UNKNOWN_CLIENT = Client()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user with a new pair of tokens. `expires_in` and `refresh_expires_in` are the lifetimes of
    the access token and of the refresh token in seconds."""

    user: User
    access_token: str
    refresh_token: str
    expires_in: int
    refresh_expires_in: int


class ProfileChanges(TypedDict, total=False):
    """The fields that users may change of their profile."""

    name: str
    avatar_url: str
    locale: str
    timezone: str


class KeyChanges(TypedDict, total=False):
    """The fields of an API key that may change. The cap is the request's JSON value, not validated
    yet."""

    name: str
    monthly_spend_cap_usd: object
    allowed_models: list[str]
    features: list[KeyFeature]


class PreferenceChanges(TypedDict, total=False):
    """A user's preferences for a model. `reasoning_effort` is `low`, `medium`, `high`, or empty for
    the model's own."""

    enabled: bool
    favourite: bool
    instructions: str
    reasoning_effort: str
