"""Connectors."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "connectors"

    def ready(self) -> None:
        from common import ownership
        from connectors.closing import close
        from connectors.event_types import USER_EVENTS
        from connectors.owned import OWNED
        from events import declarations
        from events.types import USER_STREAM

        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
        ownership.register_closing(close)
