"""Spaces, conversations, messages, sharing and streamed replies will live here."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
