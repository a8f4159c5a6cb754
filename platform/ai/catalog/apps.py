"""The models on offer, their aliases and their prices."""

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "ai.catalog"
