"""Generation jobs of the studios, and what they have made."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7
from media.files.models import StoredFile, Upload
from studios.types import Kind, Status


class Generation(models.Model):
    """A user's order of pictures, a clip or a 3D asset. Its id is that of its job, its operation
    and its charge. Every change locks this row first.

    `params` are what the model takes besides the prompt, as the catalog describes them. `parent` is
    the job whose result this one extends or refines, null where that was deleted. `progress` is in
    percent, null where the provider tells none. `seconds` is the length of the whole clip; its
    first `lead_seconds` are in the file of the parent alone.
    `reference` is what the provider knows the result by. A job that is deleted at its provider
    stays, hidden and without its order, for its charge.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    model = models.CharField(max_length=100)
    prompt = models.TextField(blank=True)
    params = models.JSONField(default=dict)
    parent = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="children"
    )
    is_extension = models.BooleanField(default=False)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.QUEUED.value)
    progress = models.PositiveSmallIntegerField(null=True)
    seconds = models.FloatField(null=True)
    lead_seconds = models.FloatField(default=0.0)
    reference = models.TextField(blank=True)
    error = models.JSONField(null=True)
    starred = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "kind", "-id"],
                condition=Q(deleted_at=None),
                name="generation_newest_first",
            ),
            models.Index(fields=["account"], condition=Q(ended_at=None), name="generation_open"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_open(self) -> bool:
        """Is its end still to come?"""
        return self.ended_at is None


class GenerationOutput(models.Model):
    """A result of a job, in its order. `file` is null once it was taken down or has expired;
    `width` and `height` are in pixels, `seconds` is the length of a clip. `seed` is the number that
    it can be repeated with, null where nobody knows it."""

    id = models.BigAutoField(primary_key=True)
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="outputs")
    position = models.PositiveSmallIntegerField()
    file = models.ForeignKey(StoredFile, null=True, on_delete=models.SET_NULL, related_name="+")
    thumbnail = models.ForeignKey(
        StoredFile, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(null=True)
    seed = models.BigIntegerField(null=True)
    starred = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "position"], name="one_output_at_a_position"
            )
        ]
        indexes = [
            models.Index(
                fields=["generation"], condition=Q(starred=True), name="generationoutput_starred"
            )
        ]

    def __str__(self) -> str:
        return f"{self.generation_id}/{self.position}"


class ReferencePicture(models.Model):
    """An upload that goes with a job: its parameters name it."""

    id = models.BigAutoField(primary_key=True)
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="references")
    # The relation has a name: uploads look for what refers to them (media.files.services.uploads).
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="references")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "upload"], name="a_picture_goes_with_a_job_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.generation_id} {self.upload_id}"
