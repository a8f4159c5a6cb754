"""Routes under `/api/project/workspaces`."""

from django.urls import path

from integrations.workspaces.viewsets.workspaces import WorkspaceViewSet

urlpatterns = [
    path("", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "/<uuid:workspace_id>",
        WorkspaceViewSet.as_view(
            {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
        ),
    ),
    path("/<uuid:workspace_id>/repos", WorkspaceViewSet.as_view({"get": "repos"})),
]
