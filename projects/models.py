"""Runs of projects: their subtasks, the attempts at these, the calls to models, and what they made.

Every change of a run locks the run's row first. Paths, keys and texts come from models: they are
checked where they are read (`projects.plans`, `projects.outputs`).
"""

from enum import StrEnum

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7
from files.models import Upload
from projects.types import (
    AssignedBy,
    AttemptReason,
    Outcome,
    PauseReason,
    Phase,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)


def _choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]


class Run(models.Model):
    """One project run: a goal, and everything that is done for it. Its id is also that of its event
    stream, of its inbox, and of the group of its charges where it has a budget.

    `roster` are the ids of the models that it may call; empty for all that its user may call.
    `budget` is nano-USD. `needs_approval`: the plan waits for its user. `bad_plans` counts the
    answers of the planner that were no plan. `answered` is the number of the newest message that
    the planner has answered, `returned` are those of messages that were handed back. `has_final`
    says whether the final text is written (True) or has failed (False). Losses and refusals of
    steps before `resumed_at` do not count.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    title = models.CharField(max_length=200)
    goal = models.TextField()
    status = models.CharField(
        max_length=16, choices=_choices(RunStatus), default=RunStatus.QUEUED.value
    )
    phase = models.CharField(max_length=16, choices=_choices(Phase), default=Phase.PLANNING.value)
    pause_reason = models.CharField(max_length=32, choices=_choices(PauseReason), blank=True)
    error = models.JSONField(null=True)
    roster = models.JSONField(default=list)
    planner_model = models.CharField(max_length=64)
    reviewer_model = models.CharField(max_length=64, blank=True)
    max_subtasks = models.PositiveSmallIntegerField()
    max_parallel = models.PositiveSmallIntegerField()
    reviews = models.BooleanField(default=True)
    budget = models.BigIntegerField(null=True)
    has_plan = models.BooleanField(default=False)
    needs_approval = models.BooleanField(default=False)
    bad_plans = models.PositiveSmallIntegerField(default=0)
    plan_title = models.CharField(max_length=200, blank=True)
    plan_summary = models.TextField(blank=True)
    final_instructions = models.TextField(blank=True)
    answered = models.PositiveIntegerField(default=0)
    returned = models.JSONField(default=list)
    has_final = models.BooleanField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    resumed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["account", "-id"], name="run_newest_first"),
            models.Index(
                fields=["account"], condition=Q(status__in=("queued", "running")), name="run_open"
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class RunUpload(models.Model):
    """A file that its user has given to a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="uploads")
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="runs")

    def __str__(self) -> str:
        return f"{self.run_id} {self.upload_id}"


class Subtask(models.Model):
    """A part of a run's work.

    `position` is its place in the topological order. `reason` is that of its next attempt; `notes`
    are those of the user and the planner, `[{"from": "user", "text": "..."}]`. `is_stale`: a
    dependency has changed since its last attempt. `needs_attention`: its review was not content, or
    could not be made.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="subtasks")
    position = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=32)
    title = models.CharField(max_length=200)
    instructions = models.TextField()
    acceptance = models.JSONField(default=list)
    depends_on = models.JSONField(default=list)
    output = models.CharField(max_length=200, blank=True)
    writes = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    model = models.CharField(max_length=64)
    assigned_by = models.CharField(max_length=16, choices=_choices(AssignedBy))
    status = models.CharField(
        max_length=16, choices=_choices(SubtaskStatus), default=SubtaskStatus.QUEUED.value
    )
    reason = models.CharField(
        max_length=16, choices=_choices(AttemptReason), default=AttemptReason.INITIAL.value
    )
    is_stale = models.BooleanField(default=False)
    needs_attention = models.BooleanField(default=False)
    error = models.JSONField(null=True)
    current = models.OneToOneField(
        "Attempt", null=True, on_delete=models.SET_NULL, related_name="current_of"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="subtask_keys_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.key}"


class Attempt(models.Model):
    """One result of a subtask, by a model or, where `reason` is `replace`, by the user.

    `faults` are the files that were left out, `[{"path", "message"}]`; `review` is what the
    reviewer wrote, `{"model", "points", "issues"}`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subtask = models.ForeignKey(Subtask, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    reason = models.CharField(max_length=16, choices=_choices(AttemptReason))
    model = models.CharField(max_length=64, blank=True)
    status = models.CharField(
        max_length=16, choices=_choices(SubtaskStatus), default=SubtaskStatus.RUNNING.value
    )
    body = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    faults = models.JSONField(default=list)
    verdict = models.CharField(max_length=16, choices=_choices(Verdict), blank=True)
    review = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subtask", "number"], name="attempt_numbers_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.subtask_id} {self.number}"


class AttemptFile(models.Model):
    """A file that an attempt writes or deletes. `size` is in bytes."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=400)
    op = models.CharField(max_length=8)
    content = models.TextField(blank=True)
    size = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "path"], name="attempt_paths_are_unique")
        ]

    def __str__(self) -> str:
        return self.path


class Step(models.Model):
    """One call to a model. Its id is also that of its job and of its charge, so its usage and cost
    are stored with the charge alone.

    `content` is the text of the model, written when the step has ended; until then the text is in
    the events from `first_seq` on. `outcome` says what the end means for the run; it is empty while
    the step is queued or runs. `beside_others`: other steps were active when this one was refused.
    `result` has the `sections` of the prompt, by their headings, and what was read in the text:
    the `faults` of an answer that is no plan; the `reply` to the messages up to number `answers`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    subtask = models.ForeignKey(Subtask, null=True, on_delete=models.CASCADE, related_name="steps")
    attempt = models.ForeignKey(Attempt, null=True, on_delete=models.SET_NULL, related_name="steps")
    kind = models.CharField(max_length=16, choices=_choices(StepKind))
    model = models.CharField(max_length=64)
    status = models.CharField(
        max_length=16, choices=_choices(SubtaskStatus), default=SubtaskStatus.QUEUED.value
    )
    outcome = models.CharField(max_length=16, choices=_choices(Outcome), blank=True)
    beside_others = models.BooleanField(default=False)
    content = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=16, blank=True)
    error = models.JSONField(null=True)
    result = models.JSONField(default=dict)
    first_seq = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["run"], condition=Q(ended_at=None), name="step_active"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Deliverable(models.Model):
    """A text that a run has made: one for each completed subtask, and the final one, which has no
    subtask. `version` counts how often it was written, `size` its characters."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliverables")
    subtask = models.OneToOneField(
        Subtask, null=True, on_delete=models.CASCADE, related_name="deliverable"
    )
    name = models.CharField(max_length=200)
    content = models.TextField()
    size = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
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
