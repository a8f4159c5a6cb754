"""Routes under `/api/uploads`."""

from django.urls import path

from files.viewsets.uploads import UploadViewSet

urlpatterns = [
    path("", UploadViewSet.as_view({"get": "list", "post": "create"})),
    path("/<uuid:upload_id>", UploadViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
]
