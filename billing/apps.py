"""Plans, wallets, charges and the ledger: the one place where money moves."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class BillingConfig(AppConfig):
    name = "billing"

    def ready(self) -> None:
        from billing.data_ownership import OWNED
        from common import ownership
        from common.sqlfunctions import install_functions

        post_migrate.connect(install_functions, sender=self)
        ownership.register(*OWNED)
