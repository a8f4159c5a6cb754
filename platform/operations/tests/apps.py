"""A kind of operation that only tests have, carried out by real workers."""

from django.apps import AppConfig


class OperationsTestsConfig(AppConfig):
    name = "operations.tests"
    label = "operations_tests"

    def ready(self) -> None:
        from operations.tests import handlers

        handlers.register_all()
