"""The kinds of mail. An app registers its kinds when it is ready, as it does its kinds of jobs.

The subject of a kind, its templates and its page of the web app belong to the app of the kind.
Mails contain no text from users: otherwise somebody who signs up with a stranger's address, or
invites it, could have the service send their own text to that stranger.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from accounts.models import OutgoingEmail


@dataclass(frozen=True, slots=True)
class EmailKind:
    """A kind of mail. `page` is the page that its link leads to; the texts are the templates
    `template` with the endings `.txt` and `.html`.

    `compose` writes a mail at each attempt to send it, in a transaction of its own where it has to
    write rows, and returns None where the mail is not to be sent any more.
    """

    name: str
    subject: str
    page: str
    template: str
    compose: Callable[["EmailKind", OutgoingEmail], EmailMultiAlternatives | None]


_kinds: dict[str, EmailKind] = {}


def register(kind: EmailKind) -> None:
    """Register a kind; outgoing mails have its name."""
    _kinds[kind.name] = kind


def get_kind(name: str) -> EmailKind:
    """The kind of that name. Raises KeyError."""
    return _kinds[name]


def kind_names() -> list[str]:
    """The names of all kinds that are registered in this process."""
    return list(_kinds)


def render(
    kind: EmailKind, address: str, *, token: str = "", **context: object
) -> EmailMultiAlternatives:
    """A message of that kind; its link carries the token, if there is one."""
    base: str = settings.WEB_APP_URL
    link = base.rstrip("/") + kind.page
    if token:
        link += f"?{urlencode({'token': token})}"
    product = settings.PRODUCT_NAME
    context |= {"address": address, "link": link, "product": product, "subject": kind.subject}
    message = EmailMultiAlternatives(
        subject=f"{kind.subject} - {product}",
        body=render_to_string(f"{kind.template}.txt", context),
        to=[address],
        # Automatic replies must not answer it (RFC 3834).
        headers={"Auto-Submitted": "auto-generated"},
    )
    message.attach_alternative(render_to_string(f"{kind.template}.html", context), "text/html")
    return message
