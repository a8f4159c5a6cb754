"""What `/api/council` answers, and what its events tell."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from billing.selectors.charges import ChargeUsage
from common.fields import UsdField
from council.models import Card, Message, Session, Status, Version
from council.selectors.cards import CardState
from council.selectors.sessions import SessionState


class UsageSerializer(serializers.Serializer[ChargeUsage]):
    """What a call used. `cost_usd` is its cost at the listed rate; `plan_usd` and `balance_usd` are
    what was paid for it."""

    input_tokens = serializers.IntegerField(read_only=True)
    output_tokens = serializers.IntegerField(read_only=True)
    reasoning_tokens = serializers.IntegerField(read_only=True)
    cached_tokens = serializers.IntegerField(read_only=True)
    total_tokens = serializers.IntegerField(read_only=True)
    cost_usd = UsdField(source="cost")
    plan_usd = UsdField(source="plan")
    balance_usd = UsdField(source="balance")


@extend_schema_field(
    {
        "type": ["object", "null"],
        "description": "Why there is no answer: `code` is what a program branches on.",
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        "required": ["code", "message"],
    }
)
class ErrorField(serializers.JSONField):
    """The error of a generation."""


class CardInEventSerializer(serializers.Serializer[CardState]):
    """A card without its text, which travels in `card.delta` events."""

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(Card.Kind.choices, read_only=True)
    model = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(Status.choices, read_only=True)
    current_version = serializers.IntegerField(read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Version.Source.choices, read_only=True
    )
    usage = UsageSerializer(read_only=True, allow_null=True)
    cost_usd = UsdField(source="cost")
    error = ErrorField(read_only=True)
    details = serializers.DictField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class CardSerializer(CardInEventSerializer):
    """A card and its current version. `usage` is that version's; `cost_usd` is what was paid for
    all versions, from plan and balance."""

    content = serializers.CharField(read_only=True)


class SessionInEventSerializer(serializers.Serializer[Any]):
    """A council without its question and cards."""

    id = serializers.UUIDField(read_only=True)
    title = serializers.CharField(read_only=True)
    status = serializers.ChoiceField(Status.choices, read_only=True)
    activity = serializers.SerializerMethodField()
    round = serializers.IntegerField(read_only=True, allow_null=True)
    rounds = serializers.IntegerField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)

    @extend_schema_field({"type": ["string", "null"], "enum": [*Session.Activity.values, None]})
    def get_activity(self, session: SessionState | Session) -> str | None:
        return session.activity or None


class SessionSerializer(SessionInEventSerializer):
    """A council as it is after event `last_seq`; `cost_usd` is what was paid for all its calls."""

    prompt = serializers.CharField(read_only=True)
    system = serializers.CharField(read_only=True)
    last_seq = serializers.IntegerField(read_only=True)
    cost_usd = UsdField(source="cost")
    cards = CardSerializer(many=True, read_only=True)


class VersionSerializer(serializers.Serializer[Version]):
    """A version of a card, without its text. `restored_from` is the number it was restored from."""

    version = serializers.IntegerField(source="number", read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Version.Source.choices, read_only=True
    )
    model = serializers.CharField(source="generation.model", read_only=True)
    status = serializers.ChoiceField(Status.choices, source="generation.status", read_only=True)
    restored_from = serializers.IntegerField(read_only=True, allow_null=True)
    details = serializers.DictField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class MessageSerializer(serializers.ModelSerializer[Message]):
    """What the user said to one card, or to all (`card_id` is null)."""

    card_id = serializers.UUIDField(read_only=True, allow_null=True)
    turn_id = serializers.UUIDField(read_only=True)
    role = serializers.CharField(default="user", read_only=True)

    class Meta:
        model = Message
        fields = ["id", "card_id", "turn_id", "role", "content", "created_at"]
        read_only_fields = fields


def version_meta(version: Version) -> dict[str, Any]:
    return VersionSerializer().to_representation(version)


def message_in_event(message: Message) -> dict[str, Any]:
    return MessageSerializer().to_representation(message)


def card_in_event(state: CardState) -> dict[str, Any]:
    return CardInEventSerializer().to_representation(state)


def session_in_event(session: Session) -> dict[str, Any]:
    return SessionInEventSerializer().to_representation(session)
