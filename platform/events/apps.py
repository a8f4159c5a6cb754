"""The append-only event log, its replay, and the sockets that follow it."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EventsConfig(AppConfig):
    name = "events"

    def ready(self) -> None:
        from common.sqlfunctions import install_functions

        post_migrate.connect(install_functions, sender=self)
