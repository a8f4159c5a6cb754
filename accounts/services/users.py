"""Creates, changes and closes accounts."""

import uuid
from typing import Unpack

from django.db import transaction
from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils import timezone

from accounts.errors import (
    AccountDeactivated,
    AccountDeleted,
    AccountSuspended,
    InvalidToken,
    OperatorNotDeletable,
)
from accounts.models import (
    ApiKey,
    EmailedToken,
    LinkedIdentity,
    OutgoingEmail,
    User,
    UserSession,
)
from accounts.services import known_clients
from accounts.services.account_emails import AccountEmail
from accounts.services.platform_account import PLATFORM_ID
from accounts.types import ProfileChanges

# Sent with `session_ids`, a list of UUIDs, when it is committed that these sessions were ended, or
# that their user was suspended: long responses check their tokens again.
sessions_ended = Signal()
# Sent with `user`, at the end of the transaction in which the person who used an account loses it:
# it is closed, or given to the owner of its address. The account is locked.
user_departed = Signal()


@transaction.atomic
def ensure_user(*, email: str, password: str, name: str, operator: bool = False) -> User:
    """The account of that address with that password, created or corrected if needed. For seeds.

    Where the password changes, every earlier token is revoked. An operator may use the admin.
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
    """Change the fields in `changes`."""
    for field, value in changes.items():
        setattr(user, field, value)
    user.save(update_fields=list(changes))
    return user


@transaction.atomic
def revoke_sessions(*, user: User) -> None:
    """Revoke every token of `user`, and end their visits to the admin."""
    user.token_version = lock_user(user).token_version + 1
    user.save(update_fields=["token_version"])
    end_sessions(user.sessions.all())


def end_sessions(sessions: QuerySet[UserSession]) -> int:
    """Delete the sessions within the caller's transaction, which revokes their tokens, and send
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
    """Suspend the account until it is reactivated. Its tokens stay, so that its user learns why.

    Raises AccountDeactivated, AccountDeleted.
    """
    match lock_user(user).status:
        case User.Status.DEACTIVATED:
            raise AccountDeactivated
        case User.Status.DELETED:
            raise AccountDeleted
    _set_status(user, User.Status.SUSPENDED)
    _announce_end(user.sessions.all())


@transaction.atomic
def reactivate(*, user: User) -> None:
    """Reactivate a suspended or deactivated account; its user signs in again. Revoked keys stay
    revoked. Raises AccountDeleted."""
    status = lock_user(user).status
    if status == User.Status.DELETED:
        raise AccountDeleted
    if status != User.Status.ACTIVE:
        revoke_sessions(user=user)
        _set_status(user, User.Status.ACTIVE)


@transaction.atomic
def deactivate(*, user: User) -> None:
    """Close the account: tokens, keys and mailed links are void. Its charges and its wallet stay;
    the address stays if it is known to be theirs.

    Raises AccountSuspended, or InvalidToken the second time.
    """
    locked = lock_user(user)
    match locked.status:
        case User.Status.SUSPENDED:
            raise AccountSuspended
        case User.Status.DEACTIVATED | User.Status.DELETED:
            raise InvalidToken
    close_every_way_in(user=user)
    if not locked.is_of_its_address:
        _free_address(user)
    _set_status(user, User.Status.DEACTIVATED)
    user_departed.send(sender=User, user=user)


@transaction.atomic
def close_for_deletion(*, user: User) -> bool:
    """Close the account for good, whatever its status, so that its data can be deleted. Returns
    False where that was done before. Raises OperatorNotDeletable."""
    locked = lock_user(user)
    if locked.status == User.Status.DELETED:
        return False
    if locked.is_staff or locked.is_superuser or locked.pk == PLATFORM_ID:
        raise OperatorNotDeletable
    close_every_way_in(user=user)
    _set_status(user, User.Status.DELETED)
    user_departed.send(sender=User, user=user)
    return True


@transaction.atomic
def take_over(*, user: User) -> None:
    """Give the account to the owner of its address, who has just proved it. Its creator never did,
    and may have waited for the owner (pre-hijacking, arXiv 2205.10174): all their credentials are
    removed. See docs/decisions/0013-whose-account-an-address-opens.md."""
    close_every_way_in(user=user)
    LinkedIdentity.objects.filter(user=user).delete()
    user.set_unusable_password()
    user.email_verified = user.verified_by_holder = True
    user.save(update_fields=["password", "email_verified", "verified_by_holder"])
    user_departed.send(sender=User, user=user)


@transaction.atomic
def close_every_way_in(*, user: User) -> None:
    """Revoke tokens, keys and mailed links of `user`, and forget all of their clients. The password
    and linked identities stay; so does a mail about a changed password, because a thief may have
    changed it."""
    revoke_sessions(user=user)
    known_clients.forget(user=user)
    now = timezone.now()
    ApiKey.objects.owned_by(user).active().update(revoked_at=now)
    EmailedToken.objects.filter(user=user).delete()
    dropped = [kind for kind in AccountEmail if kind != AccountEmail.PASSWORD_CHANGED]
    waiting = OutgoingEmail.objects.filter(address=user.email, ended_at=None, kind__in=dropped)
    waiting.update(ended_at=now, outcome=OutgoingEmail.Outcome.DROPPED)


def lock_user(user: User) -> User:
    """The user, read and locked. This lock comes before those of the user's rows."""
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _free_address(user: User) -> None:
    """Free the address of a stranger's closed account for its owner. Nobody can sign up beforehand
    with the replacement. The mailbox stays, so that the account still counts for it."""
    user.email = f"closed-{uuid.uuid4()}@invalid.example"
    User.objects.filter(pk=user.pk).update(email=user.email)


def _set_status(user: User, status: User.Status) -> None:
    user.status = status
    user.save(update_fields=["status"])
