"""Reads the mails of the last hour, to bound their number."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import OutgoingEmail

# Mails of one kind to one address in an hour; more are dropped. The limit also holds for mails with
# a link to one mailbox, except the first in an hour to each address that has an account: a
# stranger's requests for other addresses of the mailbox must not keep back the owner's mail.
MAX_PER_HOUR = 3


def recent_emails() -> QuerySet[OutgoingEmail]:
    """The mails of the last hour."""
    return OutgoingEmail.objects.filter(created_at__gt=timezone.now() - timedelta(hours=1))


def mailed_addresses(email: OutgoingEmail) -> list[str]:
    """The address of each other mail of this kind that its mailbox has received within the hour;
    mails that are tried again count."""
    others = recent_emails().filter(mailbox=email.mailbox, kind=email.kind).exclude(pk=email.pk)
    attempted = others.filter(attempts__gt=0, outcome__in=["", OutgoingEmail.Outcome.SENT])
    return list(attempted.values_list("address", flat=True))
