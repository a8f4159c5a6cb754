"""The accounts whose credentials the local default prints: a customer with money, an operator."""

import secrets

import msgspec
from django.conf import settings

from accounts import keys
from accounts.features import KEY_FEATURES
from accounts.models import User
from accounts.selectors.api_keys import list_keys
from accounts.services.api_keys import create_key, revoke_key
from accounts.services.users import ensure_user
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_USD
from demo.cast import EMAIL

ADMIN_EMAIL = "admin@example.com"
PLAN = "max"
BALANCE_USD = 50
CREDIT = "Demo credit"
# Of the five that an account may have, so that users can create more.
MAX_KEYS = 3


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """How to use the local default: its address, and the credentials for it. `agent_api_key` has
    all features; files of earlier versions have none."""

    base_url: str
    email: str
    password: str
    api_key: str
    agent_api_key: str = ""
    admin_email: str
    admin_password: str
    simulator_url: str


def ensure_demo(previous: Demo | None) -> Demo:
    """Create or correct the demo accounts; they get their money once.

    Credentials in `previous` are kept where they still work. Without it the passwords and the keys
    are new; the oldest keys then make room for them.
    """
    password = previous.password if previous else secrets.token_urlsafe(12)
    admin_password = previous.admin_password if previous else secrets.token_urlsafe(12)
    user = ensure_user(email=EMAIL, password=password, name="Demo")
    ensure_user(email=ADMIN_EMAIL, password=admin_password, name="Operator", operator=True)
    balance.change_plan(account=user, plan=PLAN, forced=True)
    if not user.ledger.filter(description=CREDIT).exists():
        balance.topup(
            operation_id=uuid7(),
            account=user,
            amount=BALANCE_USD * NUSD_PER_USD,
            description=CREDIT,
        )
    api_key, agent_api_key = _working_keys(user, previous)
    return Demo(
        base_url=settings.PUBLIC_BASE_URL,
        email=EMAIL,
        password=password,
        api_key=api_key,
        agent_api_key=agent_api_key,
        admin_email=ADMIN_EMAIL,
        admin_password=admin_password,
        simulator_url=settings.SIMULATOR_URL,
    )


def _working_keys(user: User, previous: Demo | None) -> tuple[str, str]:
    """A key without features, and one with all of them. New ones replace those that do not work
    any more, and the oldest other keys make room for them."""
    active = list_keys(user).active()
    known = (previous.api_key, previous.agent_api_key) if previous else ("", "")
    working = [raw for raw in known if active.filter(digest__in=keys.digests(raw)).exists()]
    if len(working) < len(known):
        digests = [digest for raw in working for digest in keys.digests(raw)]
        others = active.exclude(digest__in=digests).order_by("-created_at")
        for surplus in others[MAX_KEYS - len(known) :]:
            revoke_key(user=user, key_id=surplus.pk)
    plain, agents = known
    if plain not in working:
        _, plain = create_key(user=user, name="Demo", features=())
    if agents not in working:
        _, agents = create_key(user=user, name="Agents", features=KEY_FEATURES)
    return plain, agents
