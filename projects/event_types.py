"""The types of the events of runs (`projects/events.py`, `projects/user_events.py`)."""

from collections.abc import Mapping
from typing import Any, get_args

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import ErrorField
from common.fields import UsdField, WordsField
from events.declarations import EventType
from integrations.githosts.types import Op
from projects.serializers.changes import ApplySerializer, ProposalSerializer
from projects.serializers.runs import (
    CheckoutSerializer,
    DeliverableSerializer,
    MessageSerializer,
    PlanSerializer,
    RunInEventSerializer,
    RunRowSerializer,
    SubtaskInEventSerializer,
)
from projects.types import AttemptReason, Phase, StepKind, Verdict


@extend_schema_serializer(component_name="ProjectSessionCreated")
class CreatedRunSerializer(RunInEventSerializer):
    """A run that begins, with its goal and settings."""

    prompt = serializers.CharField(read_only=True)
    planner_model = serializers.CharField(read_only=True)
    reviewer_model = WordsField()
    max_subtasks = serializers.IntegerField()
    max_parallel = serializers.IntegerField()
    review = serializers.BooleanField()
    max_output_tokens = serializers.IntegerField(allow_null=True)
    notify_by_mail = serializers.BooleanField()
    repository = CheckoutSerializer(allow_null=True)


@extend_schema_serializer(component_name="ProjectFileInEvent")
class FileInEventSerializer(serializers.Serializer[object]):
    """A staged file, without its content."""

    path = serializers.CharField(read_only=True)
    op = serializers.ChoiceField(get_args(Op))
    bytes = serializers.IntegerField()
    subtask_id = serializers.UUIDField()


@extend_schema_serializer(component_name="ProjectReviewPoint")
class PointSerializer(serializers.Serializer[object]):
    """What a review says of one point of the acceptance."""

    point = serializers.CharField(read_only=True)
    passed = serializers.BooleanField()
    issue = serializers.CharField(read_only=True)


def _run(verb: str, when: str, **example: Any) -> EventType:
    """An event that shows the run, as the example does."""
    data = {"session": RunInEventSerializer()}
    return EventType(f"run.{verb}", when, data, {"session": example})


def _subtask(verb: str, when: str, status: str, data: Mapping[str, Any] | None = None) -> EventType:
    """An event that shows a subtask, and more data; the example is of this status."""
    data = {"subtask": SubtaskInEventSerializer(), **(data or {})}
    return EventType(f"subtask.{verb}", when, data, {"subtask": {"status": status}})


_STRING = serializers.CharField(read_only=True)
_PLAN = {
    "plan": PlanSerializer(),
    "reason": serializers.CharField(read_only=True, allow_null=True),
    "notes": serializers.ListField(child=_STRING),
}
_BEGUN = {"reason": serializers.ChoiceField([each.value for each in AttemptReason])}
_DELIVERABLE = {"deliverable": DeliverableSerializer()}
_TEXT: dict[str, Any] = {"offset": serializers.IntegerField(), "text": _STRING}
_SUBTASK_ID = {"subtask_id": serializers.UUIDField()}

