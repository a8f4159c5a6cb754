"""Mails of the local default: written to the log of the worker, after a line that says it all."""

import re

from django.core.mail import EmailMessage
from django.core.mail.backends import console

PREFIX = "Mail to "
_LINK = re.compile(r"https?://\S+")


class EmailBackend(console.EmailBackend):
    """Django's own, which writes the whole mail, with a line before it: to whom, what, which
    link."""

    def write_message(self, message: EmailMessage) -> None:
        self.stream.write(f"{summary(message)}\n")
        super().write_message(message)


def summary(message: EmailMessage) -> str:
    """One line."""
    link = _LINK.search(str(message.body))
    parts = [f"{PREFIX}{', '.join(message.to)}", str(message.subject)]
    return ": ".join([*parts, link[0]] if link else parts)
