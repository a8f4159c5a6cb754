"""Project runs: models of several vendors work on one goal."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"

    def ready(self) -> None:
        from jobs.handlers import register
        from projects.runner import StepHandler
        from projects.types import JOB

        register(JOB, StepHandler())
