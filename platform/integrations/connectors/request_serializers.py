"""The bodies and queries of `/api/connectors`."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from common.fields import TextField
from integrations.connectors.types import (
    MAX_CODE,
    MAX_FILE_ID,
    MAX_PAGE_TOKEN,
    MAX_QUERY,
    MAX_STATE,
)


@extend_schema_serializer(component_name="AuthorizationQuery")
class AuthorizationQuerySerializer(serializers.Serializer[Any]):
    return_to = TextField(
        max_length=2_000,
        required=False,
        allow_blank=True,
        default="",
        help_text="The page of the web app to end on; one of those that the operator has listed.",
    )


@extend_schema_serializer(component_name="ConnectorInput")
class ConnectorInputSerializer(serializers.Serializer[Any]):
    """What the callback has brought to the page."""

    state = TextField(max_length=MAX_STATE, write_only=True)
    code = TextField(max_length=MAX_CODE, write_only=True)


@extend_schema_serializer(component_name="ConnectorFilesQuery")
class FilesQuerySerializer(serializers.Serializer[Any]):
    q = TextField(
        max_length=MAX_QUERY,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the name has in it, in capitals or not.",
    )
    page = TextField(max_length=MAX_PAGE_TOKEN, required=False, allow_blank=True, default="")


@extend_schema_serializer(component_name="ConnectorImport")
class ImportInputSerializer(serializers.Serializer[Any]):
    file_id = TextField(max_length=MAX_FILE_ID, help_text="The `id` of a file in the list.")
