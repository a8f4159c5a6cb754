"""Celery's consumer, connected again wherever its broker is lost."""

from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer


class Consumer(CeleryConsumer):
    """A channel of kombu that is used when its connection has just been closed raises
    AttributeError (kombu issue 582), which Celery does not take for a lost connection: the worker
    would end with Redis."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        lost: tuple[type[Exception], ...] = self.connection_errors  # type: ignore[has-type]
        self.connection_errors = (*lost, AttributeError)
