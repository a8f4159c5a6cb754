"""Users, their tokens and their API keys."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import audit
        from accounts.data_ownership import OWNED
        from accounts.services.account_emails import register_kinds
        from common import ownership

        audit.connect()
        register_kinds()
        ownership.register(*OWNED)
