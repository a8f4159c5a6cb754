"""The periodic work of accounts. It runs once at a time however many schedulers start it."""

from celery import shared_task

from accounts.services import emails, identities, known_clients, lockout, sessions
from common.locks import alone


@shared_task
def send_emails() -> None:
    """Every 3 s: send the mails that are due."""
    with alone("send-emails") as is_alone:
        if is_alone:
            emails.send_due_emails()


@shared_task
def purge_expired() -> None:
    """Every minute: delete expired mails, tokens, sessions, failures and clients."""
    with alone("purge-sign-ins-and-mails") as is_alone:
        if is_alone:
            emails.purge_emails()
            sessions.purge_sessions()
            identities.purge_used_id_tokens()
            lockout.purge_failures()
            known_clients.purge_known_clients()
