"""What `/api/council` is asked: bodies and queries."""

from typing import Any, get_args

from rest_framework import serializers

from catalog.fields import ChatModelField
from common.fields import BoundedListField, IdField, PromptField, TextField, WholeNumberField
from council.diffs import Format
from council.exports import FileFormat
from council.types import (
    MAX_CARDS,
    MAX_INSTRUCTIONS,
    MAX_PROMPT,
    MAX_ROUNDS,
    MAX_SYSTEM,
    MAX_TITLE,
    MergeMode,
)


class CardIdsField(BoundedListField):
    """Cards of one council."""

    child = IdField()

    def __init__(self) -> None:
        # Those that answer, and those that merge.
        super().__init__(max_length=2 * MAX_CARDS, required=False)


class ModeField(serializers.ChoiceField):
    """What becomes of the answers."""

    def __init__(self, **options: Any) -> None:
        super().__init__([mode.value for mode in MergeMode], **options)

    def to_internal_value(self, data: Any) -> MergeMode:
        return MergeMode(super().to_internal_value(data))


class SessionInputSerializer(serializers.Serializer[Any]):
    """One card for each of the models; a model may be there several times."""

    prompt = PromptField(max_length=MAX_PROMPT)
    models = BoundedListField(child=ChatModelField(), min_length=1, max_length=MAX_CARDS)
    title = TextField(max_length=MAX_TITLE, required=False, allow_blank=True)
    system = TextField(max_length=MAX_SYSTEM, required=False, allow_blank=True)


class CardInputSerializer(serializers.Serializer[Any]):
    """`prompt`, if it shall answer another question than the council's."""

    model_key = ChatModelField(source="model")
    prompt = PromptField(max_length=MAX_PROMPT, required=False, allow_blank=True)


class RegenerateInputSerializer(serializers.Serializer[Any]):
    """Another model than the card's, and what it shall heed this time."""

    model_key = ChatModelField(source="model", required=False)
    instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class RestoreInputSerializer(serializers.Serializer[Any]):
    version = WholeNumberField(source="number", min_value=1)


class MessageInputSerializer(serializers.Serializer[Any]):
    content = PromptField(max_length=MAX_PROMPT)


class MergeInputSerializer(serializers.Serializer[Any]):
    """Of the cards, or of all that have answered. `guided` and `custom` need instructions."""

    card_ids = CardIdsField()
    model_key = ChatModelField(source="model", required=False)
    mode = ModeField(default=MergeMode.FUSE)
    instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class DebateInputSerializer(serializers.Serializer[Any]):
    """Between the cards, or all that have answered. `focus` is what it shall be about."""

    rounds = WholeNumberField(min_value=1, max_value=MAX_ROUNDS, default=1)
    card_ids = CardIdsField()
    focus = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class DiffInputSerializer(serializers.Serializer[Any]):
    """Which two sides, and in what pieces."""

    against = IdField(required=False, help_text="The card on the right side.")
    version = serializers.IntegerField(
        min_value=1, required=False, help_text="Of this card; its current one if it is not named."
    )
    against_version = serializers.IntegerField(
        min_value=1, required=False, help_text="Of the right side."
    )
    format = serializers.ChoiceField(
        get_args(Format),
        default="unified",
        help_text="`words` compares words; `json` lines; `unified` lines too, with their text "
        "in the unified format beside.",
    )


class ExportInputSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(get_args(FileFormat), default="md")
    version = serializers.IntegerField(
        min_value=1, required=False, help_text="The card's current one if it is not named."
    )
