"""What accounts own of this app and of Django's own (`common.ownership`)."""

from uuid import uuid4

from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password

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
    Owned(
        User.groups.through,
        owners=("user",),
        exported="group_id",
        left_out="id user_id",
        on_deletion=Delete(),
    ),
    Owned(
        User.user_permissions.through,
        owners=("user",),
        exported="permission_id",
        left_out="id user_id",
        on_deletion=Delete(),
    ),
    Owned(
        UserSession,
        owners=("account",),
        exported="id client client_ip created_at rotated_at",
        left_out="account_id current previous",
        on_deletion=Delete(),
    ),
    Owned(
        LinkedIdentity,
        owners=("user",),
        exported="id issuer subject created_at",
        left_out="user_id",
        on_deletion=Delete(),
    ),
    Owned(
        EmailedToken,
        owners=("user",),
        exported="id purpose email expires_at used_at",
        left_out="user_id digest",
        on_deletion=Delete(),
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
    Owned(
        SecondFactor,
        owners=("operator",),
        exported="created_at",
        left_out="operator_id secret last_step recovery_codes",
        on_deletion=Delete(),
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
    Owned(
        KnownClient,
        owners=("account",),
        exported="seen_at",
        left_out="account_id digest",
        on_deletion=Delete(),
    ),
    Owned(
        ApiKey,
        owners=("account",),
        exported="id name hint monthly_spend_cap allowed_models created_at last_used_at revoked_at",
        left_out="account_id digest pepper",
        # The books have what each key was billed.
        on_deletion=Anonymise({"name": "", "hint": ""}),
    ),
    Owned(
        ModelPreference,
        owners=("account",),
        exported="id model enabled favourite instructions reasoning_effort",
        left_out="account_id",
        on_deletion=Delete(),
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
