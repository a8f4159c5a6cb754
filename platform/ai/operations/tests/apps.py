"""A kind of operation that only tests have, carried out by real workers."""

from django.apps import AppConfig


class OperationsTestsConfig(AppConfig):
    name = "ai.operations.tests"
    label = "operations_tests"

    def ready(self) -> None:
        from ai.operations.tests import handlers

        handlers.register_all()
