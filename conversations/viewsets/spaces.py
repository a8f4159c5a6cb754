"""`/api/spaces`: folders of conversations."""

from collections.abc import Mapping
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.errors import NotFound
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from conversations.errors import NothingToShareWith, OwnerOnly, TooManySpaces
from conversations.request_serializers.conversations import (
    NamedSpaceChangesSerializer,
    NamedSpaceSerializer,
    SpaceChangesInputSerializer,
    SpaceInputSerializer,
)
from conversations.selectors.spaces import get_space, list_spaces
from conversations.serializers.conversations import SpaceSerializer
from conversations.services import spaces

_NAMED = OpenApiParameter("id", UUID, description="The space, where the body does not name it.")


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

    @extend_schema(
        operation_id="updateNamedSpace",
        parameters=[_NAMED],
        request=NamedSpaceChangesSerializer,
        responses={
            200: SpaceSerializer,
            **error_responses(NotFound, OwnerOnly, NothingToShareWith),
        },
    )
    def update_named(self, request: AuthenticatedRequest) -> Response:
        """Change the space that the body names by its `id`, or the query."""
        return self.partial_update(request, _named_in(request))

    @extend_schema(
        operation_id="deleteNamedSpace",
        parameters=[_NAMED],
        request=None,
        responses={204: None, **error_responses(NotFound, OwnerOnly)},
    )
    def destroy_named(self, request: AuthenticatedRequest) -> Response:
        """Delete the space that the query names by its `id`, or the body."""
        return self.destroy(request, _named_in(request))

    @extend_schema(operation_id="deleteSpace", responses={204: None, **error_responses(OwnerOnly)})
    def destroy(self, request: AuthenticatedRequest, space_id: UUID) -> Response:
        """Delete a space. Its conversations stay, and are in none."""
        spaces.delete(user=request.user, space_id=space_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _named_in(request: AuthenticatedRequest) -> UUID:
    """The id of the space. Raises DRF's ValidationError where there is none."""
    body = request.data if isinstance(request.data, Mapping) else {}
    named = {**request.query_params.dict(), **body}
    space_id: UUID = read(NamedSpaceSerializer, named)["id"]
    return space_id


def _shown(request: AuthenticatedRequest, space_id: UUID) -> object:
    return SpaceSerializer(get_space(request.user, space_id)).data
