"""Spaces, conversations with branches and streamed replies, sharing, transcription."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"

    def ready(self) -> None:
        from conversations.replies.handler import ReplyAbandoner
        from conversations.types import JOB
        from jobs.handlers import register_begun

        register_begun(JOB, ReplyAbandoner())
