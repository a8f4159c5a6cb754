"""Routes under `/api/conversations`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
