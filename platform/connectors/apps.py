"""Connectors."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "connectors"

    def ready(self) -> None:
        from common import ownership
        from connectors.closing import close
        from connectors.owned import OWNED

        ownership.register(*OWNED)
        ownership.register_closing(close)
