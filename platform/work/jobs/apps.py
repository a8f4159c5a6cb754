"""Work in the background: rows that are claimed, kept by a lease, and never done twice."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class JobsConfig(AppConfig):
    name = "work.jobs"

    def ready(self) -> None:
        from billing import invariants
        from common import ownership
        from common.sqlfunctions import install_functions
        from work.jobs.data_ownership import OWNED
        from work.jobs.invariants import INVARIANTS

        invariants.register(*INVARIANTS)
        post_migrate.connect(install_functions, sender=self)
        ownership.register(*OWNED)
