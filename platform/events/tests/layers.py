"""Notifications of this process over a test's own Redis."""

from pytest_django import Settings

from events.notifier import LAYER
from tests.own_redis import OwnRedis


def ring_over(own_redis: OwnRedis, settings: Settings) -> None:
    """Until the test ends."""
    layer = settings.CHANNEL_LAYERS[LAYER]
    settings.CHANNEL_LAYERS = {LAYER: {**layer, "CONFIG": {"hosts": [own_redis.url]}}}
