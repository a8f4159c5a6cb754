"""A conversation as a JSON file, which `conversations.exports` writes: these describe it."""

from drf_spectacular.utils import extend_schema_serializer

from conversations.serializers.conversations import ConversationDetailSerializer
from conversations.serializers.messages import AttachmentSerializer, MessageSerializer


@extend_schema_serializer(component_name="ExportedAttachment")
class ExportedAttachmentSerializer(AttachmentSerializer):
    """A file of a message, without a link to it."""

    url = None  # type: ignore[assignment]


@extend_schema_serializer(component_name="ExportedMessage")
class ExportedMessageSerializer(MessageSerializer):
    """A message whose files have no links."""

    attachments = ExportedAttachmentSerializer(many=True, read_only=True)


@extend_schema_serializer(component_name="ConversationDocument")
class ConversationDocumentSerializer(ConversationDetailSerializer):
    """A conversation as it is read, without links to its files."""

    messages = ExportedMessageSerializer(many=True, read_only=True)
