"""Visits to the admin in the audit log. The admin's pages log what operators do there."""

from typing import Any

import structlog
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.http import HttpRequest

from accounts.models import User
from accounts.services.audit_log import record
from accounts.services.known_clients import remember
from accounts.types import Client
from server.client_ip import client_ip_of

log = structlog.get_logger(__name__)


def connect() -> None:
    """Log every visit from now on. Only the admin uses Django's sessions."""
    user_logged_in.connect(_signed_in)
    user_logged_out.connect(_signed_out)


def _signed_in(*, request: HttpRequest, user: User, **_: Any) -> None:
    client_ip = client_ip_of(request)
    log.info("admin.signed_in", user_id=str(user.pk), client_ip=client_ip)
    record(user, f"Signed in from {client_ip or 'an unknown address'}.")
    remember(user=user, client=Client(client_ip))


def _signed_out(*, user: User | None, **_: Any) -> None:
    if user is not None:  # otherwise the visit had ended before
        log.info("admin.signed_out", user_id=str(user.pk))
        record(user, "Signed out.")
