"""The outbox: a mail is requested in the transaction that causes it, and sent by a worker."""

import time
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import transaction
from django.utils import timezone

from accounts.addresses import mailbox_of
from accounts.errors import TooManyEmails
from accounts.models import EmailedToken, OutgoingEmail
from accounts.selectors.outgoing_emails import MAX_PER_HOUR, recent_emails
from accounts.services.email_kinds import get_kind
from common.ids import uuid7
from common.locks import hold
from common.redaction import redact

log = structlog.get_logger(__name__)

# Waiting mails in all. Only a flood, or a worker that is down, reaches this number.
MAX_WAITING = 10_000
# Rows that are kept, without waiting ones.
MAX_KEPT = 100_000
MAX_ATTEMPTS = 5
# Characters of an error that are kept.
MAX_ERROR = 300
CANCELLED = "Cancelled by an operator."
FIRST_RETRY = timedelta(minutes=1)
# Seconds after which a run of the sender starts no other mail.
RUN_SECONDS = 20.0
KEPT = timedelta(days=1)
# Seconds after which a network that has asked for too many mails may try again.
_NETWORK_AGAIN = 3_600

Outcome = OutgoingEmail.Outcome


def request_email(
    *,
    kind: str,
    address: str,
    network: str = "",
    about: UUID | None = None,
    after: timedelta = timedelta(),
) -> bool:
    """Request a mail within the caller's transaction; `network` is that of an unauthenticated
    client, `about` the id of the row that the mail is about. It is sent `after` this time. Known
    and unknown addresses take the same time.

    False where the mail is dropped: the address has got its mails of this kind about this row, or
    the outbox is full. Raises TooManyEmails where the network has requested too many.
    """
    # Requests for one address, or of one network, take turns: two cannot both pass the limit.
    hold("accounts.request_email", address)
    recent = recent_emails()
    if recent.filter(address=address, kind=kind, about=about).count() >= MAX_PER_HOUR:
        return False
    if network:
        hold("accounts.request_email", network)
        if recent.filter(network=network).count() >= settings.MAX_EMAILS_PER_NETWORK:
            raise TooManyEmails(retry_after=_NETWORK_AGAIN)
    waiting = OutgoingEmail.objects.filter(ended_at=None)
    if waiting[:MAX_WAITING].count() >= MAX_WAITING:
        log.error("email.outbox_full", kind=kind)
        return False
    OutgoingEmail.objects.create(
        kind=kind,
        address=address,
        mailbox=mailbox_of(address),
        network=network,
        about=about,
        due_at=timezone.now() + after,
    )
    return True


def send_again(*, email: OutgoingEmail) -> bool:
    """Send a mail again, at once. False where it waits to be sent anyway."""
    ended = OutgoingEmail.objects.filter(pk=email.pk).exclude(ended_at=None)
    return bool(
        ended.update(ended_at=None, outcome="", error="", attempts=0, due_at=timezone.now())
    )


def cancel(*, email: OutgoingEmail) -> bool:
    """Drop a mail that waits to be sent. False where it does not wait. One whose attempt runs just
    now may go out all the same."""
    waiting = OutgoingEmail.objects.filter(pk=email.pk, ended_at=None)
    dropped = waiting.update(ended_at=timezone.now(), outcome=Outcome.DROPPED, error=CANCELLED)
    return bool(dropped)


def send_due_emails() -> None:
    """Send the due mails, one after the other, for at most RUN_SECONDS."""
    stop = time.monotonic() + RUN_SECONDS
    while time.monotonic() < stop and _send_next():
        pass


def purge_emails(*, keep: int = MAX_KEPT) -> None:
    """Delete mails and expired tokens after a day, and mails over the newest `keep` before."""
    now = timezone.now()
    OutgoingEmail.objects.filter(pk__lt=uuid7(now - KEPT)).delete()
    ended = OutgoingEmail.objects.exclude(ended_at=None)
    for newest_surplus in ended.order_by("-pk").values_list("pk", flat=True)[keep:][:1]:
        ended.filter(pk__lte=newest_surplus).delete()
    EmailedToken.objects.filter(expires_at__lt=now - KEPT).delete()


def _send_next() -> bool:
    """Send the mail that has been due for longest. Was there one?

    The next attempt is recorded before this one: if the process dies here, the mail is sent again,
    with another token. No transaction is open while the mail server is used.
    """
    with transaction.atomic():
        email = _take_due()
        if email is None:
            return False
        email.attempts += 1
        email.due_at = timezone.now() + FIRST_RETRY * 4 ** (email.attempts - 1)
        email.save(update_fields=["attempts", "due_at"])
    try:
        kind = get_kind(email.kind)
        message = kind.compose(kind, email)
        if message is not None:
            message.send()
    except (OSError, DatabaseError) as error:  # smtplib's own errors are OSErrors, too
        _note_failure(email, error)
    except Exception as error:  # an error of one mail must not delay the next ones
        log.exception("email.broken", id=str(email.pk), kind=email.kind)
        _give_up(email, error)
    else:
        _end(email, Outcome.DROPPED if message is None else Outcome.SENT)
    return True


def _take_due() -> OutgoingEmail | None:
    due = OutgoingEmail.objects.filter(ended_at=None, due_at__lte=timezone.now())
    return due.select_for_update(skip_locked=True).order_by("due_at").first()


def _note_failure(email: OutgoingEmail, error: Exception) -> None:
    """Schedule another attempt, unless that was the last."""
    if email.attempts >= MAX_ATTEMPTS:
        _give_up(email, error)
        return
    email.error = _text_of(error)
    email.save(update_fields=["error"])
    log.warning(
        "email.not_sent",
        id=str(email.pk),
        kind=email.kind,
        error=email.error,
        attempt=email.attempts,
    )


def _give_up(email: OutgoingEmail, error: Exception) -> None:
    _end(email, Outcome.FAILED, error=_text_of(error))
    log.error("email.given_up", id=str(email.pk), kind=email.kind, error=email.error)


def _text_of(error: Exception) -> str:
    return redact(str(error))[:MAX_ERROR]


def _end(email: OutgoingEmail, outcome: OutgoingEmail.Outcome, *, error: str = "") -> None:
    email.ended_at, email.outcome, email.error = timezone.now(), outcome, error
    email.save(update_fields=["ended_at", "outcome", "error"])
