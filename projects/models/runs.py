"""Runs, their subtasks, the attempts at these, and the calls to models."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.functional import cached_property

from accounts.models import User
from common.ids import uuid7
from events.inbox import read_all
from events.types import InboxState
from integrations.workspaces.models import Checkout
from media.files.models import Upload
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


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """The choices of a column that has one of these words."""
    return [(word.value, word.value) for word in words]


class Run(models.Model):
    """One project run: a goal, and everything that is done for it. Its id is also that of its event
    stream, of its inbox, and of the group of its charges.

    `checkout` is the repository that it works on. `roster` are the ids of the models that it may
    call; empty for all that its user may call. `request_id` is that of the request that began it,
    which its charges have, too.
    `budget` is nano-USD. `needs_approval`: the plan waits for its user. `bad_plans` counts the
    answers of the planner that were no plan. `answered` is the number of the newest message that
    the planner has answered, `returned` are those of messages that were handed back. `has_final`:
    the final text is written; it is False only in runs of an earlier release, whose final text
    failed. `is_finishing`: its user wants it completed with the parts that are there. Losses,
    refusals and failures of steps before `resumed_at` do not count. `max_output_tokens` bounds each
    answer, where its user has set it; `wants_mail`: its user is told its pauses and its end by
    mail.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    title = models.CharField(max_length=200)
    goal = models.TextField()
    status = models.CharField(
        max_length=16, choices=choices_of(RunStatus), default=RunStatus.QUEUED.value
    )
    phase = models.CharField(max_length=16, choices=choices_of(Phase), default=Phase.PLANNING.value)
    pause_reason = models.CharField(max_length=32, choices=choices_of(PauseReason), blank=True)
    error = models.JSONField(null=True)
    roster = models.JSONField(default=list)
    checkout = models.OneToOneField(
        Checkout, null=True, on_delete=models.SET_NULL, related_name="run"
    )
    planner_model = models.CharField(max_length=64)
    reviewer_model = models.CharField(max_length=64, blank=True)
    max_subtasks = models.PositiveSmallIntegerField()
    max_parallel = models.PositiveSmallIntegerField()
    reviews = models.BooleanField(default=True)
    request_id = models.CharField(max_length=64, blank=True, db_default="")
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
    is_finishing = models.BooleanField(default=False, db_default=False)
    max_output_tokens = models.PositiveIntegerField(null=True)
    wants_mail = models.BooleanField(default=False, db_default=False)
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

    @cached_property
    def rows(self) -> "RunRows":
        """What belongs to the run, as this transaction reads and changes it."""
        return RunRows(self)


