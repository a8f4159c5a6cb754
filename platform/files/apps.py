"""Models' pictures and users' uploads, and the signed links to them."""

from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "files"
