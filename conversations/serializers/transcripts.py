"""The answer of `/api/transcribe`."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from billing.serializers.usage import UsageSerializer
from conversations.transcripts import Transcription


@extend_schema_serializer(component_name="SpeechUsage")
class SpeechUsageSerializer(UsageSerializer):
    """The usage of a call: `seconds` of audio, and no tokens. `listed_usd` is its cost at the
    listed rate; `paid_by_plan_usd` and `paid_by_balance_usd` are what was paid for it."""

    seconds = serializers.IntegerField(read_only=True)


class TranscriptSerializer(serializers.Serializer[Transcription]):
    """A transcript. `language` is an ISO 639-1 code, null where the model does not report it;
    `usage` is null while it is not known."""

    text = serializers.CharField(source="answer.text", read_only=True)
    language = serializers.CharField(source="answer.language", read_only=True, allow_null=True)
    duration_seconds = serializers.FloatField(source="answer.duration", read_only=True)
    usage = SpeechUsageSerializer(read_only=True, allow_null=True)
