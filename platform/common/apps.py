"""The base of every app: errors, ids, money, HTTP, limits, logs."""

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Tags, register

from common.logging import configure


class CommonConfig(AppConfig):
    name = "common"

    def ready(self) -> None:
        from common.connections import connections_add_up

        configure(json=settings.LOG_JSON, level=settings.LOG_LEVEL)
        register(connections_add_up, Tags.database)
