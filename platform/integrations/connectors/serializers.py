"""Connectors and files as `/api` shows them. Tokens are never shown."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from integrations.connectors.types import ConnectorStatus, Provider

PROVIDERS = [provider.value for provider in Provider]


@extend_schema_serializer(component_name="ConnectorProvider")
class ProviderSerializer(serializers.Serializer[Any]):
    """`configured`: can accounts be connected here? `scopes` are what users are asked to allow."""

    provider = serializers.ChoiceField(PROVIDERS)
    name = serializers.CharField()
    configured = serializers.BooleanField(source="is_configured")
    scopes = serializers.ListField(child=serializers.CharField())


@extend_schema_serializer(component_name="ConnectorAuthorization")
class AuthorizationSerializer(serializers.Serializer[Any]):
    """The page of consent, and until when the account has to be connected."""

    authorize_url = serializers.CharField()
    expires_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="Connector")
class ConnectorSerializer(serializers.Serializer[Any]):
    """`login` is the account's name at the provider. `scopes` are null where the provider does not
    say what was allowed."""

    id = serializers.UUIDField()
    provider = serializers.ChoiceField(PROVIDERS)
    login = serializers.CharField()
    status = serializers.ChoiceField([status.value for status in ConnectorStatus])
    scopes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    created_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="ConnectorFile")
class FileSerializer(serializers.Serializer[Any]):
    """`size` is null where Google does not say. What a document of Google's editors is converted to
    may have another one."""

    id = serializers.CharField()
    name = serializers.CharField()
    mime = serializers.CharField()
    size = serializers.IntegerField(allow_null=True)
    modified_at = serializers.DateTimeField(allow_null=True)
