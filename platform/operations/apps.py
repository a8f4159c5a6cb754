"""Long-running operations of providers."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OperationsConfig(AppConfig):
    name = "operations"

    def ready(self) -> None:
        from billing import invariants
        from common.sqlfunctions import install_functions
        from operations.invariants import INVARIANTS

        invariants.register(*INVARIANTS)
        post_migrate.connect(install_functions, sender=self)
