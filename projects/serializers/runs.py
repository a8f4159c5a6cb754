"""Runs, subtasks, attempts, deliverables and messages in answers and events."""

from enum import StrEnum
from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import ErrorField
from billing.serializers.usage import UsageSerializer
from common.fields import UsdField, WordsField
from integrations.githosts.types import Op
from integrations.workspaces.models import Checkout
from projects.models import AttemptFile, Deliverable, Run
from projects.selectors.costs import VendorCost
from projects.selectors.files import RunFile
from projects.selectors.runs import RunSummary, RunView, Snapshot
from projects.selectors.subtasks import AttemptView, CallView, SubtaskDetail, SubtaskView
from projects.types import (
    MAX_FINAL_TEXT_BYTES,
    AssignedBy,
    AttemptReason,
    Estimate,
    PauseReason,
    Phase,
    RunStatus,
    StepsEstimate,
    SubtaskStatus,
    Verdict,
)


class EnumField(serializers.ChoiceField):
    """A word of an enumeration, in answers."""

    def __init__(self, words: type[StrEnum], **options: Any) -> None:
        super().__init__([word.value for word in words], read_only=True, **options)


class TextsField(serializers.ListField):
    """A list of texts, in answers."""

    child = serializers.CharField()

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)


@extend_schema_serializer(component_name="ProjectProgress")
class ProgressSerializer(serializers.Serializer[Any]):
    """How many subtasks there are, and how many of them have ended."""

    done = serializers.IntegerField(read_only=True)
    total = serializers.IntegerField(read_only=True)


@extend_schema_serializer(component_name="ProjectSessionRow")
class RunRowSerializer(serializers.Serializer[Any]):
    """A run in the list. `failed_subtasks` counts those without a result. `advice` says what lets a
    paused run go on, `error` why it stands, or has failed."""

    id = serializers.UUIDField(read_only=True)
    title = serializers.CharField(read_only=True)
    status = EnumField(RunStatus)
    phase = EnumField(Phase)
    pause_reason = serializers.SerializerMethodField()
    advice = WordsField()
    error = ErrorField(read_only=True)
    progress = serializers.SerializerMethodField()
    failed_subtasks = serializers.IntegerField(read_only=True)
    cost_usd = UsdField(source="cost")
    budget_usd = UsdField(source="budget", allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    models = TextsField()

    @extend_schema_field(
        {"type": ["string", "null"], "enum": [*(each.value for each in PauseReason), None]}
    )
    def get_pause_reason(self, run: RunSummary) -> str | None:
        return run.pause_reason or None

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, run: RunSummary) -> dict[str, int]:
        return {"done": run.done, "total": run.total}


@extend_schema_serializer(component_name="ProjectVendorCost")
class VendorCostSerializer(serializers.Serializer[VendorCost]):
    """What was paid for the calls of one vendor's models; `calls` are those that were billed.
    `vendor` is empty for models that are gone."""

    vendor = serializers.CharField(read_only=True)
    cost_usd = UsdField(source="cost")
    calls = serializers.IntegerField(read_only=True)
    tokens_in = serializers.IntegerField(read_only=True)
    tokens_out = serializers.IntegerField(read_only=True)


@extend_schema_serializer(component_name="ProjectSessionInEvent")
class RunInEventSerializer(RunRowSerializer):
    """A run without its subtasks. `activity` says what goes on; `in_flight` counts the calls that
    wait or run; `cost_by_vendor`, the greatest first, is `cost_usd` in parts. `final_text` is there
    where it may have changed other than by `final.delta` events, `max_output_tokens` and
    `notify_by_mail` where their user has changed them."""

    models = None  # type: ignore[assignment]
    activity = serializers.CharField(read_only=True)
    in_flight = serializers.IntegerField(read_only=True)
    cost_by_vendor = VendorCostSerializer(source="costs", many=True, read_only=True)
    started_at = serializers.DateTimeField(read_only=True, allow_null=True)
    final_text = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    max_output_tokens = serializers.IntegerField(required=False, allow_null=True)
    notify_by_mail = serializers.BooleanField(required=False)


