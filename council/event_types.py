"""The types of the events of councils (`council/events.py`, `council/user_events.py`)."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from common.fields import UsdField, WordsField
from council.models import Status
from council.serializers.sessions import (
    CardInEventSerializer,
    MessageSerializer,
    SessionInEventSerializer,
    SessionRowSerializer,
    VersionSerializer,
)
from council.types import MergeMode
from events.declarations import EventType


@extend_schema_serializer(component_name="CouncilSessionCreated")
class CreatedSessionSerializer(SessionInEventSerializer):
    """A council that begins, with its question and instructions."""

    prompt = serializers.CharField(read_only=True)
    system = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="CardCreated")
class CreatedCardSerializer(CardInEventSerializer):
    """A card that was dealt, with its own question. `prompt` is null where it answers the
    session's."""

    prompt = WordsField()


@extend_schema_serializer(component_name="CardLabel")
class LabelSerializer(serializers.Serializer[object]):
    """A card, and the letter by which models know its answer."""

    card_id = serializers.UUIDField()
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]


@extend_schema_serializer(component_name="MergeSource")
class SourceSerializer(LabelSerializer):
    """An answer that is merged: `version` of a card."""

    version = serializers.IntegerField()


@extend_schema_serializer(component_name="MergeSynthesis")
class SynthesisSerializer(serializers.Serializer[object]):
    """Which model merges. `reason` is why another one than the requested does."""

    source = serializers.ChoiceField(["primary", "fallback"])  # type: ignore[assignment]
    requested_model = serializers.CharField(read_only=True)
    used_model = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True, allow_null=True)


@extend_schema_serializer(component_name="DebatePosition")
class PositionSerializer(SourceSerializer):
    """Where a card stands after a round. `changed`: its answer is another one now."""

    changed = serializers.BooleanField()
    status = serializers.ChoiceField(Status.choices)


_STRING = serializers.CharField(read_only=True)
_SESSION = {"session": SessionInEventSerializer()}
_CARD = {"card": CardInEventSerializer()}
_TURN = {"turn_id": serializers.UUIDField()}
_POSITIONS = {"positions": PositionSerializer(many=True)}
_MERGE = {
    **_TURN,
    **_CARD,
    "mode": serializers.ChoiceField([mode.value for mode in MergeMode]),
    "sources": SourceSerializer(many=True),
    "label_map": serializers.DictField(child=serializers.UUIDField()),
    "synthesis": SynthesisSerializer(),
}

COUNCIL_EVENTS = [
    EventType("session.created", "it begins", {"session": CreatedSessionSerializer()}),
    EventType("session.updated", "its title, status, activity or round has changed", _SESSION),
    EventType("session.completed", "nothing runs any more, and there is an answer", _SESSION),
    EventType("card.created", "a card was dealt", {"card": CreatedCardSerializer()}),
    EventType(
        "card.version.created",
        "a new version of it is to be written",
        {**_CARD, "version": VersionSerializer()},
    ),
    EventType("card.started", "its model is being called", _CARD, {"card": {"status": "running"}}),
    EventType(
        "card.updated",
        "another model writes it, because the first could not be reached; or it is known what a "
        "stopped call has cost",
        _CARD,
    ),
    EventType(
        "card.delta",
        "more of its text",
        {
            "card_id": serializers.UUIDField(),
            "version": serializers.IntegerField(),
            "offset": serializers.IntegerField(),
            "text": _STRING,
        },
    ),
    EventType(
        "card.completed",
        "its text is there; `finish_reason` says why it ends",
        _CARD,
    ),
    EventType(
        "card.failed",
        "it ended early, and its `error` says why; its text is kept",
        _CARD,
        {"card": {"status": "failed", "error": {}}},
    ),
    EventType(
        "card.cancelled",
        "its call was stopped before it began, or in the middle",
        _CARD,
        {"card": {"status": "cancelled"}},
    ),
    EventType(
        "card.restored",
        "an earlier version is the current one again, because the user restored it or a revision "
        "failed; its text follows",
        _CARD,
        {"card": {"source": "restore"}},
    ),
    EventType("card.removed", "it is off the table", {"card_id": serializers.UUIDField()}),
    EventType(
        "message.created",
        "a message of the user, to one card or (`card_id` is null) to all cards",
        {"message": MessageSerializer()},
    ),
    EventType(
        "message.completed",
        "a card has answered it",
        {
            "card_id": serializers.UUIDField(),
            "version": serializers.IntegerField(),
            **_TURN,
        },
    ),
    EventType("merge.started", "answers are being merged", _MERGE),
    EventType("merge.completed", "the merge has ended", _MERGE),
    EventType(
        "merge.failed",
        "the merge has failed, or was cancelled",
        _MERGE,
        {"card": {"status": "failed", "error": {}}},
    ),
    EventType(
        "debate.started",
        "a debate begins",
        {
            **_TURN,
            "rounds": serializers.IntegerField(),
            "focus": _STRING,
            "participants": LabelSerializer(many=True),
        },
    ),
    EventType(
        "debate.round.completed",
        "all have revised their answers, or not",
        {**_TURN, "round": serializers.IntegerField(), **_POSITIONS},
    ),
    EventType(
        "debate.completed",
        "the debate has ended",
        {
            **_TURN,
            "rounds_run": serializers.IntegerField(),
            "stopped_early": serializers.BooleanField(),
            **_POSITIONS,
        },
    ),
    EventType("usage.updated", "what the council has cost so far", {"cost_usd": UsdField()}),
]

_ROW = {"council": SessionRowSerializer()}

USER_EVENTS = [
    EventType("council.created", "one was begun", _ROW),
    EventType(
        "council.updated",
        "its status, activity, title or cards have changed; while calls run, `cost_usd` may be "
        "behind",
        _ROW,
    ),
    EventType("council.deleted", "it is gone", {"council_id": serializers.UUIDField()}),
]
