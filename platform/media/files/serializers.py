"""Bodies of `/api/uploads`."""

from typing import Any

from rest_framework import serializers

from common.multipart import FormFileField
from media.files.models import Upload


class UploadInputSerializer(serializers.Serializer[Any]):
    """A form with one file of at most 25 MB."""

    file = FormFileField()


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """An uploaded file. `mime` is the type of its bytes, `size` their number; `readable`: models
    get its text, and not just its name."""

    mime = serializers.CharField(source="media_type", read_only=True)
    readable = serializers.BooleanField(source="is_text", read_only=True)

    class Meta:
        model = Upload
        fields = ["id", "name", "mime", "size", "readable", "created_at"]
        read_only_fields = fields
