"""`/api/spaces`: folders of conversations."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from conversations.errors import NothingToShareWith, OwnerOnly, TooManySpaces
from conversations.request_serializers.conversations import (
    SpaceChangesInputSerializer,
    SpaceInputSerializer,
)
from conversations.selectors.spaces import get_space, list_spaces
from conversations.serializers.conversations import SpaceSerializer
from conversations.services import spaces


class SpaceViewSet(ViewSet):
    """Your spaces, and those that members of your team share. A conversation is in one space of its
    owner's, or in none."""

    @extend_schema(
        operation_id="listSpaces", parameters=PAGE_PARAMETERS, responses=SpaceSerializer(many=True)
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your spaces, and those that are shared with you, newest first."""
        return NewestFirst().answer(request, list_spaces(request.user), SpaceSerializer)

    @extend_schema(
        operation_id="createSpace",
        request=SpaceInputSerializer,
        responses={201: SpaceSerializer, **error_responses(TooManySpaces)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Create a space."""
        body = read(SpaceInputSerializer, request.data)
        space = spaces.create(user=request.user, **body)
        return Response(_shown(request, space.pk), status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="getSpace", responses=SpaceSerializer)
    def retrieve(self, request: AuthenticatedRequest, space_id: UUID) -> Response:
        """A space of yours, or one that is shared with you."""
        return Response(_shown(request, space_id))

    @extend_schema(
        operation_id="updateSpace",
        request=SpaceChangesInputSerializer,
        responses={200: SpaceSerializer, **error_responses(OwnerOnly, NothingToShareWith)},
    )
    def partial_update(self, request: AuthenticatedRequest, space_id: UUID) -> Response:
        """Rename a space, change its instructions, or open it to your team.

        The instructions apply from the next message of each conversation on. `shared` lets all
        members of your team read the conversations of the space, or also write there; null takes
        the space back, also from who is reading a reply at the moment. Whoever asks for a reply
        pays it.
        """
        body = read(SpaceChangesInputSerializer, request.data)
        spaces.update(user=request.user, space_id=space_id, **body)
        return Response(_shown(request, space_id))

    @extend_schema(operation_id="deleteSpace", responses={204: None, **error_responses(OwnerOnly)})
    def destroy(self, request: AuthenticatedRequest, space_id: UUID) -> Response:
        """Delete a space. Its conversations stay, and are in none."""
        spaces.delete(user=request.user, space_id=space_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _shown(request: AuthenticatedRequest, space_id: UUID) -> object:
    return SpaceSerializer(get_space(request.user, space_id)).data
