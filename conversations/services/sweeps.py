"""What becomes of the logs of replies."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from conversations.types import STREAM
from events.services import delete_streams
from jobs.models import Job

# By then whoever followed a reply to its end has it, and the text is in its row.
KEPT = timedelta(minutes=10)


def purge_ended_streams(*, limit: int = 1000) -> int:
    """Delete the logs of replies that ended some minutes ago, those of deleted conversations too.
    Returns how many."""
    is_needed = Q(ended_at=None) | Q(ended_at__gt=Now() - KEPT)
    jobs = Job.objects.filter(is_needed, pk=OuterRef("pk"))
    return delete_streams(kind=STREAM, unless=Exists(jobs), limit=limit)
