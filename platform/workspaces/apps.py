"""Connected workspaces."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        from common import ownership
        from connectors.signals import connector_changed
        from events import declarations
        from events.types import USER_STREAM
        from workspaces.event_types import USER_EVENTS
        from workspaces.owned import OWNED
        from workspaces.services.reauth import follow_connector

        connector_changed.connect(follow_connector)
        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
