"""Feature flags and marketing content will live here."""

from django.apps import AppConfig


class ContentConfig(AppConfig):
    name = "content"
