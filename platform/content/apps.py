"""Feature flags and marketing content."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ContentConfig(AppConfig):
    name = "content"

    def ready(self) -> None:
        from common import ownership
        from content.data_ownership import OWNED

        post_migrate.connect(_add_missing_flags, sender=self)
        ownership.register(*OWNED)


def _add_missing_flags(*, using: str = "default", **_: Any) -> None:
    """Rows for new flags, with every `migrate`; not before this app's own tables are there."""
    from common.sqlfunctions import is_migrated
    from content.services.flags import add_missing_records

    if is_migrated("content", using):
        add_missing_records()
