"""The route `/api/models`."""

from django.urls import path

from billing.viewsets import ModelViewSet

urlpatterns = [path("", ModelViewSet.as_view({"get": "list"}))]