class RunUpload(models.Model):
    """A file that its user has given to a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="uploads")
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="runs")

    def __str__(self) -> str:
        return f"{self.run_id} {self.upload_id}"


class Subtask(models.Model):
    """A part of a run's work.

    `position` is its place in the topological order. `reads` are paths of the repository that its
    author is shown. `reason` is that of its next attempt; `notes`
    are those of the user and the planner, `[{"from": "user", "text": "..."}]`. `is_stale`: a
    dependency has changed since its last attempt. `needs_attention`: its review was not content or
    could not be made, or a part of the answer could not be used. `max_output_tokens` bounds each
    answer of its author, where the plan or the user says so.
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
    reads = models.JSONField(default=list)
    writes = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    max_output_tokens = models.PositiveIntegerField(null=True)
    model = models.CharField(max_length=64)
    assigned_by = models.CharField(max_length=16, choices=choices_of(AssignedBy))
    status = models.CharField(
        max_length=16, choices=choices_of(SubtaskStatus), default=SubtaskStatus.QUEUED.value
    )
    reason = models.CharField(
        max_length=16, choices=choices_of(AttemptReason), default=AttemptReason.INITIAL.value
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

    `faults` are the files that were left out or did not come, `[{"path", "message", "mended"}]`;
    `path` is None where the answer itself ends early, and `mended` says that the file was made to
    fit. `review` is what the reviewer wrote, `{"model", "points", "issues"}`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subtask = models.ForeignKey(Subtask, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    reason = models.CharField(max_length=16, choices=choices_of(AttemptReason))
    model = models.CharField(max_length=64, blank=True)
    status = models.CharField(
        max_length=16, choices=choices_of(SubtaskStatus), default=SubtaskStatus.RUNNING.value
    )
    body = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    faults = models.JSONField(default=list)
    verdict = models.CharField(max_length=16, choices=choices_of(Verdict), blank=True)
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

    @property
    def open_faults(self) -> list[dict[str, Any]]:
        """The faults that were not mended."""
        return [each for each in self.faults if not each.get("mended")]


class AttemptFile(models.Model):
    """A file that an attempt writes or deletes. `size` is in bytes. It is staged, unless it was
    discarded or written to the repository. One that is moved is two: it is created, with its
    `previous_path`, and deleted there."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=400)
    op = models.CharField(max_length=8)
    previous_path = models.CharField(max_length=400, blank=True)
    content = models.TextField(blank=True)
    size = models.PositiveIntegerField()
    applied_at = models.DateTimeField(null=True)
    discarded_at = models.DateTimeField(null=True)

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
    the `faults` of an answer that is no plan, or those of an author's files that are wrong; the
    `reply` to the messages up to number `answers`.
    An answer may take several steps: `goes_on` says that another one continues this one, and has
    its id as `continues_id`. `number` counts the tries at a step, of which all but the last have
    failed.
    The steps of a subtask that is off the plan have no subtask any more, and count in the cost.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    subtask = models.ForeignKey(Subtask, null=True, on_delete=models.SET_NULL, related_name="steps")
    attempt = models.ForeignKey(Attempt, null=True, on_delete=models.SET_NULL, related_name="steps")
    kind = models.CharField(max_length=16, choices=choices_of(StepKind))
    model = models.CharField(max_length=64)
    status = models.CharField(
        max_length=16, choices=choices_of(SubtaskStatus), default=SubtaskStatus.QUEUED.value
    )
    outcome = models.CharField(max_length=16, choices=choices_of(Outcome), blank=True)
    beside_others = models.BooleanField(default=False)
    continues_id = models.UUIDField(null=True)
    goes_on = models.BooleanField(default=False, db_default=False)
    number = models.PositiveSmallIntegerField(default=1, db_default=1)
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


class RunRows:
    """The subtasks, attempts and steps of one run, each read once and without the texts of attempts
    and steps.

    A transaction that holds the run changes these objects and adds what it creates, so that what it
    decides and what its events show is what it has written.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def subtasks(self) -> dict[UUID, Subtask]:
        """By id, in topological order."""
        return self._subtasks_and_attempts[0]

    @property
    def attempts(self) -> dict[UUID, Attempt]:
        """By id; those of one subtask in the order of their numbers."""
        return self._subtasks_and_attempts[1]

    def arrange(self, subtasks: Iterable[Subtask]) -> None:
        """Take these as all subtasks, in their topological order. What belongs to others goes."""
        rows = {row.pk: row for row in subtasks}
        gone = self.subtasks.keys() - rows.keys()
        self.subtasks.clear()
        self.subtasks.update(rows)
        for attempt in [*self.attempts.values()]:
            if attempt.subtask_id in gone:
                del self.attempts[attempt.pk]
        for step in self.steps.values():
            if step.subtask_id in gone:
                step.subtask = step.attempt = None

    @cached_property
    def steps(self) -> dict[UUID, Step]:
        """By id, the earliest first."""
        rows = self._run.steps.defer("content", "result").order_by("id")
        steps = {row.pk: row for row in rows}
        for row in steps.values():
            row.run = self._run
            if row.subtask_id is not None:
                row.subtask = self.subtasks[row.subtask_id]
            if row.attempt_id is not None:
                row.attempt = self.attempts[row.attempt_id]
        return steps

    @cached_property
    def inbox(self) -> InboxState:
        """The messages of the user."""
        return read_all(self._run.pk)

    @cached_property
    def now(self) -> datetime:
        """The time of this transaction's changes, by the clock of the database. It is later than
        that of every transaction that has held the run before."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT statement_timestamp()")
            [now] = cursor.fetchone()
        moment: datetime = now
        return moment

    def attempts_of(self, subtask: Subtask) -> list[Attempt]:
        """In the order of their numbers."""
        return [row for row in self.attempts.values() if row.subtask_id == subtask.pk]

    def active_steps(self, subtask: Subtask | None = None) -> list[Step]:
        """The steps that have not ended: all, or those of a subtask."""
        return [
            row
            for row in self.steps.values()
            if row.ended_at is None and (subtask is None or row.subtask_id == subtask.pk)
        ]

    @cached_property
    def _subtasks_and_attempts(self) -> tuple[dict[UUID, Subtask], dict[UUID, Attempt]]:
        subtasks = {row.pk: row for row in self._run.subtasks.order_by("position")}
        rows = Attempt.objects.filter(subtask__run=self._run).defer("body").order_by("number")
        attempts = {row.pk: row for row in rows}
        for attempt in attempts.values():
            attempt.subtask = subtasks[attempt.subtask_id]
        for subtask in subtasks.values():
            subtask.run = self._run
            if subtask.current_id is not None:
                subtask.current = attempts[subtask.current_id]
        return subtasks, attempts
