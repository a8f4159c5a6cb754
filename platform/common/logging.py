"""Structured logs: JSON lines in production, readable ones elsewhere, secrets in neither."""

import logging
import logging.config
import sys

import structlog
from structlog.typing import Processor

from common.redaction import redact


class _OneLineForSuspicions(logging.Filter):
    """What Django calls suspicious is a client's doing: a line tells it, without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class RedactingFormatter(structlog.stdlib.ProcessorFormatter):
    """Redacts the finished line, so that arguments, fields and tracebacks are all covered."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def configure(*, json: bool) -> None:
    """Send structlog and stdlib logging through one formatter to stderr."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": RedactingFormatter,
        "foreign_pre_chain": shared,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *_renderers(json=json),
        ],
    }
    own_handlers: dict[str, object] = {"handlers": [], "propagate": True}
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "filters": {"suspicions": {"()": _OneLineForSuspicions}},
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "formatter": "line",
                    "filters": ["suspicions"],
                }
            },
            "root": {"handlers": ["stderr"], "level": "INFO"},
            "loggers": {
                # The servers bring handlers of their own, which would not redact.
                "uvicorn": own_handlers,
                "uvicorn.error": own_handlers,
                # One line per request, or socket, is for the proxy in front to write.
                "uvicorn.access": {"handlers": [], "propagate": False},
                "uvicorn.websocket": {"level": "WARNING"},
                # Every 4xx is a warning to Django; to us it is an ordinary answer.
                "django.request": {"level": "ERROR"},
            },
        }
    )


def _renderers(*, json: bool) -> list[Processor]:
    if json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    ]
