"""The append-only event log, its replay and the base WebSocket consumer will live here."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"
