"""Long-running operations of providers."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OperationsConfig(AppConfig):
    name = "ai.operations"

    def ready(self) -> None:
        from django.db.models import Exists, OuterRef

        from ai.operations.data_ownership import OWNED
        from ai.operations.invariants import INVARIANTS
        from ai.operations.models import Operation
        from billing import invariants
        from common import ownership
        from common.sqlfunctions import install_functions
        from work.jobs.retention import keep_while

        # Operators still have to look after it.
        keep_while(Exists(Operation.objects.filter(pk=OuterRef("pk"), is_unreconciled=True)))
        invariants.register(*INVARIANTS)
        post_migrate.connect(install_functions, sender=self)
        ownership.register(*OWNED)
