"""Signing up and in: everything that issues tokens; and ending sessions."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts import tokens
from accounts.addresses import mailbox_of
from accounts.errors import (
    AccountSuspended,
    EmailTaken,
    InvalidCredentials,
    InvalidToken,
    SignUpClosed,
    TooManySignUps,
)
from accounts.models import User, UserSession
from accounts.selectors.users import get_live_user
from accounts.services import known_clients, lockout
from accounts.services.password_rules import check_password_rules
from accounts.services.users import end_sessions, lock_user
from accounts.services.verification import request_verification
from accounts.types import UNKNOWN_CLIENT, Client, SignedIn
from accounts.user_agents import client_name
from common.errors import NotFound
from common.ids import uuid7
from common.locks import hold
from content import flags
from server.client_ip import network_of

# Sessions of an account; a new one beyond that ends the least recently used.
MAX_SESSIONS = 50
# Accounts that one mailbox can create in a day, under all its addresses. The limit of a network is
# a setting.
MAX_SIGN_UPS_PER_MAILBOX = 5
# Seconds after which a refused client may try again; a day would be too long.
_SIGN_UP_AGAIN = 3_600
# Seconds in which the previous refresh token gets the same successor: two tabs may refresh at once.
REFRESH_GRACE = timedelta(seconds=30)


def sign_up(
    *,
    email: str,
    password: str,
    name: str = "",
    client: Client = UNKNOWN_CLIENT,
) -> SignedIn:
    """Create an account, sign it in, and send a mail that verifies the address.

    Raises SignUpClosed, EmailTaken, TooManySignUps, or ValidationFailed for a weak password.
    """
    if not flags.SIGN_UP.is_on():
        raise SignUpClosed
    email = email.strip().lower()
    user = User(email=email, name=name, signup_network=network_of(client.ip))
    check_password_rules(password, user)
    user.set_password(password)
    try:
        with transaction.atomic():
            _refuse_too_many(email, user.signup_network)
            user.save()
            request_verification(user=user)
            return open_session(user, client)
    except IntegrityError:
        if User.objects.filter(email=email).exists():
            raise EmailTaken from None
        raise


def _refuse_too_many(email: str, network: str) -> None:
    """Raises TooManySignUps where a mailbox, or a network, has created too many accounts within a
    day."""
    mailbox = mailbox_of(email)
    recent = User.objects.filter(created_at__gt=timezone.now() - timedelta(days=1))
    # Sign-ups of one mailbox, and of one network, take turns, so that two cannot both pass the
    # limit.
    hold("accounts.sign_up", mailbox)
    accounts = recent.filter(mailbox=mailbox)
    if email == mailbox:
        # A stranger cannot verify accounts of the mailbox, and so cannot use up the owner's limit.
        accounts = accounts.filter(email_verified=True)
    if accounts.count() >= MAX_SIGN_UPS_PER_MAILBOX:
        raise TooManySignUps(retry_after=_SIGN_UP_AGAIN)
    if not network:
        return
    hold("accounts.sign_up", network)
    if recent.filter(signup_network=network).count() >= settings.MAX_SIGN_UPS_PER_NETWORK:
        raise TooManySignUps(retry_after=_SIGN_UP_AGAIN)


def sign_in(*, email: str, password: str, client: Client = UNKNOWN_CLIENT) -> SignedIn:
    """Raises InvalidCredentials, where an unknown address takes the same time as a wrong password,
    TooManyAttempts, or AccountSuspended."""
    user = User.objects.filter(email=email.strip().lower()).first()

    def is_right() -> bool:
        release_connection()
        if user is None:
            make_password(password)
            return False
        return user.check_password(password) and not user.is_closed

    is_known = lockout.verify(
        is_right,
        address=email,
        client=client,
        is_operator=user is not None and user.is_staff,
    )
    if user is None or not is_known:
        raise InvalidCredentials
    if user.status == User.Status.SUSPENDED:
        raise AccountSuspended
    with transaction.atomic():
        return open_session(user, client)


def refresh(*, refresh_token: str, client: Client = UNKNOWN_CLIENT) -> SignedIn:
    """Exchange a refresh token, once, for a new pair.

    The same token again within the grace gets the same successor; later it counts as stolen: its
    session is ended, and with it all tokens that descend from the same sign-in. Raises
    InvalidToken, also where the session has reached its maximum age, or AccountSuspended.
    """
    claims = tokens.read_refresh(refresh_token)
    with transaction.atomic():
        session = (
            UserSession.objects.select_for_update()
            .filter(pk=claims.session_id, account_id=claims.user_id)
            .first()
        )
        if session is None:
            raise InvalidToken
        user = get_live_user(claims)
        now = timezone.now()
        is_over = _end_of(session) <= now
        if not is_over and claims.token_id == session.current:
            session.previous, session.current = session.current, uuid.uuid4()
            session.rotated_at = now
            session.client_ip, session.client = client.ip, client_name(client.user_agent)
            session.save(update_fields=["previous", "current", "rotated_at", "client_ip", "client"])
            return _pair(user, session)
        within_grace = now - session.rotated_at <= REFRESH_GRACE
        if not is_over and within_grace and claims.token_id == session.previous:
            return _pair(user, session)
        end_sessions(UserSession.objects.filter(pk=session.pk))
    raise InvalidToken


@transaction.atomic
def end_session(*, user: User, session_id: uuid.UUID) -> None:
    """End one session of the user's. Raises NotFound."""
    if not end_sessions(user.sessions.filter(pk=session_id)):
        raise NotFound


