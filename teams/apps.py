"""Teams of users: members with roles, invitations by mail, an audit log."""

from django.apps import AppConfig


class TeamsConfig(AppConfig):
    name = "teams"

    def ready(self) -> None:
        from accounts.services import email_kinds
        from accounts.services.users import user_departed
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from teams.data_ownership import OWNED
        from teams.event_types import USER_EVENTS
        from teams.services.emails import INVITATION
        from teams.services.members import leave_departed

        email_kinds.register(INVITATION)
        user_departed.connect(leave_departed)
        ownership.register(*OWNED)
        declarations.register(USER_STREAM, USER_EVENTS)
