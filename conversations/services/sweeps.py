"""Deletes the logs of ended replies."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from conversations.types import STREAM
from events.services import delete_streams
from work.jobs.models import Job

# By then the readers who followed a reply to its end have it, and the text is in its row.
KEPT = timedelta(minutes=10)
# Logs in one statement, and statements in a row: more than all servers write in a minute.
LIMIT = 1000
TIMES = 30


def purge_all_ended_streams(*, limit: int = LIMIT) -> int:
    """Run `purge_ended_streams` until nothing is left, or the limit is reached."""
    purged = 0
    for _ in range(TIMES):
        count = purge_ended_streams(limit=limit)
        purged += count
        if count < limit:
            break
    return purged


def purge_ended_streams(*, limit: int = LIMIT) -> int:
    """Delete the logs of replies that ended some minutes ago, those of deleted conversations too.
    Returns how many."""
    is_needed = Q(ended_at=None) | Q(ended_at__gt=Now() - KEPT)
    jobs = Job.objects.filter(is_needed, pk=OuterRef("pk"))
    return delete_streams(kind=STREAM, unless=Exists(jobs), limit=limit)
