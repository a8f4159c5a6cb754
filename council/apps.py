"""Council sessions and their model cards will live here."""

from django.apps import AppConfig


class CouncilConfig(AppConfig):
    name = "council"
