"""The rules of circuits, as the settings have them."""

from django.conf import settings

from health.circuit import Rules


def circuit_rules() -> Rules:
    """When circuits open, and for how long."""
    return Rules(
        window=settings.CIRCUIT_WINDOW_SECONDS,
        min_calls=settings.CIRCUIT_MIN_CALLS,
        share=settings.CIRCUIT_FAILURE_PERCENT / 100,
        open_seconds=settings.CIRCUIT_OPEN_SECONDS,
    )
