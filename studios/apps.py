"""Image, video and 3D generation jobs will live here."""

from django.apps import AppConfig


class StudiosConfig(AppConfig):
    name = "studios"
