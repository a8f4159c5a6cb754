"""What `/api/uploads` is asked and answers."""

from typing import Any

from rest_framework import serializers

from common.multipart import FormFileField
from files.models import Upload


class UploadInputSerializer(serializers.Serializer[Any]):
    """A form with one file of at most 25 MB."""

    file = FormFileField()


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """A file that was uploaded. `mime` is what its bytes are, `size` how many."""

    mime = serializers.CharField(source="media_type", read_only=True)

    class Meta:
        model = Upload
        fields = ["id", "name", "mime", "size", "created_at"]
        read_only_fields = fields
