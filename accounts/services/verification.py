"""Verifies addresses by mailed tokens."""

from django.db import transaction
from django.utils import timezone

from accounts.errors import InvalidEmailedToken
from accounts.models import EmailedToken, User
from accounts.selectors.emailed_tokens import get_emailed_token
from accounts.services.account_emails import AccountEmail
from accounts.services.emails import request_email
from accounts.services.users import lock_user

_VERIFY = EmailedToken.Purpose.VERIFY_EMAIL


@transaction.atomic
def request_verification(*, user: User) -> None:
    """Request a mail with a new token, unless there were several already."""
    request_email(kind=AccountEmail.VERIFY_EMAIL, address=user.email)


def verify_email(*, token: str, signed_in: User | None) -> User:
    """Redeem `token`: the address of its user is verified. A person who follows the link without
    being signed in need not be the holder of the account.

    Raises InvalidEmailedToken, also where another user is signed in; then the token stays usable.
    """
    found = get_emailed_token(_VERIFY, token)
    if signed_in is not None and signed_in.pk != found.user_id:
        raise InvalidEmailedToken
    with transaction.atomic():
        user = redeem(found)
        user.verified_by_holder = user.is_of_its_address or signed_in is not None
        user.email_verified = True
        user.save(update_fields=["email_verified", "verified_by_holder"])
    return user


def confirm_holder(user: User) -> None:
    """Note that the locked user, whose address is verified, has proved both to read its mail and to
    hold the account, for example by an invitation that was mailed to it."""
    if not user.verified_by_holder:
        user.verified_by_holder = True
        user.save(update_fields=["verified_by_holder"])


def redeem(token: EmailedToken) -> User:
    """Use up `token` and all others of its user and purpose; returns the user, locked.

    Of several at once, one wins. Within the caller's transaction. Raises InvalidEmailedToken.
    """
    user = lock_user(token.user)
    tokens = EmailedToken.objects.filter(user=user, purpose=token.purpose, used_at=None)
    # Checked again, now that nobody else can use it or change its user.
    if not tokens.usable().filter(pk=token.pk).exists():
        raise InvalidEmailedToken
    tokens.update(used_at=timezone.now())
    return user
