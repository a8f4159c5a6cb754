"""The service with pauses of a tenth of their length: between two polls of a provider, and after a
step that has failed. Nothing else differs from the settings of the tests.

The processes that tests start have these settings (`tests.hurried_settings`). The process of pytest
does not: a test that calls a function directly sees the pauses of production.
"""

from collections.abc import Mapping
from types import ModuleType

from django.apps import AppConfig


def replace_times(times: Mapping[ModuleType, Mapping[str, object]]) -> None:
    """Give constants of modules other values. Raises AssertionError where one is not there."""
    for module, values in times.items():
        assert values.keys() <= vars(module).keys(), f"{module.__name__} has other names"
        vars(module).update(values)


class HurriedConfig(AppConfig):
    """An app without models, which shortens the times of the others."""

    name = "tests"
    label = "hurried"

    def ready(self) -> None:
        from ai.operations import transitions
        from ai.providers import flux, runway
        from integrations.workspaces.services import writing
        from projects.services import sources, steps
        from studios import handlers

        replace_times(
            {
                transitions: {
                    "SHORTEST_PAUSE": 0.2,
                    "LONGEST_PAUSE": 1.5,
                    "RETRY_PAUSES": (0.1, 0.2, 0.4, 0.8, 1.5, 3.0),
                },
                flux: {"_SHORTEST_PAUSE": 0.05, "_LONGEST_PAUSE": 0.2},
                runway: {"_POLL_SECONDS": 0.5},
                handlers: {"STORE_PAUSES": (0.02, 0.1, 0.3, 0.5, 1.0)},
                sources: {"_PAUSES": (0.05, 0.2)},
                steps: {"PAUSES": (0.1, 0.3)},
                writing: {"_PAUSES": (0.05, 0.1, 0.2)},
            }
        )
