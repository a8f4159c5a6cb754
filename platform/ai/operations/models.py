"""How far the operations of providers have come."""

from django.db import models
from django.db.models import Q

from ai.operations.types import State
from work.jobs.models import Job

_AT_THE_PROVIDER = (State.RUNNING.value, State.CANCELLING.value, State.FETCHING.value)


class Operation(models.Model):
    """Work that a provider does for a job. The job, its charge and the operation have one id, which
    is also our reference at the provider.

    `request` is what the app needs to describe the call again. The other columns are explained at
    `ai.operations.types`; a worker saves them after each step (`sql/10_operations.sql`).
    `is_unreconciled` is for operators: nothing was billed, but the provider may bill us.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="+")
    provider = models.CharField(max_length=32)
    request = models.JSONField()
    state = models.CharField(
        max_length=16,
        choices=[(state.value, state.value) for state in State],
        db_default=State.PLANNED.value,
    )
    provider_id = models.CharField(max_length=255, blank=True, db_default="")
    submitted_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField()
    is_cancelled = models.BooleanField(db_default=False)
    progress = models.FloatField(null=True)
    failures = models.PositiveIntegerField(db_default=0)
    unknowns = models.PositiveIntegerField(db_default=0)
    result = models.JSONField(null=True)
    is_unreconciled = models.BooleanField(db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=_AT_THE_PROVIDER) | ~Q(provider_id=""),
                name="operation_has_provider_id",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.FETCHING.value) | Q(result__isnull=False),
                name="operation_has_result",
            ),
        ]
        indexes = [
            models.Index(
                fields=["job"], condition=Q(is_unreconciled=True), name="operation_unreconciled"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.pk}"
