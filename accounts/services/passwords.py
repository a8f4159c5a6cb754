"""Changes passwords: with the old one, or with a mailed token."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from accounts.errors import InvalidToken
from accounts.models import EmailedToken, User
from accounts.selectors.emailed_tokens import get_emailed_token
from accounts.services import known_clients, lockout
from accounts.services.account_emails import AccountEmail
from accounts.services.emails import request_email
from accounts.services.password_rules import check_password_rules
from accounts.services.sessions import open_session, release_connection
from accounts.services.users import lock_user, revoke_sessions, take_over
from accounts.services.verification import redeem
from accounts.types import UNKNOWN_CLIENT, Client, SignedIn
from common.errors import ValidationFailed
from server.client_ip import network_of

_RESET = EmailedToken.Purpose.RESET_PASSWORD


@transaction.atomic
def request_reset(*, email: str, client_ip: str = "") -> None:
    """Request a mail with a token to `email`; it is sent if there is an account, and the answer
    does not reveal it."""
    request_email(
        kind=AccountEmail.RESET_PASSWORD,
        address=email.strip().lower(),
        network=network_of(client_ip),
    )


def reset_password(*, token: str, password: str, client: Client = UNKNOWN_CLIENT) -> None:
    """Redeem `token` for a new password, and end all sessions. The holder of the token has the
    address, so it is verified and the client is known: neither the guesses of others nor its own
    failures keep it from signing in. If somebody else may have created the account, it is taken
    over: keys and linked identities end, too.

    Raises InvalidEmailedToken, or ValidationFailed for a weak password, and then keeps the token.
    """
    found = get_emailed_token(_RESET, token)
    check_password_rules(password, found.user)
    release_connection()
    encoded = make_password(password)
    with transaction.atomic():
        user = redeem(found)
        if not user.is_of_its_address:
            take_over(user=user)
        _set_password(user, encoded)
        known_clients.remember(user=user, client=client)
        lockout.forget_own(address=user.email, client=client)


def change_password(
    *,
    user: User,
    current_password: str,
    new_password: str,
    client: Client = UNKNOWN_CLIENT,
) -> SignedIn:
    """Set a new password, end all sessions and open one.

    Raises ValidationFailed for a wrong or weak password, or where there is none to change;
    TooManyAttempts; InvalidToken if the session of the request was ended meanwhile.
    """
    encoded = _checked(user, current_password, new_password, client)
    with transaction.atomic():
        locked = _replace_password(user, encoded)
        return open_session(locked, client)


def change_password_in_admin(
    *, user: User, current_password: str, new_password: str, client: Client = UNKNOWN_CLIENT
) -> User:
    """Like `change_password`, for a visit to the admin, which has no tokens."""
    encoded = _checked(user, current_password, new_password, client)
    with transaction.atomic():
        return _replace_password(user, encoded)


def _checked(user: User, current_password: str, new_password: str, client: Client) -> str:
    """The hash of the new password, after a check of the old one."""
    if not user.has_usable_password():
        raise ValidationFailed.of(
            "current_password", "This account has no password. Ask for a reset mail to set one."
        )
    check_password_rules(new_password, user, field="new_password")

    def is_right() -> bool:
        release_connection()
        return user.check_password(current_password)

    is_known = lockout.verify(is_right, address=user.email, client=client, in_admin=user.is_staff)
    if not is_known:
        raise ValidationFailed.of("current_password", "This is not your password.")
    release_connection()
    return make_password(new_password)


def _replace_password(user: User, encoded: str) -> User:
    """Save the password, unless the request's session was ended meanwhile."""
    locked = lock_user(user)
    if locked.token_version != user.token_version or not locked.is_active:
        raise InvalidToken
    EmailedToken.objects.filter(user=user, purpose=_RESET, used_at=None).update(
        used_at=timezone.now()
    )
    _set_password(locked, encoded)
    return locked


def _set_password(user: User, encoded: str) -> None:
    """Save the locked user with that password, end all sessions and send the user a mail."""
    user.password = encoded
    user.save(update_fields=["password"])
    revoke_sessions(user=user)
    request_email(kind=AccountEmail.PASSWORD_CHANGED, address=user.email)
