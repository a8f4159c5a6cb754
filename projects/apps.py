"""Project runs, subtasks, deliverables and connected workspaces will live here."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"
