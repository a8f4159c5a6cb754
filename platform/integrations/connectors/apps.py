"""Connectors."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "integrations.connectors"

    def ready(self) -> None:
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from integrations.connectors.account_closure import close
        from integrations.connectors.data_ownership import OWNED
        from integrations.connectors.event_types import USER_EVENTS

        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
        ownership.register_closing(close)
