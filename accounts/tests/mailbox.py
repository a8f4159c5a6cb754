"""What the outbox sends, read as its receiver does."""

import re

from django.core import mail
from django.core.mail import EmailMultiAlternatives

from accounts import tasks


def delivered(address: str = "alice@example.com") -> list[EmailMultiAlternatives]:
    """Let the worker send what is due: the mails that went to `address` by then, the last one
    first. Mails of other tests are none of ours."""
    tasks.send_emails()
    sent = [message for message in reversed(mail.outbox) if message.to == [address]]
    return [message for message in sent if isinstance(message, EmailMultiAlternatives)]


def token_in(message: EmailMultiAlternatives) -> str:
    [token] = re.findall(r"[?]token=([\w-]+)", str(message.body))
    return str(token)


def mailed_token(path: str, address: str = "alice@example.com") -> str:
    """The token of the last mail to `address` whose link leads to that page."""
    messages = delivered(address)
    return next(token_in(message) for message in messages if f"{path}?" in str(message.body))
