"""Ends the calls of a user whose data is to be deleted."""

from contextlib import suppress

from accounts.models import User
from common.errors import NotFound
from council.models import Generation, Status, Turn
from council.services.stopping import stop_session


def close(user: User) -> bool:
    """Stop all councils. Returns whether no call is waited for any more."""
    turns = Turn.objects.filter(session__account=user, status=Status.RUNNING)
    for session_id in set(turns.values_list("session_id", flat=True)):
        with suppress(NotFound):
            stop_session(user=user, session_id=session_id)
    underway = (Status.QUEUED, Status.RUNNING)
    return not Generation.objects.filter(session__account=user, status__in=underway).exists()
