"""Routes under `/files` and `/api/uploads`."""

from django.urls import path

from media.files.viewsets.links import DownloadViewSet, OutputViewSet
from media.files.viewsets.uploads import UploadViewSet

file_routes = [
    path("uploads/<uuid:upload_id>", DownloadViewSet.as_view({"get": "retrieve"})),
    path("<path:name>", OutputViewSet.as_view({"get": "retrieve"})),
]
upload_routes = [
    path("", UploadViewSet.as_view({"get": "list", "post": "create"})),
    path("/<uuid:upload_id>", UploadViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
]
