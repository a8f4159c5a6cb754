"""Signing up and in: everything that makes tokens."""

import uuid
from datetime import timedelta

import structlog
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts import tokens
from accounts.errors import AccountSuspended, EmailTaken, InvalidCredentials, InvalidToken
from accounts.models import RefreshFamily, User
from accounts.selectors.users import get_live_user
from accounts.services import lockout
from accounts.services.password_rules import check_password_rules
from accounts.services.users import lock_user
from accounts.services.verification import request_verification
from accounts.types import SignedIn

log = structlog.get_logger(__name__)

# Sign-ins of one account that can be refreshed. Of more, those go that were used least lately.
MAX_SESSIONS = 50
# How long the predecessor still gets the same successor: two tabs may refresh at once.
REFRESH_GRACE = timedelta(seconds=30)


def sign_up(*, email: str, password: str, name: str = "") -> SignedIn:
    """Create an account, sign it in, and have a mail sent that verifies the address.

    Raises EmailTaken, or ValidationFailed for a weak password.
    """
    email = email.strip().lower()
    user = User(email=email, name=name)
    check_password_rules(password, user)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            request_verification(user=user)
            return open_session(user)
    except IntegrityError:
        if User.objects.filter(email=email).exists():
            raise EmailTaken from None
        raise


def sign_in(*, email: str, password: str, client_ip: str = "") -> SignedIn:
    """Raises InvalidCredentials, after the same work for an unknown address as for a wrong
    password, or AccountSuspended.

    Failures at any address are counted, so that nobody can tell which are operators'; but only
    operators are refused for them, in the same words as for a wrong password.
    """
    who = {"address": email, "client_ip": client_ip}
    seconds = lockout.count_attempt(**who)
    user = User.objects.filter(email=email.strip().lower()).first()
    give_connection_back()
    is_locked_out = seconds > 0 and user is not None and user.is_staff
    if is_locked_out:
        log.warning("sign_in.locked_out", **who, seconds=seconds)
    if user is None or is_locked_out:
        make_password(password)
        raise InvalidCredentials
    if not user.check_password(password) or user.status == User.Status.DEACTIVATED:
        raise InvalidCredentials
    if user.status == User.Status.SUSPENDED:
        raise AccountSuspended
    with transaction.atomic():
        # The user's lock comes first: whoever changes the password forgets the same failures.
        signed_in = open_session(user)
        lockout.forget_failures(**who)
        return signed_in


def refresh(*, refresh_token: str) -> SignedIn:
    """Exchange a refresh token, once, for a new pair.

    The same token again within the grace gets the same successor; later it is taken for stolen:
    its whole family is revoked. Raises InvalidToken or AccountSuspended.
    """
    claims = tokens.read_refresh(refresh_token)
    with transaction.atomic():
        family = (
            RefreshFamily.objects.select_for_update()
            .filter(pk=claims.family_id, user_id=claims.user_id)
            .first()
        )
        if family is None:
            raise InvalidToken
        user = get_live_user(claims.user_id, claims.version)
        now = timezone.now()
        if claims.token_id == family.current:
            family.previous, family.current = family.current, uuid.uuid4()
            family.rotated_at = now
            family.save(update_fields=["previous", "current", "rotated_at"])
            return _pair(user, family)
        if claims.token_id == family.previous and now - family.rotated_at <= REFRESH_GRACE:
            return _pair(user, family)
        family.delete()
    raise InvalidToken


def give_connection_back() -> None:
    """Hashing takes long, and the pool's connections are few: the next query takes another."""
    if not connection.in_atomic_block:
        connection.close()


def open_session(user: User) -> SignedIn:
    """A fresh pair of tokens for `user`, within the caller's transaction."""
    lock_user(user)  # so that sign-ins at once cannot pass the limit together
    families = RefreshFamily.objects.filter(user=user)
    used = families.order_by("-rotated_at").values_list("pk", "rotated_at")
    for family_id, rotated_at in used[MAX_SESSIONS - 1 :]:
        # Unless it is being refreshed just now.
        families.filter(pk=family_id, rotated_at=rotated_at).delete()
    return _pair(user, RefreshFamily.objects.create(user=user, rotated_at=timezone.now()))


def purge_sessions() -> None:
    """Delete sign-ins whose last refresh token has expired."""
    expired = timezone.now() - tokens.REFRESH_LIFETIME
    RefreshFamily.objects.filter(rotated_at__lt=expired).delete()


def _pair(user: User, family: RefreshFamily) -> SignedIn:
    claims = tokens.RefreshClaims(user.pk, user.token_version, family.pk, family.current)
    return SignedIn(
        user=user,
        access_token=tokens.access_token(user.pk, user.token_version),
        refresh_token=tokens.refresh_token(claims, issued_at=family.rotated_at),
    )
