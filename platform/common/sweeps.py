"""Sweeps: periodic tasks that one process carries out at a time."""

import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from celery import shared_task
from django.db.models.functions import Now

from common.locks import try_lock
from common.models import Sweep

if TYPE_CHECKING:
    from celery import Task


def sweep(name: str) -> "Callable[[Callable[[], None]], Task[[], None]]":
    """Make a Celery task of a function. It does nothing while another process carries out the sweep
    of that name; its success is noted (`Sweep`)."""

    def task_of(function: Callable[[], None]) -> "Task[[], None]":
        @wraps(function)
        def carry_out() -> None:
            with try_lock(name) as is_acquired:
                if not is_acquired:
                    return
                began_at = time.monotonic()
                function()
                run = {"succeeded_at": Now(), "seconds": time.monotonic() - began_at}
                Sweep.objects.update_or_create(name=name, defaults=run)

        return shared_task(carry_out)

    return task_of


def note_found(name: str, found: int) -> None:
    """Note how many faults the sweep of that name finds, while it is carried out."""
    first = {"found": found, "succeeded_at": Now(), "seconds": 0}
    Sweep.objects.update_or_create(name=name, defaults={"found": found}, create_defaults=first)
