"""Project runs: models of several vendors work on one goal."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from accounts.services import email_kinds
        from common import ownership
        from events import declarations
        from events.types import USER_STREAM
        from projects.account_closure import close
        from projects.data_ownership import OWNED
        from projects.event_types import PROJECT_EVENTS, USER_EVENTS
        from projects.runner import StepHandler
        from projects.services.emails import RUN
        from projects.types import JOB, STREAM
        from work.jobs.handlers import register

        register(JOB, StepHandler())
        email_kinds.register(RUN)
        ownership.register(*OWNED)
        declarations.register(STREAM, PROJECT_EVENTS)
        declarations.register(USER_STREAM, USER_EVENTS)
        ownership.register_closing(close)
