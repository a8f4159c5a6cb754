"""Celery's worker and beat without what they say to a terminal, which is no line of a log: banners,
and words at a signal."""

from importlib import import_module
from typing import Any

from celery.apps import beat, worker


def _say_nothing(*_: object) -> None:
    """In place of Celery's `safe_say`, which writes to stdout, past all logging."""


vars(import_module("celery.apps.worker"))["safe_say"] = _say_nothing


class Worker(worker.Worker):
    """`celery worker`, as if with `--quiet`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "quiet": True})


class Beat(beat.Beat):
    """`celery beat`, as if with `--quiet`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "quiet": True})