@extend_schema_serializer(component_name="ProjectAttempt")
class AttemptSerializer(serializers.Serializer[Any]):
    """An attempt at a subtask, without its text. `source` is `user` where its user has written it;
    `cost_usd` is what was paid for it and its reviews."""

    number = serializers.IntegerField(source="attempt.number", read_only=True)
    reason = EnumField(AttemptReason, source="attempt.reason")
    source = serializers.ChoiceField(["model", "user"], read_only=True)  # type: ignore[assignment]
    model = WordsField(source="attempt.model")
    status = EnumField(SubtaskStatus, source="attempt.status")
    summary = serializers.CharField(source="attempt.summary", read_only=True)
    verdict = serializers.SerializerMethodField()
    error = ErrorField(source="attempt.error", read_only=True)
    cost_usd = UsdField(source="cost")
    created_at = serializers.DateTimeField(source="attempt.created_at", read_only=True)
    ended_at = serializers.DateTimeField(source="attempt.ended_at", read_only=True, allow_null=True)

    @extend_schema_field(
        {"type": ["string", "null"], "enum": [*(each.value for each in Verdict), None]}
    )
    def get_verdict(self, view: AttemptView) -> str | None:
        return view.attempt.verdict or None


@extend_schema_serializer(component_name="ProjectSubtaskInEvent")
class SubtaskInEventSerializer(serializers.Serializer[Any]):
    """A subtask without the text of its running attempt, which is in `subtask.delta` events.
    `attempt` is the number of the current attempt, `usage` what its author's call used, `cost_usd`
    what was paid for all attempts and reviews."""

    id = serializers.UUIDField(source="subtask.id", read_only=True)
    key = serializers.CharField(source="subtask.key", read_only=True)
    title = serializers.CharField(source="subtask.title", read_only=True)
    instructions = serializers.CharField(source="subtask.instructions", read_only=True)
    acceptance = TextsField(source="subtask.acceptance")
    depends_on = TextsField(source="subtask.depends_on")
    output = serializers.CharField(source="subtask.output", read_only=True)
    reads = TextsField(source="subtask.reads")
    writes = TextsField(source="subtask.writes")
    max_output_tokens = serializers.IntegerField(
        source="subtask.max_output_tokens", read_only=True, allow_null=True
    )
    model = serializers.CharField(source="subtask.model", read_only=True)
    assigned_by = EnumField(AssignedBy, source="subtask.assigned_by")
    status = EnumField(SubtaskStatus, source="subtask.status")
    stale = serializers.BooleanField(source="subtask.is_stale", read_only=True)
    needs_attention = serializers.BooleanField(source="subtask.needs_attention", read_only=True)
    error = ErrorField(source="subtask.error", read_only=True)
    attempt = serializers.IntegerField(read_only=True, allow_null=True)
    attempts = AttemptSerializer(many=True, read_only=True)
    usage = UsageSerializer(read_only=True, allow_null=True)
    cost_usd = UsdField(source="cost")


@extend_schema_serializer(component_name="ProjectSubtask")
class SubtaskSerializer(SubtaskInEventSerializer):
    """A subtask. `text` is what its running attempt has written so far, null where none runs."""

    text = serializers.CharField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectAttemptFile")
class AttemptFileSerializer(serializers.ModelSerializer[AttemptFile]):
    """A file of an attempt, without its content; `size` is in bytes."""

    class Meta:
        model = AttemptFile
        fields = ["path", "op", "size"]
        read_only_fields = fields


@extend_schema_serializer(component_name="ProjectAttemptFault")
class AttemptFaultSerializer(serializers.Serializer[Any]):
    """Why a file of an attempt was left out, or did not come; where `mended`, what was done to it
    so that it could be used."""

    path = serializers.CharField(read_only=True, allow_null=True)
    message = serializers.CharField(read_only=True)
    mended = serializers.BooleanField(read_only=True, default=False)


@extend_schema_serializer(component_name="ProjectCall")
class CallSerializer(serializers.Serializer[CallView]):
    """A call of a function by an author that works on a repository. `number` counts those of the
    whole answer, `ok` is false where it was refused or not carried out yet, and `result` is the
    beginning of what the author was answered."""

    number = serializers.IntegerField(read_only=True)
    name = serializers.CharField(read_only=True)
    path = serializers.CharField(read_only=True, allow_null=True)
    query = serializers.CharField(read_only=True, allow_null=True)
    ok = serializers.BooleanField(read_only=True)
    summary = serializers.CharField(read_only=True)
    result = serializers.CharField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectAttemptDetail")