PROJECT_EVENTS = [
    EventType("run.created", "it begins", {"session": CreatedRunSerializer()}),
    _run("started", "the first call begins", status="running"),
    EventType(
        "run.phase",
        "the phase has changed",
        {"phase": serializers.ChoiceField([each.value for each in Phase])},
    ),
    _run(
        "paused", "it is paused, and `pause_reason` says why", status="paused", pause_reason="user"
    ),
    _run("resumed", "it goes on after a pause"),
    _run("cancelled", "its user has ended it", status="cancelled"),
    _run("completed", "it has ended, and its texts are final", status="completed"),
    _run("reopened", "it had ended, and goes on because its user has changed it"),
    EventType(
        "run.recovered",
        "a server has died; that call is lost",
        {
            "session": RunInEventSerializer(),
            "step": serializers.ChoiceField([each.value for each in StepKind]),
            "subtask_id": serializers.UUIDField(allow_null=True),
        },
    ),
    EventType(
        "run.retrying",
        "a call has failed, and is made again: after a pause, or by a model of another vendor",
        {
            "session": RunInEventSerializer(),
            "step": serializers.ChoiceField([each.value for each in StepKind]),
            "subtask_id": serializers.UUIDField(allow_null=True),
            "from_model": serializers.CharField(read_only=True),
            "to_model": serializers.CharField(read_only=True),
            "error": ErrorField(read_only=True),
        },
    ),
    _run("renamed", "its title has changed"),
    EventType(
        "run.budget",
        "its user has changed the budget; null is no bound",
        {
            "session": RunInEventSerializer(),
            "from_usd": UsdField(allow_null=True),
            "to_usd": UsdField(allow_null=True),
        },
    ),
    _run("updated", "what goes on in it has changed, or a setting"),
    EventType(
        "plan.created",
        "there is a plan. `reason` is `fallback` where the goal is the only subtask, `partial` "
        "where only a part of the planner's is sound; `notes` say what else was made of it",
        _PLAN,
    ),
    EventType("plan.updated", "the plan has changed", _PLAN),
    _subtask("created", "the plan has it", "queued"),
    _subtask("started", "its first attempt begins", "running", _BEGUN),
    _subtask("retrying", "a further attempt begins", "running", _BEGUN),
    _subtask("updated", "an attempt or a review has ended, or the plan has changed it", "running"),
    EventType(
        "subtask.delta",
        "more of an attempt's text",
        {**_SUBTASK_ID, "attempt": serializers.IntegerField(), **_TEXT},
    ),
    EventType(
        "subtask.file",
        "its author begins a file, or has written it; whether it can be used shows at the end",
        {
            **_SUBTASK_ID,
            "attempt": serializers.IntegerField(),
            "path": _STRING,
            "op": serializers.ChoiceField(["create", "update", "delete", "move"]),
            "state": serializers.ChoiceField(["begun", "written"]),
        },
    ),
    EventType(
        "subtask.tool",
        "its author has called a function on the repository; `ok` is false where that was refused",
        {
            **_SUBTASK_ID,
            "attempt": serializers.IntegerField(),
            "call": serializers.IntegerField(),
            "name": _STRING,
            "path": serializers.CharField(read_only=True, allow_null=True),
            "query": serializers.CharField(read_only=True, allow_null=True),
            "ok": serializers.BooleanField(),
            "summary": _STRING,
        },
    ),
    _subtask("completed", "it has a result", "completed"),
    _subtask("failed", "it has ended without a result", "failed"),
    _subtask("skipped", "the run is completed without it", "skipped"),
    _subtask("cancelled", "the run was cancelled", "cancelled"),
    _subtask(
        "reassigned",
        "its user has given it to another model",
        "queued",
        {"from_model": _STRING, "to_model": _STRING},
    ),
    _subtask("replaced", "its user has written the result", "completed"),
    _subtask("stale", "a part that it depends on changes: it begins again", "queued"),
    EventType(
        "subtask.removed",
        "it is off the plan; what was paid for it stays in the cost of the run",
        _SUBTASK_ID,
    ),
    EventType(
        "review.completed",
        "an attempt was reviewed",
        {
            **_SUBTASK_ID,
            "attempt": serializers.IntegerField(),
            "verdict": serializers.ChoiceField([each.value for each in Verdict]),
            "points": PointSerializer(many=True),
            "issues": serializers.ListField(child=serializers.CharField()),
        },
    ),
    EventType("deliverable.created", "a text is there", _DELIVERABLE),
    EventType("deliverable.updated", "it was written again, or is final", _DELIVERABLE),
    EventType(
        "file.staged",
        "a completed subtask writes a file, in the place of that of `replaces` if there is one",
        {
            "path": _STRING,
            "op": serializers.ChoiceField(get_args(Op)),
            "bytes": serializers.IntegerField(),
            **_SUBTASK_ID,
            "replaces": serializers.UUIDField(allow_null=True),
        },
    ),
    EventType(
        "changes.proposed",
        "the run is over and proposes these files",
        {"proposal": ProposalSerializer(), "files": FileInEventSerializer(many=True)},
    ),
    EventType(
        "changes.applied",
        "an order to write staged files has ended; `result` is what `apply` answers",
        {"result": ApplySerializer()},
    ),
    EventType(
        "changes.discarded",
        "staged files were discarded",
        {"paths": serializers.ListField(child=serializers.CharField())},
    ),
    EventType("message.created", "yours, or the planner's reply", {"message": MessageSerializer()}),
    EventType(
        "message.delivered",
        "a call that is paid for has your messages: the planner's, or that of the author of the "
        "subtask of that key",
        {
            "numbers": serializers.ListField(child=serializers.IntegerField()),
            "delivered_to": _STRING,
        },
        {"delivered_to": "planner"},
    ),
    EventType(
        "message.returned",
        "the run has ended before that",
        {"messages": MessageSerializer(many=True)},
    ),
    EventType("final.started", "the final text is being written", {}),
    EventType("final.ended", "it is not being written any more", {}),
    EventType("final.delta", "more of it", _TEXT),
    EventType(
        "usage.updated",
        "a call has ended; the run's `cost_usd` is what was paid so far",
        {"session": RunInEventSerializer()},
    ),
    EventType(
        "error",
        "the planner could not answer your messages of these numbers",
        {
            "code": _STRING,
            "message": _STRING,
            "provider_message": serializers.CharField(required=False),
            "retryable": serializers.BooleanField(),
            "numbers": serializers.ListField(child=serializers.IntegerField()),
        },
    ),
]

_ROW = {"project": RunRowSerializer()}

USER_EVENTS = [
    EventType("project.created", "a run was begun", _ROW),
    EventType(
        "project.updated",
        "its status, title or subtasks have changed; while calls run, `cost_usd` may be behind",
        _ROW,
    ),
    EventType("project.deleted", "it is gone", {"project_id": serializers.UUIDField()}),
]
