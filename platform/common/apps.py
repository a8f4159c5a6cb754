"""The base of every app: errors, ids, money, HTTP, limits, logs."""

from django.apps import AppConfig
from django.conf import settings

from common.logging import configure


class CommonConfig(AppConfig):
    name = "common"

    def ready(self) -> None:
        configure(json=settings.LOG_JSON, level=settings.LOG_LEVEL)
