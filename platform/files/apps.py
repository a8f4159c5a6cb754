"""Uploads, stored outputs and signed downloads will live here."""

from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "files"
