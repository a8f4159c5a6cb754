"""The Celery application: `celery -A config worker --pool=threads`."""

import logging
import os
import time
import traceback
from functools import cached_property
from typing import Any, Literal

import structlog
from celery import Celery, signals
from celery.loaders.app import AppLoader
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.checks import refuse_unsafe_start
from observability import exporters

log = structlog.get_logger(__name__)

# The default settings refuse an unsafe start; `make run` chooses dev.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")

# These loggers write three lines for every task; failures are errors, and are still written.
_CHATTY = ("celery.beat", "celery.worker.strategy", "celery.app.trace")


class SettingsLoader(AppLoader):
    """Celery's own loader, but settings that cannot be used end the process in a sentence."""

    def config_from_object(self, obj: Any, silent: bool = False) -> Any:
        try:
            _ = settings.PRODUCTION
        except ImproperlyConfigured as error:
            raise SystemExit(str(error)) from None
        return super().config_from_object(obj, silent=silent)


class App(Celery):
    """Celery with our programs."""

    @cached_property
    def Worker(self) -> type:  # noqa: N802 - Celery's name
        from config import celery_programs

        return self.subclass_with_self(celery_programs.Worker)

    @cached_property
    def Beat(self) -> type:  # noqa: N802 - Celery's name
        from config import celery_programs

        return self.subclass_with_self(celery_programs.Beat)


app = App("config", loader="config.celery:SettingsLoader")
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
def check_settings(**_: object) -> None:
    """Check the production settings, as in the web process. (Celery ignores ordinary exceptions of
    signals.)"""
    try:
        refuse_unsafe_start()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None


@signals.beat_init.connect
def start_metrics_of_beat(**_: object) -> None:
    """The beat reads the stores, too."""
    _start_observability("beat")
    log.info("beat.started")


@signals.before_task_publish.connect
def note_sending(headers: dict[str, Any], **_: object) -> None:
    """Note the time in the message: the age of the oldest one is a metric."""
    headers["sent_at"] = time.time()


@signals.celeryd_after_setup.connect
def start_event_loop(instance: Any, **_: object) -> None:
    """Start before Celery connects to the broker: workers find jobs without a broker, too."""
    _start_observability("worker")
    try:
        _start_jobs(list(instance.app.amqp.queues.consume_from))
    except Exception:
        # Celery would ignore it, and take messages whose jobs nobody does.
        raise SystemExit(traceback.format_exc()) from None


def _start_jobs(queues: list[str]) -> None:
    from ai.provider_health.services import get_started
    from work.jobs.worker import get_worker

    get_started()  # the first call does not wait for Redis
    get_worker().start(queues)


def _start_observability(kind: Literal["worker", "beat"]) -> None:
    """Metrics, traces and reports of errors. Raises SystemExit where the port is not free or the
    settings cannot be used, because Celery ignores ordinary exceptions of signals: a worker would
    take messages without the loop that does their jobs."""
    from config import metrics

    try:
        metrics.start(kind)
        exporters.start(kind)
    except (OSError, exporters.NotStarted) as error:
        raise SystemExit(str(error)) from None


@signals.worker_shutting_down.connect
def begin_drain(**_: object) -> None:
    """Begin with the signal itself, because jobs need not wait for Celery's own threads."""
    from work.jobs.worker import get_worker

    get_worker().begin_drain()


@signals.worker_shutdown.connect
def stop_event_loop(**_: object) -> None:
    """Stop when Celery's own threads have ended."""
    from work.jobs.worker import get_worker

    get_worker().stop()
    exporters.stop()
