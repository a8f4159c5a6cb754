"""Routes under `/files`."""

from django.urls import path

from files.viewsets.downloads import DownloadViewSet
from files.viewsets.outputs import OutputViewSet

urlpatterns = [
    path("uploads/<uuid:upload_id>", DownloadViewSet.as_view({"get": "retrieve"})),
    path("<path:name>", OutputViewSet.as_view({"get": "retrieve"})),
]
