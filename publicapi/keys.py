"""`/api/keys`: the API keys of the signed-in user."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.errors import KeyRevoked, TooManyKeys
from accounts.models import ApiKey
from accounts.selectors.api_keys import list_keys
from accounts.services import api_keys
from accounts.types import AuthenticatedRequest
from billing.errors import ApiAccessRequired
from billing.selectors.api_keys import has_api_access, spent_this_month
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from publicapi.serializers import ApiKeySerializer, KeyChangesSerializer, NewApiKeySerializer


class KeyViewSet(ViewSet):
    """Without API access in the plan no key can be created, but keys can be listed and revoked."""

    @extend_schema(
        operation_id="listApiKeys",
        parameters=PAGE_PARAMETERS,
        responses=ApiKeySerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """All keys, revoked ones too, newest first."""
        pages = NewestFirst()
        keys = pages.paginate_queryset(list_keys(request.user), request)
        return pages.get_paginated_response(_shown(keys))

    @extend_schema(
        operation_id="createApiKey",
        request=KeyChangesSerializer,
        responses={201: NewApiKeySerializer, **error_responses(ApiAccessRequired, TooManyKeys)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Create a key. Only this answer contains the key itself."""
        if not has_api_access(request.user):
            raise ApiAccessRequired
        body = read(KeyChangesSerializer, request.data)
        key, raw = api_keys.create_key(user=request.user, **body)
        shown = NewApiKeySerializer(key, context={"spent": {}, "raw": raw})
        return Response(shown.data, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="updateApiKey",
        request=KeyChangesSerializer,
        responses={200: ApiKeySerializer, **error_responses(KeyRevoked)},
    )
    def partial_update(self, request: AuthenticatedRequest, key_id: UUID) -> Response:
        """Change some fields of a key."""
        body = KeyChangesSerializer(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        key = api_keys.update_key(user=request.user, key_id=key_id, **body.validated_data)
        [shown] = _shown([key])
        return Response(shown)

    @extend_schema(operation_id="revokeApiKey", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, key_id: UUID) -> Response:
        """Revoke a key: it fails from its next request on."""
        api_keys.revoke_key(user=request.user, key_id=key_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _shown(keys: Sequence[ApiKey]) -> list[dict[str, Any]]:
    spent = spent_this_month([key.pk for key in keys])
    return [ApiKeySerializer(key, context={"spent": spent}).data for key in keys]
