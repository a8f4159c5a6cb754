"""Spaces, conversations with branches and streamed replies, sharing, transcription."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
