"""The periodic work of accounts. It runs once at a time however many schedulers start it."""

from accounts.services import emails, identities, known_clients, lockout, sessions
from common.sweeps import sweep


@sweep("send-emails")
def send_emails() -> None:
    """Every 3 s: send the mails that are due."""
    emails.send_due_emails()


@sweep("purge-sign-ins-and-mails")
def purge_expired() -> None:
    """Every minute: delete expired mails, tokens, sessions, failures and clients."""
    emails.purge_emails()
    sessions.purge_sessions()
    identities.purge_used_id_tokens()
    lockout.purge_failures()
    known_clients.purge_known_clients()
