"""Routes under `/files`."""

from django.urls import path

from files.viewsets.outputs import OutputViewSet

urlpatterns = [path("<path:name>", OutputViewSet.as_view({"get": "retrieve"}))]
