"""Models' pictures and users' uploads, and the signed links to them."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FilesConfig(AppConfig):
    name = "media.files"

    def ready(self) -> None:
        from common import ownership
        from common.sqlfunctions import install_functions
        from media.files.data_ownership import OWNED

        post_migrate.connect(install_functions, sender=self)
        ownership.register(*OWNED)
