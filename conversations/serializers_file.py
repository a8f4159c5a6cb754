"""What `/api/files` answers."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from conversations.serializers import AttachmentSerializer
from files.models import Upload
from files.selectors.uploads import download_url


@extend_schema_serializer(component_name="MessageFile")
class FileSerializer(AttachmentSerializer):
    """A file that goes with a message, with a link to it that is good for 24 hours and needs no
    credentials."""

    url = serializers.SerializerMethodField()

    def get_url(self, upload: Upload) -> str:
        return download_url(upload)
