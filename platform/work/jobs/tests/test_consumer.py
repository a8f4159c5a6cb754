"""A worker outlives the loss of its broker, wherever the loss shows."""

from typing import Any

import pytest
from celery import current_app as app
from django.conf import settings
from kombu import Connection


def test_a_closed_connection_counts_as_a_lost_one() -> None:
    channel: Any
    with Connection(settings.REDIS_URL) as connection:
        channel = connection.channel()
        channel.connection.client = None  # as another part of the event loop leaves it
        worker: Any = app.WorkController(app=app)
        with pytest.raises(worker.consumer.connection_errors):
            channel._connparams()