@transaction.atomic
def end_other_sessions(*, user: User, session_id: uuid.UUID) -> None:
    """End all sessions of the user's but this one."""
    lock_user(user)  # so that a concurrent sign-in comes before or after
    end_sessions(user.sessions.exclude(pk=session_id))


def release_connection() -> None:
    """Return the connection to the pool before a hash, which takes long; the next query takes
    another one."""
    if not connection.in_atomic_block:
        connection.close()


def open_session(user: User, client: Client = UNKNOWN_CLIENT) -> SignedIn:
    """A new session of `user` with its first pair of tokens, within the caller's transaction. The
    account knows the client from now on."""
    lock_user(user)  # so that concurrent sign-ins cannot pass the limit together
    known_clients.remember(user=user, client=client)
    used = user.sessions.order_by("-rotated_at").values_list("pk", "rotated_at")
    for session_id, rotated_at in used[MAX_SESSIONS - 1 :]:
        # Unless it is being refreshed now.
        end_sessions(user.sessions.filter(pk=session_id, rotated_at=rotated_at))
    session = UserSession.objects.create(
        account=user, client_ip=client.ip, client=client_name(client.user_agent)
    )
    return _pair(user, session)


def purge_sessions() -> None:
    """Delete sessions whose last refresh token has expired, or that have reached their maximum
    age."""
    now = timezone.now()
    UserSession.objects.filter(rotated_at__lt=now - tokens.REFRESH_LIFETIME).delete()
    # An id is as old as its session (UUIDv7), and has the index.
    UserSession.objects.filter(pk__lt=uuid7(now - _longest_session())).delete()


def _longest_session() -> timedelta:
    return timedelta(days=settings.SESSION_LIFETIME_DAYS)


def _end_of(session: UserSession) -> datetime:
    """When the session ends, however often it is refreshed."""
    return session.created_at + _longest_session()


def _pair(user: User, session: UserSession) -> SignedIn:
    claims = tokens.RefreshClaims(user.pk, user.token_version, session.pk, session.current)
    now, ends_at = timezone.now(), _end_of(session)
    refresh_ends_at = min(session.rotated_at + tokens.REFRESH_LIFETIME, ends_at)
    return SignedIn(
        user=user,
        access_token=tokens.access_token(claims, ends_at=ends_at),
        refresh_token=tokens.refresh_token(claims, session.rotated_at, ends_at=ends_at),
        expires_in=int(min(tokens.ACCESS_LIFETIME, ends_at - now).total_seconds()),
        refresh_expires_in=int((refresh_ends_at - now).total_seconds()),
    )
