"""The rules of circuits and of callers, as the settings have them."""

from django.conf import settings

from ai.provider_health.callers import CallerRules
from ai.provider_health.circuit import Rules


def circuit_rules() -> Rules:
    """When probes are made, and when circuits open and close."""
    return Rules(
        window=settings.CIRCUIT_WINDOW_SECONDS,
        failures=settings.CIRCUIT_FAILURES,
        faults=settings.CIRCUIT_FAULTS,
        pause=settings.PROBE_PAUSE_SECONDS,
        probe_seconds=settings.PROBE_SECONDS,
        open_seconds=settings.CIRCUIT_OPEN_SECONDS,
    )


def caller_rules() -> CallerRules:
    """When callers are refused whose own calls fail."""
    return CallerRules(
        in_a_row=settings.CALLER_FAILURES,
        pause=settings.CALLER_PAUSE_SECONDS,
        window=settings.FAILED_CALLS_SECONDS,
        quota=settings.FAILED_CALLS,
        free_quota=settings.FREE_FAILED_CALLS,
    )
