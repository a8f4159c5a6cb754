"""The OpenAI-compatible interface /v1 and the API key endpoints."""

from django.apps import AppConfig


class PublicApiConfig(AppConfig):
    name = "publicapi"
