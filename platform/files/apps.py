"""Stored outputs and the signed links to them; uploads will live here too."""

from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "files"
