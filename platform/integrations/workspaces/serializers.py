"""Workspaces and repositories as `/api` shows them. Tokens are never shown."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from common.fields import WordsField
from integrations.githosts.types import HostKind
from integrations.workspaces.types import WorkspaceStatus


@extend_schema_serializer(component_name="Workspace")
class WorkspaceSerializer(serializers.Serializer[Any]):
    """`base_url` is null for the host's cloud, `connector_id` where it stands on a token. `scopes`
    are null where the host does not say what the token may do, `expires_at` where the token does
    not expire."""

    id = serializers.UUIDField()
    provider = serializers.ChoiceField([kind.value for kind in HostKind])
    base_url = WordsField()
    connector_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    login = serializers.CharField()
    status = serializers.ChoiceField([status.value for status in WorkspaceStatus])
    scopes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    checked_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()


@extend_schema_serializer(component_name="Repository")
class RepositorySerializer(serializers.Serializer[Any]):
    """`default_branch` is null where there is no commit. `can_write`: may the token push?"""

    name = serializers.CharField()
    url = serializers.CharField()
    default_branch = WordsField()
    private = serializers.BooleanField(source="is_private")
    archived = serializers.BooleanField(source="is_archived")
    can_write = serializers.BooleanField()
