"""Heartbeats of queues: a worker may be connected and take nothing, so a living process is no
proof."""

from datetime import timedelta

from django.db.models.functions import Now

from work.jobs.models import Job, QueueHeartbeat

SILENCE = timedelta(seconds=60)


def record(*, queue: str) -> None:
    """Record that a message of the queue was taken."""
    QueueHeartbeat.objects.update_or_create(queue=queue, defaults={"seen_at": Now()})


def silent_queues() -> list[str]:
    """The queues of which no message was taken for a minute."""
    alive = QueueHeartbeat.objects.filter(seen_at__gt=Now() - SILENCE).values_list(
        "queue", flat=True
    )
    return sorted(set(Job.Queue.values) - set(alive))
