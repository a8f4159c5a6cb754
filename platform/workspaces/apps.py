"""Connected workspaces."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"

    def ready(self) -> None:
        from common import ownership
        from connectors.signals import connector_changed
        from workspaces.owned import OWNED
        from workspaces.services.reauth import follow_connector

        connector_changed.connect(follow_connector)
        ownership.register(*OWNED)
