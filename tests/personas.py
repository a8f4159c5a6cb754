"""People and keys for tests, each with an address of its own."""

from threading import current_thread, main_thread

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection

from accounts import keys, tokens
from accounts.features import KeyFeature
from accounts.models import ApiKey, User, UserSession
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_USD

PASSWORD = "correct horse battery staple"


def new_user(name: str, *, plan: str = "free", balance_usd: int = 0) -> User:
    """A user on a plan, with a balance in whole US dollars."""
    user = User.objects.create_user(
        f"{name}-{uuid7().hex}@example.com", PASSWORD, name=name.title()
    )
    if plan != "free":
        balance.change_plan(account=user, plan=plan)
    if balance_usd:
        balance.topup(operation_id=uuid7(), account=user, amount=balance_usd * NUSD_PER_USD)
    return user


def access_token_of(user: User) -> str:
    """A token of a session of the user's, which is begun where there is none. Its revocation
    version is the one that `user` was read with. Threads of a test may ask for it: no connection
    stays with them."""
    session = UserSession.objects.filter(account=user).first() or UserSession.objects.create(
        account=user
    )
    if current_thread() is not main_thread():
        connection.close()
    return tokens.access_token(tokens.Claims(user.pk, user.token_version, session.pk))


def authorization(user: AbstractBaseUser) -> dict[str, str]:
    """The header with which the user is signed in."""
    return {"Authorization": f"Bearer {access_token_of(User.objects.get(pk=user.pk))}"}


def new_key(
    user: User,
    *,
    cap: int | None = None,
    models: tuple[str, ...] = (),
    features: tuple[KeyFeature, ...] = (),
) -> tuple[ApiKey, str]:
    """A key of the user, and its raw form. `cap` is nano-USD."""
    raw = keys.generate()
    key = ApiKey(
        account=user,
        name="test",
        monthly_spend_cap=cap,
        allowed_models=list(models),
        features=list(features),
    )
    key.set_key(raw)
    key.save()
    return key, raw
