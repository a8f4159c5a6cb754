"""Signs of life. A worker may be connected and take nothing; its process alone proves nothing."""

from datetime import timedelta

from django.db.models.functions import Now

from jobs.models import Canary, Job

SILENCE = timedelta(seconds=60)


def sing(*, queue: str) -> None:
    """Write down that a message of the queue has been taken."""
    Canary.objects.update_or_create(queue=queue, defaults={"sang_at": Now()})


def silent_queues() -> list[str]:
    """The queues of which nobody has taken anything for a minute."""
    alive = Canary.objects.filter(sang_at__gt=Now() - SILENCE).values_list("queue", flat=True)
    return sorted(set(Job.Queue.values) - set(alive))