class AttemptDetailSerializer(AttemptSerializer):
    """An attempt with its text. `sections` are the headings of what its author was given, `calls`
    the functions that it has called on the repository, `review` what the reviewer has written,
    `faults` the files that were left out or did not come, and why; a fault whose `path` is null is
    about the answer itself, which ends early."""

    body = serializers.CharField(source="attempt.body", read_only=True)
    sections = TextsField()
    calls = CallSerializer(many=True, read_only=True)
    files = AttemptFileSerializer(many=True, read_only=True)
    faults = AttemptFaultSerializer(source="attempt.faults", many=True, read_only=True)
    review = serializers.DictField(source="attempt.review", read_only=True)


@extend_schema_serializer(component_name="ProjectSubtaskDetail")
class SubtaskDetailSerializer(SubtaskSerializer):
    """A subtask with the texts of all of its attempts."""

    attempts = AttemptDetailSerializer(many=True, read_only=True)

    def to_representation(self, instance: SubtaskDetail) -> dict[str, Any]:
        attempts = AttemptDetailSerializer(instance.attempts, many=True).data
        return {**SubtaskSerializer().to_representation(instance.view), "attempts": attempts}


@extend_schema_serializer(component_name="ProjectDeliverable")
class DeliverableSerializer(serializers.ModelSerializer[Deliverable]):
    """A text that a run has made, without the text itself. `subtask_id` is null for the final one;
    `version` counts how often it was written; `size` is in characters; `is_cut`: the model ended it
    early."""

    kind = serializers.CharField(default="markdown", read_only=True)
    mime = serializers.CharField(default="text/markdown", read_only=True)
    status = serializers.SerializerMethodField()

    class Meta:
        model = Deliverable
        fields = [
            *("id", "subtask_id", "name", "kind", "mime", "size", "version", "is_cut", "status"),
            *("created_at", "updated_at"),
        ]
        read_only_fields = fields

    @extend_schema_field({"type": "string", "enum": ["draft", "final"]})
    def get_status(self, deliverable: Deliverable) -> str:
        return "final" if deliverable.is_final else "draft"


@extend_schema_serializer(component_name="ProjectFile")
class FileSerializer(serializers.Serializer[RunFile]):
    """A file that the run can see. `op` and `subtask_id` are those of a staged file, which a
    completed subtask has written; `size` is in bytes, and null where the host of the repository
    does not say."""

    path = serializers.CharField(read_only=True)
    origin = serializers.ChoiceField(["repository", "upload", "staged"], read_only=True)
    mime = serializers.CharField(source="media_type", read_only=True)
    size = serializers.IntegerField(read_only=True, allow_null=True)
    op = serializers.ChoiceField(get_args(Op), read_only=True, allow_null=True)
    subtask_id = serializers.UUIDField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectFileWithContent")
class FileWithContentSerializer(FileSerializer):
    """A file; `content` is there where one file was asked for."""

    content = serializers.CharField(required=False, allow_blank=True, allow_null=True)


@extend_schema_serializer(component_name="ProjectMessage")
class MessageSerializer(serializers.Serializer[Any]):
    """A message. `number` counts those of the user; a reply of the planner has the number of the
    newest message that it answers. `waiting` for a model, `delivered` to one, or `returned` because
    the run ended before. `error` says why the planner could not answer a message of the user."""

    number = serializers.IntegerField(read_only=True)
    role = serializers.ChoiceField(["user", "planner"], read_only=True)
    content = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(["waiting", "delivered", "returned"], read_only=True)
    error = ErrorField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="ProjectPlan")
class PlanSerializer(serializers.Serializer[Run]):
    """What the planner says of the whole; the subtasks stand beside it."""

    title = serializers.CharField(source="plan_title", read_only=True)
    summary = serializers.CharField(source="plan_summary", read_only=True)
    final_instructions = serializers.CharField(read_only=True)
    subtasks = serializers.SerializerMethodField(help_text="Their keys, in topological order.")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_subtasks(self, run: Run) -> list[str]:
        return [subtask.key for subtask in run.rows.subtasks.values()]


