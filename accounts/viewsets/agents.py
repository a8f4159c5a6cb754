"""`/api/agents`: the chat models with the user's preferences."""

from collections.abc import Mapping

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.selectors.preferences import get_agent, list_agents
from accounts.serializers.agents import (
    AgentChangesSerializer,
    AgentInputSerializer,
    AgentModelSerializer,
    AgentSerializer,
    NamedAgentChangesSerializer,
)
from accounts.services.preferences import set_preference
from accounts.types import AuthenticatedRequest
from common.errors import NotFound
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet


class AgentViewSet(ViewSet):
    """Every chat model is listed, with or without preferences."""

    @extend_schema(operation_id="listAgents", responses=AgentSerializer(many=True))
    def list(self, request: AuthenticatedRequest) -> Response:
        """All chat models as you want them, your favourites first."""
        return Response([AgentSerializer(agent).data for agent in list_agents(request.user)])

    @extend_schema(
        operation_id="setAgent",
        request=AgentInputSerializer,
        responses={200: AgentSerializer, 201: AgentSerializer},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Set your preferences for a model.

        The status is 201 the first time, and 200 where you had preferences for it before: then
        omitted ones stay.
        """
        body = read(AgentInputSerializer, request.data)
        preference, is_first = set_preference(user=request.user, **body)
        agent = get_agent(request.user, preference.model)
        code = status.HTTP_201_CREATED if is_first else status.HTTP_200_OK
        return Response(AgentSerializer(agent).data, status=code)

    @extend_schema(
        operation_id="updateNamedAgent",
        parameters=[OpenApiParameter("model", str, description="Where the body does not name it.")],
        request=NamedAgentChangesSerializer,
        responses={200: AgentSerializer, **error_responses(NotFound)},
    )
    def update_named(self, request: AuthenticatedRequest) -> Response:
        """Change some of your preferences for the model that the body names, or the query."""
        body = request.data if isinstance(request.data, Mapping) else {}
        named = read(AgentModelSerializer, {**request.query_params.dict(), **body})
        return self.partial_update(request, named["model"])

    @extend_schema(
        operation_id="updateAgent",
        parameters=[OpenApiParameter("model", str, OpenApiParameter.PATH)],
        request=AgentChangesSerializer,
        responses=AgentSerializer,
    )
    def partial_update(self, request: AuthenticatedRequest, model: str) -> Response:
        """Change some of your preferences for a model."""
        agent = get_agent(request.user, model)
        changes = read(AgentChangesSerializer, request.data)
        set_preference(user=request.user, model=agent.model, **changes)
        return Response(AgentSerializer(get_agent(request.user, agent.model)).data)
