"""The Celery application: `celery -A config worker --pool=threads`."""

import logging
import os

from celery import Celery, signals
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from common.logging import configure
from config.checks import refuse_unsafe_production

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

# They write three lines for every task; failures are errors, and still written.
_CHATTY = ("celery.beat", "celery.worker.strategy", "celery.app.trace")

app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def log_like_the_web(**_: object) -> None:
    """One form of log line in every process. A receiver of this signal replaces Celery's own."""
    configure(json=not settings.DEBUG)
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
