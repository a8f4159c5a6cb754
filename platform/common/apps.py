"""What every app stands on: errors, ids, money, HTTP, limits, logs."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "common"
