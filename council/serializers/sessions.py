"""Sessions, cards, versions and messages in answers and events."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import ErrorField, FinishReasonField
from billing.serializers.usage import UsageSerializer
from common.fields import UsdField, WordsField
from council.models import Card, Message, Session, Status, Version
from council.selectors.cards import CardState
from council.selectors.sessions import SessionState
from council.selectors.threads import ThreadMessage
from council.selectors.versions import VersionState


class CardInEventSerializer(serializers.Serializer[CardState]):
    """A card without its text, which is in `card.delta` events, and its question, which is in
    `card.created`."""

    id = serializers.UUIDField(source="card.pk", read_only=True)
    kind = serializers.ChoiceField(Card.Kind.choices, source="card.kind", read_only=True)
    model = serializers.CharField(source="version.generation.model", read_only=True)
    status = serializers.ChoiceField(
        Status.choices, source="version.generation.status", read_only=True
    )
    current_version = serializers.IntegerField(source="version.number", read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Version.Source.choices, source="version.source", read_only=True
    )
    finish_reason = FinishReasonField(source="version.generation.finish_reason")
    usage = UsageSerializer(read_only=True, allow_null=True)
    cost_usd = UsdField(source="cost")
    error = ErrorField(source="version.generation.error", read_only=True)
    details = serializers.DictField(source="version.details", read_only=True)
    created_at = serializers.DateTimeField(source="card.created_at", read_only=True)


class CardSerializer(CardInEventSerializer):
    """A card and its current version. `prompt` is null where it answers the session's. `usage` is
    that version's; `cost_usd` is what was paid for all versions, from plan and balance."""

    prompt = WordsField(source="card.prompt")
    content = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="CouncilSessionInEvent")
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


@extend_schema_serializer(component_name="CouncilSessionRow")
class SessionRowSerializer(SessionInEventSerializer):
    """A council in the list. `models` are those of its cards, the oldest card first."""

    models = serializers.ListField(child=serializers.CharField(), read_only=True)
    cost_usd = UsdField(source="cost")


@extend_schema_serializer(component_name="CouncilSession")
class SessionSerializer(SessionInEventSerializer):
    """A council after event `last_seq`; `cost_usd` is what was paid for all its calls."""

    prompt = serializers.CharField(read_only=True)
    system = serializers.CharField(read_only=True)
    last_seq = serializers.IntegerField(read_only=True)
    cost_usd = UsdField(source="cost")
    cards = CardSerializer(many=True, read_only=True)


@extend_schema_serializer(component_name="CardVersionInEvent")
class VersionSerializer(serializers.Serializer[Version]):
    """A version of a card, without its text. `restored_from` is the number it was restored from."""

    version = serializers.IntegerField(source="number", read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Version.Source.choices, read_only=True
    )
    instructions = WordsField()
    model = serializers.CharField(source="generation.model", read_only=True)
    status = serializers.ChoiceField(Status.choices, source="generation.status", read_only=True)
    finish_reason = FinishReasonField(source="generation.finish_reason")
    restored_from = serializers.IntegerField(read_only=True, allow_null=True)
    details = serializers.DictField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="CardVersion")
class VersionRowSerializer(serializers.Serializer[VersionState]):
    """A version of a card. `restored_from` is the number it was restored from; `cost_usd` is what
    was paid to write it. `content` is set where it was requested."""

    version = serializers.IntegerField(source="version.number", read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Version.Source.choices, source="version.source", read_only=True
    )
    instructions = WordsField(source="version.instructions")
    model = serializers.CharField(source="version.generation.model", read_only=True)
    status = serializers.ChoiceField(
        Status.choices, source="version.generation.status", read_only=True
    )
    finish_reason = FinishReasonField(source="version.generation.finish_reason")
    error = ErrorField(source="version.generation.error", read_only=True)
    restored_from = serializers.IntegerField(
        source="version.restored_from", read_only=True, allow_null=True
    )
    usage = UsageSerializer(read_only=True, allow_null=True)
    cost_usd = UsdField(source="cost")
    is_current = serializers.BooleanField(read_only=True)
    details = serializers.DictField(source="version.details", read_only=True)
    content = serializers.CharField(required=False, allow_blank=True)
    created_at = serializers.DateTimeField(source="version.created_at", read_only=True)

    def to_representation(self, instance: VersionState) -> dict[str, Any]:
        shown = super().to_representation(instance)
        if instance.content is None:
            del shown["content"]
        return shown


@extend_schema_serializer(component_name="CouncilMessage")
class MessageSerializer(serializers.ModelSerializer[Message]):
    """A message of the user's to one card, or to all (`card_id` is null)."""

    card_id = serializers.UUIDField(read_only=True, allow_null=True)
    turn_id = serializers.UUIDField(read_only=True)
    role = serializers.CharField(default="user", read_only=True)

    class Meta:
        model = Message
        fields = ["id", "card_id", "turn_id", "role", "content", "created_at"]
        read_only_fields = fields


@extend_schema_serializer(component_name="CardMessage")
class ThreadMessageSerializer(serializers.Serializer[ThreadMessage]):
    """A part of a card's conversation: `version` is the number of an answer and `model` its author,
    `turn_id` joins the messages and answers of one action."""

    id = serializers.UUIDField(read_only=True)
    card_id = serializers.UUIDField(read_only=True)
    role = serializers.ChoiceField(["user", "assistant"], read_only=True)
    content = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True, allow_null=True)
    version = serializers.IntegerField(read_only=True, allow_null=True)
    turn_id = serializers.UUIDField(read_only=True, allow_null=True)
    created_at = serializers.DateTimeField(read_only=True)


@extend_schema_serializer(component_name="CouncilChat")
class ChatSerializer(serializers.Serializer[Any]):
    """A message to all, and the cards that answer it."""

    turn_id = serializers.UUIDField(read_only=True)
    message = MessageSerializer(read_only=True)
    cards = CardSerializer(many=True, read_only=True)


@extend_schema_serializer(component_name="CardExchange")
class ExchangeSerializer(serializers.Serializer[Any]):
    """A message to one card, and the card that answers it."""

    message = MessageSerializer(read_only=True)
    card = CardSerializer(read_only=True)


@extend_schema_serializer(component_name="CouncilDebate")
class DebateSerializer(serializers.Serializer[Any]):
    """A debate, and the cards that take part."""

    turn_id = serializers.UUIDField(read_only=True)
    rounds = serializers.IntegerField(read_only=True)
    cards = CardSerializer(many=True, read_only=True)


def version_meta(version: Version) -> dict[str, Any]:
    return VersionSerializer().to_representation(version)


def message_in_event(message: Message) -> dict[str, Any]:
    return MessageSerializer().to_representation(message)


def card_in_event(state: CardState) -> dict[str, Any]:
    return CardInEventSerializer().to_representation(state)


def session_in_event(session: Session) -> dict[str, Any]:
    return SessionInEventSerializer().to_representation(session)
