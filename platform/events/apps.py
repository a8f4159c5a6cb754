"""The append-only event log, its replay, and the sockets that follow it."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EventsConfig(AppConfig):
    name = "events"

    def ready(self) -> None:
        from accounts.services.users import sessions_ended
        from common import ownership
        from common.sqlfunctions import install_functions
        from events.data_ownership import OWNED
        from events.notifier import notify_of_sessions

        post_migrate.connect(install_functions, sender=self)
        sessions_ended.connect(notify_of_sessions)
        ownership.register(*OWNED)
