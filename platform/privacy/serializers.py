"""Exports as `/api` shows them."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from privacy.selectors import STATUSES


@extend_schema_serializer(component_name="DataExportInEvent")
class ExportInEventSerializer(serializers.Serializer[Any]):
    """An export without its link. `size` is in bytes."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(STATUSES)
    size = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="DataExport")
class ExportSerializer(ExportInEventSerializer):
    """`url` is a link to the ZIP file, null until it is completed and once it has expired. It works
    for a day without credentials; ask again for another one. `size` is in bytes."""

    url = serializers.CharField(allow_null=True)
