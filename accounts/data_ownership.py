"""What accounts own of this app and of Django's own (`common.ownership`)."""

from uuid import uuid4

from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password
from django.db.models import Model

from accounts.models import (
    ApiKey,
    EmailedToken,
    KnownClient,
    LinkedIdentity,
    ModelPreference,
    OutgoingEmail,
    SecondFactor,
    SignInFailures,
    User,
    UserSession,
)
from accounts.services.erasing import erase_from_audit_log
from common.ownership import Anonymise, Delete, Owned, Rewrite


def _address_of(user: User) -> str:
    return user.email


def _guesses_at(user: User) -> str:
    """How the names of an address's failures begin (accounts/services/lockout.py)."""
    return f"{user.email} from "


def _no_address() -> str:
    """Unique, and nobody can have it."""
    return f"deleted-{uuid4()}@invalid.example"


def _deleted(model: type[Model], owner: str, exported: str, *, left_out: str) -> Owned:
    return Owned(model, (owner,), Delete(), exported, left_out)


OWNED = (
    Owned(
        User,
        owners=("pk",),
        exported="id email mailbox signup_network name avatar_url email_verified"
        " verified_by_holder status is_staff is_superuser locale timezone last_login created_at",
        left_out="password token_version",
        on_deletion=Anonymise(
            {
                "email": _no_address,
                "mailbox": "",
                "signup_network": "",
                "name": "",
                "avatar_url": "",
                "email_verified": False,
                "verified_by_holder": False,
                "is_staff": False,
                "is_superuser": False,
                "locale": "",
                "timezone": "UTC",
                "last_login": None,
                "password": lambda: make_password(None),
            }
        ),
    ),
    _deleted(User.groups.through, "user", "group_id", left_out="id user_id"),
    _deleted(User.user_permissions.through, "user", "permission_id", left_out="id user_id"),
    _deleted(
        UserSession,
        "account",
        "id client client_ip created_at rotated_at",
        left_out="account_id current previous",
    ),
    _deleted(LinkedIdentity, "user", "id issuer subject created_at", left_out="user_id"),
    _deleted(
        EmailedToken, "user", "id purpose email expires_at used_at", left_out="user_id digest"
    ),
    Owned(
        OutgoingEmail,
        owners=("address__iexact",),
        key=_address_of,
        # An address that nobody has confirmed may be somebody else's, who is invited to a team.
        left_out="id kind address mailbox network about created_at due_at attempts error ended_at"
        " outcome",
        on_deletion=Delete(),
    ),
    _deleted(
        SecondFactor,
        "operator",
        "created_at",
        left_out="operator_id secret last_step recovery_codes",
    ),
    Owned(
        SignInFailures,
        owners=("name__istartswith",),
        key=_guesses_at,
        exported="count last_at",
        # It has the network addresses of those who guessed.
        left_out="name",
        on_deletion=Delete(),
    ),
    _deleted(KnownClient, "account", "seen_at", left_out="account_id digest"),
    Owned(
        ApiKey,
        owners=("account",),
        exported="id name hint monthly_spend_cap allowed_models features created_at last_used_at"
        " revoked_at",
        left_out="account_id digest pepper",
        # The books have what each key was billed.
        on_deletion=Anonymise({"name": "", "hint": ""}),
    ),
    _deleted(
        ModelPreference,
        "account",
        "id model enabled favourite instructions reasoning_effort",
        left_out="account_id",
    ),
    Owned(
        LogEntry,
        owners=("user",),
        exported="id action_time action_flag",
        # They tell of other people.
        left_out="user_id content_type_id object_id object_repr change_message",
        on_deletion=Rewrite(erase_from_audit_log),
    ),
)
