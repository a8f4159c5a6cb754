"""Chat models with their user's preferences."""

from typing import Any, get_args

from rest_framework import serializers

from accounts.selectors.preferences import Agent
from accounts.types import MAX_AGENT_INSTRUCTIONS
from ai.catalog.fields import ChatModelField
from ai.providers.types import ReasoningEffort
from common.fields import FlagField, TextField, WordsField

EFFORTS = get_args(ReasoningEffort)


class AgentSerializer(serializers.Serializer[Agent]):
    """A chat model, and the user's preferences for it."""

    model = serializers.CharField(read_only=True)
    display_name = serializers.CharField(read_only=True)
    enabled = serializers.BooleanField(read_only=True, help_text="Is it offered to you?")
    favourite = serializers.BooleanField(
        read_only=True,
        help_text="The first one that is enabled answers where no other model is named.",
    )
    instructions = serializers.CharField(
        read_only=True, help_text="What it is told in every conversation; empty for nothing."
    )
    reasoning_effort = WordsField(
        help_text="How hard it thinks where a message does not say; null: as hard as it likes."
    )


class AgentChangesSerializer(serializers.Serializer[Any]):
    """The changed preferences; omitted ones stay."""

    enabled = FlagField(required=False)
    favourite = FlagField(required=False)
    instructions = TextField(max_length=MAX_AGENT_INSTRUCTIONS, required=False, allow_blank=True)
    reasoning_effort = serializers.ChoiceField(EFFORTS, required=False, allow_null=True)

    def validate_reasoning_effort(self, value: str | None) -> str:
        return value or ""


class AgentModelSerializer(serializers.Serializer[Any]):
    """A model that the body or the query names."""

    model = TextField(max_length=100)


class NamedAgentChangesSerializer(AgentChangesSerializer):
    """The changed preferences for `model`, which the query may name instead."""

    model = TextField(max_length=100, required=False)


class AgentInputSerializer(AgentChangesSerializer):
    """The model, and the changed preferences."""

    model = ChatModelField()
