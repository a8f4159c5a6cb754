"""Visits to the admin in the audit log. What operators do there is logged by its pages."""

from datetime import timedelta
from typing import Any

import structlog
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from common.client_ip import client_ip_of

log = structlog.get_logger(__name__)

# For how long a client is remembered as somebody's own.
KNOWN_FOR = timedelta(days=90)


def connect() -> None:
    """Write down every visit from now on. Only the admin uses Django's sessions."""
    user_logged_in.connect(_signed_in)
    user_logged_out.connect(_signed_out)


def _signed_in(*, request: HttpRequest, user: User, **_: Any) -> None:
    client_ip = client_ip_of(request)
    log.info("admin.signed_in", user_id=str(user.pk), client_ip=client_ip)
    record(user, _visit_from(client_ip))


def _signed_out(*, user: User | None, **_: Any) -> None:
    if user is not None:  # else the visit had ended before
        log.info("admin.signed_out", user_id=str(user.pk))
        record(user, "Signed out.")


def has_signed_in_from(*, address: str, client_ip: str) -> bool:
    """Did the operator of that address enter the admin from that client lately?"""
    visits = LogEntry.objects.filter(
        user__email=address,
        change_message=_visit_from(client_ip),
        action_time__gt=timezone.now() - KNOWN_FOR,
    )
    return visits.exists()


def _visit_from(client_ip: str) -> str:
    return f"Signed in from {client_ip or 'an unknown address'}."


def record(user: User, message: str) -> None:
    """An entry by the user and about the user."""
    LogEntry.objects.log_actions(user.pk, [user], CHANGE, message, single_object=True)
