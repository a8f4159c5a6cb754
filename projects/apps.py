"""Project runs: models of several vendors work on one goal."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from common import ownership
        from jobs.handlers import register
        from projects.closing import close
        from projects.owned import OWNED
        from projects.runner import StepHandler
        from projects.types import JOB

        register(JOB, StepHandler())
        ownership.register(*OWNED)
        ownership.register_closing(close)
