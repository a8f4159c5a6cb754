"""Documents and diffs in answers."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import FinishReasonField
from billing.serializers.usage import UsageSerializer
from council.diffs import Hunk, Stats
from council.models import Card, Status, Version
from council.selectors.documents import Document, Source
from council.serializers.sessions import ThreadMessageSerializer


@extend_schema_serializer(component_name="CardDocumentSource")
class SourceSerializer(serializers.Serializer[Source]):
    """A merged answer, with its letter in the merge."""

    label = serializers.CharField(read_only=True)  # type: ignore[assignment]
    card_id = serializers.UUIDField(read_only=True)
    version = serializers.IntegerField(read_only=True)
    model = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="CardDocument")
class DocumentSerializer(serializers.Serializer[Document]):
    """A version of a card as a file, with the conversation up to it. `usage` is the version's;
    `sources` are those of a merge."""

    title = serializers.CharField(source="card.session.title", read_only=True)
    card_id = serializers.UUIDField(source="card.pk", read_only=True)
    kind = serializers.ChoiceField(Card.Kind.choices, source="card.kind", read_only=True)
    model = serializers.CharField(source="version.generation.model", read_only=True)
    version = serializers.IntegerField(source="version.number", read_only=True)
    status = serializers.ChoiceField(
        Status.choices, source="version.generation.status", read_only=True
    )
    finish_reason = FinishReasonField(source="version.generation.finish_reason")
    usage = UsageSerializer(read_only=True, allow_null=True)
    details = serializers.DictField(source="version.details", read_only=True)
    sources = SourceSerializer(many=True, read_only=True)
    messages = ThreadMessageSerializer(many=True, read_only=True)
    created_at = serializers.DateTimeField(source="version.created_at", read_only=True)


@extend_schema_serializer(component_name="DiffSide")
class SideSerializer(serializers.Serializer[Version]):
    """A version that is compared with another."""

    card_id = serializers.UUIDField(read_only=True)
    version = serializers.IntegerField(source="number", read_only=True)
    model = serializers.CharField(source="generation.model", read_only=True)


@extend_schema_serializer(component_name="DiffHunk")
class HunkSerializer(serializers.Serializer[Hunk]):
    """A stretch of text of both sides, of the right one alone, or of the left one alone."""

    op = serializers.ChoiceField(["equal", "insert", "delete"], read_only=True)
    text = serializers.CharField(read_only=True)


@extend_schema_serializer(component_name="DiffStats")
class StatsSerializer(serializers.Serializer[Stats]):
    """The number of lines, or words, of the right side alone and of the left one alone;
    `similarity` is the part of all characters that both have, from 0 to 1."""

    added = serializers.IntegerField(read_only=True)
    removed = serializers.IntegerField(read_only=True)
    similarity = serializers.FloatField(read_only=True)


@extend_schema_serializer(component_name="CardDiff")
class DiffSerializer(serializers.Serializer[Any]):
    """The changes from the left side to the right one. `unified` is set where it was requested."""

    left = SideSerializer(read_only=True)
    right = SideSerializer(read_only=True)
    hunks = HunkSerializer(many=True, read_only=True)
    unified = serializers.CharField(read_only=True, allow_null=True)
    stats = StatsSerializer(read_only=True)
