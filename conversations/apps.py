"""Spaces, conversations with branches and streamed replies, sharing, transcription."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        from common import ownership
        from common.sqlfunctions import install_functions
        from conversations.owned import OWNED
        from conversations.services.completion import REPLY
        from conversations.types import JOB
        from generations.running import LostCallHandler
        from jobs.handlers import register_begun

        post_migrate.connect(install_functions, sender=self)
        register_begun(JOB, LostCallHandler(REPLY))
        ownership.register(*OWNED)
