"""Routes under `/api/flags` and `/api/cms`."""

from django.urls import path

from content.viewsets.entries import EntryViewSet
from content.viewsets.flags import FlagViewSet

flag_routes = [path("", FlagViewSet.as_view({"get": "retrieve"}))]
cms_routes = [path("", EntryViewSet.as_view({"get": "list"}))]
