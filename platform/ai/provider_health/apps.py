"""The health of providers: circuits, keys that rest, and operators' switches."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class HealthConfig(AppConfig):
    name = "ai.provider_health"
    label = "health"

    def ready(self) -> None:
        post_migrate.connect(_add_missing_providers, sender=self)


def _add_missing_providers(*, using: str = "default", **_: Any) -> None:
    """Rows for new providers, with every `migrate`; not before this app's own table is there."""
    from ai.provider_health.switches import add_missing_providers
    from common.sqlfunctions import is_migrated

    if is_migrated("health", using):
        add_missing_providers()
