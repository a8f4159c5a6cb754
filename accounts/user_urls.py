"""Routes under `/api/users/` that concern the account itself."""

from django.urls import path

from accounts.viewsets.users import ProfileViewSet

urlpatterns = [
    path(
        "me",
        ProfileViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
]
