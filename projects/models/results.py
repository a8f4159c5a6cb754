"""What runs have made, and what became of it in their repositories."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from common.ids import uuid7
from projects.models.runs import AttemptFile, Run, Subtask, choices_of
from projects.types import MergeState


class Deliverable(models.Model):
    """A text that a run has made: one for each completed subtask, and the final one, which has no
    subtask. `version` counts how often it was written, `size` its characters. `is_cut`: the model
    ended it early."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliverables")
    subtask = models.OneToOneField(
        Subtask, null=True, on_delete=models.CASCADE, related_name="deliverable"
    )
    name = models.CharField(max_length=200)
    content = models.TextField()
    size = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    is_cut = models.BooleanField(default=False)
    is_final = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run"], condition=Q(subtask=None), name="one_final_deliverable"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Apply(models.Model):
    """A user's order to write staged files to the repository: one commit at most, whose message has
    its id as the trailer `Apply-Id`.

    Nobody else applies until `claim_until`, and nothing is written after it; sooner where the lease
    of the process `owner_id` has ended, and nothing was announced or the host has the commit. It is
    null where a sweep has asked a host that did not answer.
    `commit` is what was announced before the branch was changed, "" where the host had given no id
    yet. `files` are those of the result, `[{path, op, runs_ci, status, merged, error,
    file_ids}]`, of which the first id is that of the file that was written. Orders of releases that
    did not have `runs_ci` and `merged` lack them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="applies")
    target = models.CharField(max_length=8)
    branch = models.CharField(max_length=200)
    message = models.TextField()
    wants_pull_request = models.BooleanField(default=False)
    owner_id = models.UUIDField(null=True)
    claim_until = models.DateTimeField()
    announced_at = models.DateTimeField(null=True)
    commit = models.CharField(max_length=64, blank=True)
    commit_url = models.CharField(max_length=1_200, blank=True)
    pull_request_url = models.CharField(max_length=1_200, blank=True)
    files = models.JSONField(default=list)
    error = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["run"], condition=Q(ended_at=None), name="apply_open"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class FileMerge(models.Model):
    """What became of a staged file that somebody else has changed in the repository since its
    author has seen it.

    `sha` is Git's id of their version, empty where it is gone, and `theirs` its text. `text` is
    what the `order` has written where it could be `merged`, and of a `conflict` both sides between
    conflict markers. Texts are null where there is none. `has_base`: the file was made from the
    version `base_sha` with the text `base`, as a conflict was resolved, and not from the one of the
    run's commit.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # The constraints are those of the migration, with which the database deletes the rows.
    file = models.OneToOneField(
        AttemptFile, on_delete=models.CASCADE, related_name="merge", db_constraint=False
    )
    order = models.ForeignKey(
        Apply, null=True, on_delete=models.CASCADE, related_name="merges", db_constraint=False
    )
    state = models.CharField(max_length=16, choices=choices_of(MergeState))
    sha = models.CharField(max_length=64, blank=True)
    theirs = models.TextField(null=True)  # noqa: DJ001 - an empty file is a text
    text = models.TextField(null=True)  # noqa: DJ001 - as above
    has_base = models.BooleanField(default=False)
    base_sha = models.CharField(max_length=64, blank=True)
    base = models.TextField(null=True)  # noqa: DJ001 - as above

    def __str__(self) -> str:
        return f"{self.state} {self.file_id}"
