"""Routes under `/api/agents`."""

from django.urls import path

from accounts.viewsets.agents import AgentViewSet

urlpatterns = [
    path("", AgentViewSet.as_view({"get": "list", "post": "create"})),
    path("/<str:model>", AgentViewSet.as_view({"patch": "partial_update"})),
]
