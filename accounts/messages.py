"""The mails: text and HTML, from the templates in templates/accounts/emails/.

They contain no text from users: otherwise somebody who signs up with a stranger's address could
have the service send their own text to that stranger.
"""

from datetime import timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from accounts.emailed_tokens import LIFETIMES
from accounts.models import EmailedToken, OutgoingEmail

SUBJECTS = {
    OutgoingEmail.Kind.VERIFY_EMAIL: "Confirm your e-mail address",
    OutgoingEmail.Kind.RESET_PASSWORD: "Choose a new password",
    OutgoingEmail.Kind.PASSWORD_CHANGED: "Your password was changed",
    OutgoingEmail.Kind.PASSWORD_GUESSED: "Wrong passwords for your account",
    OutgoingEmail.Kind.CODE_GUESSED: "Somebody knows your password",
}
# Pages of the web app.
PATHS = {
    OutgoingEmail.Kind.VERIFY_EMAIL: "/verify-email",
    OutgoingEmail.Kind.RESET_PASSWORD: "/reset-password",
    OutgoingEmail.Kind.PASSWORD_CHANGED: "/forgot-password",
    OutgoingEmail.Kind.PASSWORD_GUESSED: "/forgot-password",
    OutgoingEmail.Kind.CODE_GUESSED: "/forgot-password",
}


def with_token(
    kind: OutgoingEmail.Kind, address: str, purpose: EmailedToken.Purpose, token: str
) -> EmailMultiAlternatives:
    """The mail whose link carries `token`."""
    link = f"{_page(kind)}?{urlencode({'token': token})}"
    return _message(kind, address, link=link, hours=LIFETIMES[purpose] // timedelta(hours=1))


def without_token(kind: OutgoingEmail.Kind, address: str) -> EmailMultiAlternatives:
    """A mail without a token; its link leads to a page of the web app."""
    return _message(kind, address, link=_page(kind))


def _page(kind: OutgoingEmail.Kind) -> str:
    base: str = settings.WEB_APP_URL
    return base.rstrip("/") + PATHS[kind]


def _message(kind: OutgoingEmail.Kind, address: str, **context: object) -> EmailMultiAlternatives:
    context |= {"address": address, "product": settings.PRODUCT_NAME, "subject": SUBJECTS[kind]}
    message = EmailMultiAlternatives(
        subject=f"{SUBJECTS[kind]} - {settings.PRODUCT_NAME}",
        body=render_to_string(f"accounts/emails/{kind}.txt", context),
        to=[address],
        # Automatic replies must not answer it (RFC 3834).
        headers={"Auto-Submitted": "auto-generated"},
    )
    message.attach_alternative(
        render_to_string(f"accounts/emails/{kind}.html", context), "text/html"
    )
    return message
