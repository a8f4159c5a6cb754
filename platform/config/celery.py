"""The Celery application: `celery -A config worker --pool=threads`."""

import logging
import os
from typing import Any

from celery import Celery, signals
from django.core.exceptions import ImproperlyConfigured

from config.checks import refuse_unsafe_production

# Whoever forgets to choose gets the settings that refuse to be unsafe; `make run` chooses dev.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")

# They write three lines for every task; failures are errors, and still written.
_CHATTY = ("celery.beat", "celery.worker.strategy", "celery.app.trace")

app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def log_like_the_web(**_: object) -> None:
    """The app `common` has set up logging; a receiver of this signal keeps Celery's own away."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


@signals.worker_init.connect
@signals.beat_init.connect
def refuse_unsafe_start(**_: object) -> None:
    """A worker is held to the same rules as the web. (A signal swallows ordinary exceptions.)"""
    try:
        refuse_unsafe_production()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None


@signals.celeryd_after_setup.connect
def start_event_loop(instance: Any, **_: object) -> None:
    """Before Celery connects to the broker: jobs are looked out for without it, too."""
    from jobs.worker import get_worker

    get_worker().start(list(instance.app.amqp.queues.consume_from))


@signals.worker_shutting_down.connect
def begin_drain(**_: object) -> None:
    """With the signal itself: how long Celery's own threads take is nothing to jobs."""
    from jobs.worker import get_worker

    get_worker().begin_drain()


@signals.worker_shutdown.connect
def stop_event_loop(**_: object) -> None:
    """When Celery's own threads have ended."""
    from jobs.worker import get_worker

    get_worker().stop()
