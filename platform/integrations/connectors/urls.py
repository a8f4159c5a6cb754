"""Routes under `/api/connectors`."""

from django.urls import path

from integrations.connectors.viewsets.authorizations import AuthorizationViewSet, CallbackViewSet
from integrations.connectors.viewsets.connectors import ConnectorViewSet

urlpatterns = [
    path("", ConnectorViewSet.as_view({"get": "list", "post": "create"})),
    path("/providers", AuthorizationViewSet.as_view({"get": "list"})),
    path(
        "/<uuid:connector_id>",
        ConnectorViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path("/<uuid:connector_id>/files", ConnectorViewSet.as_view({"get": "files"})),
    path("/<uuid:connector_id>/import", ConnectorViewSet.as_view({"post": "import_file"})),
    path("/<str:provider>/authorize", AuthorizationViewSet.as_view({"get": "authorize"})),
    path("/<str:provider>/callback", CallbackViewSet.as_view({"get": "retrieve"})),
]
