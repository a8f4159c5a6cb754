"""Signs of life. A worker may be connected and take nothing; its process alone proves nothing."""

from datetime import timedelta

from django.db.models.functions import Now

from jobs.models import Job, QueueHeartbeat

SILENCE = timedelta(seconds=60)


def record(*, queue: str) -> None:
    """Write down that a message of the queue has been taken."""
    QueueHeartbeat.objects.update_or_create(queue=queue, defaults={"seen_at": Now()})


def silent_queues() -> list[str]:
    """The queues of which nobody has taken anything for a minute."""
    alive = QueueHeartbeat.objects.filter(seen_at__gt=Now() - SILENCE).values_list(
        "queue", flat=True
    )
    return sorted(set(Job.Queue.values) - set(alive))
