"""Accounts as a whole: made, changed and closed."""

import uuid
from typing import Unpack

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.errors import AccountDeactivated, AccountSuspended, InvalidToken
from accounts.models import (
    ApiKey,
    EmailedToken,
    LinkedIdentity,
    OutgoingEmail,
    User,
    UserSession,
)
from accounts.services import known_clients
from accounts.signals import sessions_ended
from accounts.types import ProfileChanges


@transaction.atomic
def ensure_user(*, email: str, password: str, name: str, operator: bool = False) -> User:
    """The account of that address with that password, made or put right if need be. For seeds.

    Where the password changes, every token issued so far is revoked. An operator may use the admin.
    """
    user = User.objects.select_for_update(no_key=True).filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, password, name=name)
    elif not user.check_password(password):
        user.set_password(password)
        user.token_version += 1
    user.status = User.Status.ACTIVE
    user.email_verified = user.verified_by_holder = True
    user.is_staff = user.is_superuser = operator
    user.save()
    return user


def update_profile(*, user: User, **changes: Unpack[ProfileChanges]) -> User:
    """Change what is named in `changes`."""
    for field, value in changes.items():
        setattr(user, field, value)
    user.save(update_fields=list(changes))
    return user


@transaction.atomic
def revoke_sessions(*, user: User) -> None:
    """Void every token issued to `user` so far, and end their visits to the admin."""
    user.token_version = lock_user(user).token_version + 1
    user.save(update_fields=["token_version"])
    end_sessions(user.sessions.all())


def end_sessions(sessions: QuerySet[UserSession]) -> int:
    """Delete the sessions within the caller's transaction, which voids their tokens, and send
    `sessions_ended` when it is committed. Returns how many there were."""
    session_ids = _announce_end(sessions)
    sessions.delete()
    return len(session_ids)


def _announce_end(sessions: QuerySet[UserSession]) -> list[uuid.UUID]:
    """Send `sessions_ended` when the caller's transaction is committed. Returns the ids of the
    sessions."""
    session_ids = list(sessions.values_list("pk", flat=True))
    if session_ids:
        transaction.on_commit(
            lambda: sessions_ended.send(sender=UserSession, session_ids=session_ids)
        )
    return session_ids


@transaction.atomic
def suspend(*, user: User) -> None:
    """Refuse the account until it is reactivated. Its tokens stay, so that it is told why.

    Raises AccountDeactivated.
    """
    if lock_user(user).status == User.Status.DEACTIVATED:
        raise AccountDeactivated
    _set_status(user, User.Status.SUSPENDED)
    _announce_end(user.sessions.all())


@transaction.atomic
def reactivate(*, user: User) -> None:
    """Open a suspended or deactivated account again; its user signs in anew. Keys that were revoked
    stay so."""
    if lock_user(user).status != User.Status.ACTIVE:
        revoke_sessions(user=user)
        _set_status(user, User.Status.ACTIVE)


@transaction.atomic
def deactivate(*, user: User) -> None:
    """Close the account for its user: tokens, keys and mailed links are void. What it was charged
    stays, and so does its wallet; the address does if it is known to be theirs.

    Raises AccountSuspended, or InvalidToken the second time.
    """
    locked = lock_user(user)
    match locked.status:
        case User.Status.SUSPENDED:
            raise AccountSuspended
        case User.Status.DEACTIVATED:
            raise InvalidToken
    close_every_way_in(user=user)
    if not locked.is_of_its_address:
        _free_address(user)
    _set_status(user, User.Status.DEACTIVATED)


@transaction.atomic
def take_over(*, user: User) -> None:
    """Give the account to the owner of its address, who has just shown it. Whoever made the account
    never did, and may have waited for the owner (pre-hijacking, arXiv 2205.10174): all their
    credentials are removed. See docs/decisions/0013-whose-account-an-address-opens.md.
    """
    close_every_way_in(user=user)
    LinkedIdentity.objects.filter(user=user).delete()
    user.set_unusable_password()
    user.email_verified = user.verified_by_holder = True
    user.save(update_fields=["password", "email_verified", "verified_by_holder"])


@transaction.atomic
def close_every_way_in(*, user: User) -> None:
    """Void tokens, keys and mailed links of `user`, and know none of their clients any more. The
    password and linked identities stay; so does a mail that says that the password was changed, for
    it may have been by a thief."""
    revoke_sessions(user=user)
    known_clients.forget(user=user)
    now = timezone.now()
    ApiKey.objects.owned_by(user).active().update(revoked_at=now)
    EmailedToken.objects.filter(user=user).delete()
    waiting = OutgoingEmail.objects.filter(address=user.email, ended_at=None)
    waiting.exclude(kind=OutgoingEmail.Kind.PASSWORD_CHANGED).update(
        ended_at=now, outcome=OutgoingEmail.Outcome.DROPPED
    )


def lock_user(user: User) -> User:
    """The user as of now, locked against other changes. Comes before any lock on what is theirs."""
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _free_address(user: User) -> None:
    """Leave the address to its owner, whom a closed account of a stranger would shut out for good.
    Nobody can sign up beforehand with the one that takes its place. The mailbox stays, so that the
    account still counts as one of the mailbox."""
    user.email = f"closed-{uuid.uuid4()}@invalid.example"
    User.objects.filter(pk=user.pk).update(email=user.email)


def _set_status(user: User, status: User.Status) -> None:
    user.status = status
    user.save(update_fields=["status"])
