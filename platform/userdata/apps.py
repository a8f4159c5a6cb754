"""The data of an account: its export, and its deletion."""

from django.apps import AppConfig


class UserDataConfig(AppConfig):
    name = "userdata"

    def ready(self) -> None:
        from common import ownership
        from jobs.handlers import register
        from userdata.handlers import ExportHandler
        from userdata.owned import OWNED
        from userdata.types import EXPORT_JOB

        ownership.register(*OWNED)
        register(EXPORT_JOB, ExportHandler())
