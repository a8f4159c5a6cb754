"""The outbox's periodic work. It runs once at a time however many schedulers ask."""

from celery import shared_task

from accounts.services import emails
from common.locks import alone


@shared_task
def send_emails() -> None:
    """Every 3 s: send the mails that are due."""
    with alone("send-emails") as is_alone:
        if is_alone:
            emails.send_due_emails()


@shared_task
def purge_emails() -> None:
    """Every minute: delete mails and tokens whose time is over."""
    with alone("purge-emails") as is_alone:
        if is_alone:
            emails.purge_emails()
