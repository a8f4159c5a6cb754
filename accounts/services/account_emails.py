"""The mails of accounts: links that verify an address or reset a password, and warnings."""

from datetime import timedelta
from enum import StrEnum

from django.core.mail import EmailMultiAlternatives
from django.utils import timezone

from accounts import emailed_tokens
from accounts.models import EmailedToken, OutgoingEmail, User
from accounts.selectors.outgoing_emails import MAX_PER_HOUR, mailed_addresses
from accounts.services import email_kinds
from accounts.services.email_kinds import EmailKind
from common import link_tokens


class AccountEmail(StrEnum):
    """The names of these kinds of mail; of a kind with a token it is also the token's purpose."""

    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"  # noqa: S105
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    PASSWORD_GUESSED = "password_guessed"  # noqa: S105
    CODE_GUESSED = "code_guessed"


def _to_address(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives:
    """A mail that is sent whatever has happened to the account since."""
    return email_kinds.render(kind, email.address)


def _to_account(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives | None:
    """A mail to the user of an active account."""
    return _to_address(kind, email) if _recipient(email) else None


def _with_token(kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives | None:
    """A mail whose link carries a new token, unless the mailbox is full."""
    user = _recipient(email)
    if user is None or _mailbox_is_full(email):
        return None
    purpose = EmailedToken.Purpose(kind.name)
    if purpose == EmailedToken.Purpose.VERIFY_EMAIL and user.is_of_its_address:
        return None
    token, lifetime = link_tokens.generate(), emailed_tokens.LIFETIMES[purpose]
    EmailedToken.objects.create(
        user=user,
        purpose=purpose,
        email=user.email,
        digest=emailed_tokens.digest(token),
        expires_at=timezone.now() + lifetime,
    )
    hours = lifetime // timedelta(hours=1)
    return email_kinds.render(kind, user.email, token=token, hours=hours)


def _recipient(email: OutgoingEmail) -> User | None:
    """The user of that address, if the account is active."""
    return User.objects.filter(email=email.address, status=User.Status.ACTIVE).first()


def _mailbox_is_full(email: OutgoingEmail) -> bool:
    """Has the mailbox received its mails of this kind within the hour, and the address one of
    them?"""
    addresses = mailed_addresses(email)
    return len(addresses) >= MAX_PER_HOUR and email.address in addresses


_KINDS = (
    (AccountEmail.VERIFY_EMAIL, "Confirm your e-mail address", "/verify-email", _with_token),
    (AccountEmail.RESET_PASSWORD, "Choose a new password", "/reset-password", _with_token),
    (AccountEmail.PASSWORD_CHANGED, "Your password was changed", "/forgot-password", _to_address),
    (
        AccountEmail.PASSWORD_GUESSED,
        "Wrong passwords for your account",
        "/forgot-password",
        _to_account,
    ),
    (AccountEmail.CODE_GUESSED, "Somebody knows your password", "/forgot-password", _to_account),
)


def register_kinds() -> None:
    """Register these kinds with the outbox."""
    for name, subject, page, compose in _KINDS:
        template = f"accounts/emails/{name}"
        email_kinds.register(EmailKind(name, subject, page, template, compose))
