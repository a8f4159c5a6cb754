"""The bodies and queries of `/api/council`."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from ai.catalog.fields import ChatModelField
from common.fields import (
    BoundedListField,
    IdField,
    PromptField,
    TextField,
    TitleField,
    WholeNumberField,
)
from common.pagination import MAX_LIMIT
from council.diffs import Format
from council.exports import FileFormat
from council.models import Status
from council.types import (
    MAX_CARDS,
    MAX_INSTRUCTIONS,
    MAX_PROMPT,
    MAX_QUERY,
    MAX_ROUNDS,
    MAX_SYSTEM,
    MAX_TITLE,
    MAX_VERSIONS_WITH_CONTENT,
    MergeMode,
)


class CardIdsField(BoundedListField):
    """Cards of one council."""

    child = IdField()

    def __init__(self) -> None:
        # Those with answers, and those with merges.
        super().__init__(max_length=2 * MAX_CARDS, required=False)


class ModeField(serializers.ChoiceField):
    """The use of the answers."""

    def __init__(self, **options: Any) -> None:
        super().__init__([mode.value for mode in MergeMode], **options)

    def to_internal_value(self, data: Any) -> MergeMode:
        return MergeMode(super().to_internal_value(data))


class VersionNumberField(serializers.IntegerField):
    """The number of a version, in a query."""

    def __init__(self, help_text: str) -> None:
        super().__init__(min_value=1, required=False, help_text=help_text)


@extend_schema_field({"type": "null"})
class UnsupportedField(serializers.Field[Any, Any, Any, Any]):
    """A field that conversations accept and councils do not. Empty values are accepted."""

    def __init__(self, refusal: str) -> None:
        super().__init__(required=False, help_text=refusal)
        self.error_messages["unsupported"] = refusal

    def run_validation(self, data: Any = empty) -> Any:
        if data is empty or data is None or data == []:
            raise SkipField
        self.fail("unsupported")


@extend_schema_serializer(component_name="CouncilSessionInput")
class SessionInputSerializer(serializers.Serializer[Any]):
    """One card for each of the models; a model may be there several times."""

    prompt = PromptField(max_length=MAX_PROMPT)
    models = BoundedListField(child=ChatModelField(), min_length=1, max_length=MAX_CARDS)
    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True)
    system = TextField(max_length=MAX_SYSTEM, required=False, allow_blank=True)
    upload_ids = UnsupportedField("A council takes no files. Say in the question what is in them.")
    space_id = UnsupportedField("A council is in no space.")


@extend_schema_serializer(component_name="CouncilSessionChanges")
class SessionChangesInputSerializer(serializers.Serializer[Any]):
    """An empty title restores the first line of the question."""

    title = TitleField(max_length=MAX_TITLE, required=False, allow_blank=True)


class SessionsQuerySerializer(serializers.Serializer[Any]):
    """The filters of a list of councils."""

    q = TextField(
        max_length=MAX_QUERY,
        required=False,
        allow_blank=True,
        help_text="What the title has in it, in capitals or not.",
    )
    status = serializers.ChoiceField(
        [status.value for status in Status if status != Status.QUEUED], required=False
    )


class VersionsQuerySerializer(serializers.Serializer[Any]):
    """A page of a card's history."""

    include = serializers.ChoiceField(
        ["content"], required=False, help_text="`content`: with the text of each version."
    )
    limit = serializers.IntegerField(
        min_value=1,
        default=MAX_LIMIT,
        help_text=f"At most so many versions, and never more than {MAX_LIMIT}; "
        f"with their texts {MAX_VERSIONS_WITH_CONTENT}.",
    )
    before = VersionNumberField("Versions older than the one of this number.")


class CardInputSerializer(serializers.Serializer[Any]):
    """`prompt`, if the card answers another question than the council's."""

    model_key = ChatModelField(source="model")
    prompt = PromptField(max_length=MAX_PROMPT, required=False, allow_blank=True)


@extend_schema_serializer(component_name="CardRegenerationInput")
class RegenerateInputSerializer(serializers.Serializer[Any]):
    """Another model than the card's, and instructions for this version."""

    model_key = ChatModelField(source="model", required=False)
    instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


@extend_schema_serializer(component_name="CardRestorationInput")
class RestoreInputSerializer(serializers.Serializer[Any]):
    version = WholeNumberField(source="number", min_value=1)


@extend_schema_serializer(component_name="CouncilMessageInput")
class MessageInputSerializer(serializers.Serializer[Any]):
    content = PromptField(max_length=MAX_PROMPT)


@extend_schema_serializer(component_name="CouncilMergeInput")
class MergeInputSerializer(serializers.Serializer[Any]):
    """Merges these cards, or all with an answer. `guided` and `custom` need instructions."""

    card_ids = CardIdsField()
    model_key = ChatModelField(source="model", required=False)
    mode = ModeField(default=MergeMode.FUSE)
    instructions = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


@extend_schema_serializer(component_name="CouncilDebateInput")
class DebateInputSerializer(serializers.Serializer[Any]):
    """A debate between these cards, or all with an answer. `focus` is its subject."""

    rounds = WholeNumberField(min_value=1, max_value=MAX_ROUNDS, default=1)
    card_ids = CardIdsField()
    focus = PromptField(max_length=MAX_INSTRUCTIONS, required=False, allow_blank=True)


class DiffInputSerializer(serializers.Serializer[Any]):
    """The two sides, and the kind of pieces."""

    against = IdField(required=False, help_text="The card on the right side.")
    version = VersionNumberField("Of this card; its current one if it is not named.")
    against_version = VersionNumberField("Of the right side.")
    format = serializers.ChoiceField(
        get_args(Format),
        default="unified",
        help_text="`words` compares words; `json` lines; `unified` lines too, with their text "
        "in the unified format beside.",
    )


class ExportInputSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(get_args(FileFormat), default="md")
    version = VersionNumberField("The card's current one if it is not named.")
