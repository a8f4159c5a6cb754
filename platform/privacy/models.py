"""Exports of accounts' data, and requests to delete it."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7
from media.files.models import StoredFile


class Export(models.Model):
    """A file with everything that an account has. Its id is that of the job that makes it.

    `file` and `size`, in bytes, are set with its completion. From `expires_at` on the file is
    purged.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        COMPLETED = "completed"
        FAILED = "failed"

    OPEN = (Status.QUEUED, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    status = models.CharField(max_length=16, choices=Status.choices, db_default=Status.QUEUED)
    file = models.ForeignKey(
        StoredFile, on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    size = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account"],
                condition=Q(status__in=("queued", "running")),
                name="one_open_export",
            )
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="export_newest_first"),
            models.Index(fields=["file"], condition=Q(file__isnull=False), name="export_by_file"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class Deletion(models.Model):
    """The deletion of an account's data, which an operator has requested. It has ended when all is
    deleted; until then `waits_for` says what it waits for, if anything. `rewritten` has the last
    mark of each `common.ownership.Rewriting`, by the name of its model."""

    account = models.OneToOneField(
        User, on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    requested_at = models.DateTimeField(db_default=Now())
    waits_for = models.CharField(max_length=100, blank=True, db_default="")
    rewritten = models.JSONField(default=dict, db_default={})
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["requested_at"], condition=Q(ended_at=None), name="deletion_open"),
        ]

    def __str__(self) -> str:
        return f"Deletion of {self.account_id}"
