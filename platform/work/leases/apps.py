"""Leases: which processes live."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class LeasesConfig(AppConfig):
    name = "work.leases"

    def ready(self) -> None:
        from common.sqlfunctions import install_functions

        post_migrate.connect(install_functions, sender=self)
