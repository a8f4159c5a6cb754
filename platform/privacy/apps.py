"""The data of an account: its export, and its deletion."""

from django.apps import AppConfig


class UserDataConfig(AppConfig):
    name = "privacy"
    label = "userdata"

    def ready(self) -> None:
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from privacy.data_ownership import OWNED
        from privacy.event_types import USER_EVENTS
        from privacy.handlers import ExportHandler
        from privacy.types import EXPORT_JOB
        from work.jobs.handlers import register

        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
        register(EXPORT_JOB, ExportHandler())
