"""Teams, members and invitations will live here."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    name = "teams"
