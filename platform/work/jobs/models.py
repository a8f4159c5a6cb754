"""Jobs, which a worker runs after their request has been answered; and the heartbeats of the
queues."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7


class Job(models.Model):
    """One piece of work. The row is the truth; a message with its id only makes it start sooner.

    `kind` names the handler. A claim sets `owner_id`, the process whose lease keeps the job, and
    increments `attempt`: every write for the job names its attempt, so that a process that has lost
    the job writes nothing. `appends` counts the appends of the attempt to streams. `signal` is the
    user's request to the running job. `losses` counts how often it was lost and started again.

    A job that waits for something outside is `scheduled`: at `due_at` any worker continues it. It
    never goes back to the queue, because what it has begun outside has to be ended in order.
    `provider` names whom it asks then, if anybody: workers together claim only so many due jobs of
    one provider in a second (MAX_POLLS_PER_SECOND).

    `traceparent` is the span that has queued the job (W3C Trace Context), if there was one.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SCHEDULED = "scheduled"
        PAUSED = "paused"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Signal(models.TextChoices):
        NONE = ""
        PAUSE = "pause"
        CANCEL = "cancel"

    class Queue(models.TextChoices):
        INTERACTIVE = "interactive"
        MEDIA = "media"
        DEFAULT = "default"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=32)
    queue = models.CharField(max_length=16, choices=Queue.choices)
    provider = models.CharField(max_length=32, blank=True, db_default="")
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    status = models.CharField(max_length=16, choices=Status.choices, db_default=Status.QUEUED)
    signal = models.CharField(
        max_length=8, choices=Signal.choices, blank=True, db_default=Signal.NONE
    )
    attempt = models.PositiveIntegerField(db_default=0)
    appends = models.PositiveIntegerField(db_default=0)
    losses = models.PositiveSmallIntegerField(db_default=0)
    owner_id = models.UUIDField(null=True)
    traceparent = models.CharField(max_length=55, blank=True, db_default="")
    queued_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["queue", "queued_at"], condition=Q(status="queued"), name="job_queued"
            ),
            models.Index(
                fields=["queue", "due_at"], condition=Q(status="scheduled"), name="job_scheduled"
            ),
            models.Index(
                fields=["provider", "started_at"],
                condition=~Q(provider="") & Q(attempt__gt=1),
                name="job_continued",
            ),
            models.Index(fields=["owner_id"], condition=Q(status="running"), name="job_running"),
            models.Index(
                fields=["account"], condition=Q(ended_at__isnull=True), name="job_of_account"
            ),
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="job_ended"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class QueueHeartbeat(models.Model):
    """When a worker last took the task that is put into each queue every ten seconds."""

    queue = models.CharField(max_length=16, primary_key=True)
    seen_at = models.DateTimeField()
