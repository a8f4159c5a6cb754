"""The Celery application: `celery -A config worker --pool=threads`."""

import logging
import os
from typing import Any

from celery import Celery, signals
from django.core.exceptions import ImproperlyConfigured

from config.checks import refuse_unsafe_production

# The default settings refuse an unsafe start; `make run` chooses dev.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")

# These loggers write three lines for every task; failures are errors, and are still written.
_CHATTY = ("celery.beat", "celery.worker.strategy", "celery.app.trace")

app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def log_like_the_web(**_: object) -> None:
    """The app `common` has set up logging; with a receiver of this signal Celery leaves it
    alone."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


@signals.worker_init.connect
@signals.beat_init.connect
def refuse_unsafe_start(**_: object) -> None:
    """Check the production settings, as in the web process. (Celery ignores ordinary exceptions of
    signals.)"""
    try:
        refuse_unsafe_production()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None


@signals.celeryd_after_setup.connect
def start_event_loop(instance: Any, **_: object) -> None:
    """Start before Celery connects to the broker: workers find jobs without a broker, too."""
    from jobs.worker import get_worker

    get_worker().start(list(instance.app.amqp.queues.consume_from))


@signals.worker_shutting_down.connect
def begin_drain(**_: object) -> None:
    """Begin with the signal itself, because jobs need not wait for Celery's own threads."""
    from jobs.worker import get_worker

    get_worker().begin_drain()


@signals.worker_shutdown.connect
def stop_event_loop(**_: object) -> None:
    """Stop when Celery's own threads have ended."""
    from jobs.worker import get_worker

    get_worker().stop()