@extend_schema_serializer(component_name="ProjectRepository")
class CheckoutSerializer(serializers.ModelSerializer[Checkout]):
    """The repository that a run works on, at `commit`, which was the newest of `branch`. Its
    workspace may be disconnected meanwhile."""

    name = serializers.CharField(source="repository", read_only=True)

    class Meta:
        model = Checkout
        fields = ["workspace_id", "provider", "name", "url", "branch", "default_branch", "commit"]
        read_only_fields = fields


@extend_schema_serializer(component_name="ProjectSession")
class RunSerializer(RunInEventSerializer):
    """A whole run after event `last_seq`. `plan` is null until there is one."""

    prompt = serializers.CharField(source="run.goal", read_only=True)
    planner_model = serializers.CharField(source="run.planner_model", read_only=True)
    reviewer_model = WordsField(source="run.reviewer_model")
    max_subtasks = serializers.IntegerField(source="run.max_subtasks", read_only=True)
    max_parallel = serializers.IntegerField(source="run.max_parallel", read_only=True)
    review = serializers.BooleanField(source="run.reviews", read_only=True)
    max_output_tokens = serializers.IntegerField(
        source="run.max_output_tokens", read_only=True, allow_null=True
    )
    notify_by_mail = serializers.BooleanField(source="run.wants_mail", read_only=True)
    last_seq = serializers.IntegerField(read_only=True)
    final_text = serializers.CharField(
        read_only=True,
        allow_null=True,
        help_text="What is written so far of the final text, while it is written; else the final "
        f"text, at most {MAX_FINAL_TEXT_BYTES:,} bytes of it.",
    )
    plan = serializers.SerializerMethodField()
    subtasks = SubtaskSerializer(many=True, read_only=True)
    repository = CheckoutSerializer(source="run.checkout", read_only=True, allow_null=True)
    deliverables = DeliverableSerializer(many=True, read_only=True)
    messages = MessageSerializer(many=True, read_only=True)

    @extend_schema_field(PlanSerializer(allow_null=True))
    def get_plan(self, snapshot: Snapshot) -> dict[str, Any] | None:
        return PlanSerializer(snapshot.run).data if snapshot.run.has_plan else None


@extend_schema_serializer(component_name="ProjectDocument")
class RunDocumentSerializer(RunSerializer):
    """A run as a JSON file, with `texts` by their names. This describes it; `projects.exports`
    writes it."""

    texts = serializers.DictField(child=serializers.CharField(), read_only=True)


class StepsEstimateSerializer(serializers.Serializer[StepsEstimate]):
    """The calls of one kind."""

    kind = serializers.CharField(read_only=True)
    count = serializers.IntegerField(read_only=True)
    expected_usd = UsdField(source="expected")


@extend_schema_serializer(component_name="ProjectEstimate")
class EstimateSerializer(serializers.Serializer[Estimate]):
    """What a run would cost, from plan and balance: most runs are between `low_usd` and
    `high_usd`."""

    steps = StepsEstimateSerializer(many=True, read_only=True)
    low_usd = UsdField(source="low")
    expected_usd = UsdField(source="expected")
    high_usd = UsdField(source="high")
    available_usd = UsdField(source="available")


class _RunInMostEventsSerializer(RunInEventSerializer):
    """Those of the fields that few events have are added to these (`projects.events`)."""

    final_text = None  # type: ignore[assignment]
    max_output_tokens = None  # type: ignore[assignment]
    notify_by_mail = None  # type: ignore[assignment]


# Building the fields of a serializer costs more than using them.
_RUN, _SUBTASK = _RunInMostEventsSerializer(), SubtaskInEventSerializer()
_DELIVERABLE, _CHECKOUT = DeliverableSerializer(), CheckoutSerializer()


def checkout_in_event(checkout: Checkout | None) -> dict[str, Any] | None:
    return _CHECKOUT.to_representation(checkout) if checkout is not None else None


def run_in_event(view: RunView) -> dict[str, Any]:
    return _RUN.to_representation(view)


def subtask_in_event(view: SubtaskView) -> dict[str, Any]:
    return _SUBTASK.to_representation(view)


def deliverable_in_event(deliverable: Deliverable) -> dict[str, Any]:
    return _DELIVERABLE.to_representation(deliverable)
