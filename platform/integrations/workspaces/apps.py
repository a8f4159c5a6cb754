"""Connected workspaces."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "integrations.workspaces"

    def ready(self) -> None:
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from integrations.connectors.signals import connector_changed
        from integrations.workspaces.data_ownership import OWNED
        from integrations.workspaces.event_types import USER_EVENTS
        from integrations.workspaces.services.reauth import follow_connector

        connector_changed.connect(follow_connector)
        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
