"""Spaces, conversations with branches and streamed replies, sharing, transcription."""

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        from ai.generations.running import LostCallHandler
        from common import ownership
        from common.sqlfunctions import install_functions
        from conversations.data_ownership import OWNED
        from conversations.event_types import REPLY_EVENTS, USER_EVENTS
        from conversations.services.completion import REPLY
        from conversations.services.spaces import take_back
        from conversations.types import JOB, STREAM
        from events import declarations
        from events.types import USER_STREAM
        from teams.models import Member
        from work.jobs.handlers import register_begun

        post_migrate.connect(install_functions, sender=self)
        register_begun(JOB, LostCallHandler(REPLY))
        ownership.register(*OWNED)
        declarations.register(STREAM, REPLY_EVENTS)
        declarations.register(USER_STREAM, USER_EVENTS)
        post_delete.connect(take_back, sender=Member)
