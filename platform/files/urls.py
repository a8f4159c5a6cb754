"""Routes under `/files`."""

from django.urls import path

from files.viewsets import FileViewSet

urlpatterns = [path("<path:name>", FileViewSet.as_view({"get": "retrieve"}))]
