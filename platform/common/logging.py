"""Structured logs: JSON lines in production, readable ones elsewhere, secrets in neither."""

import logging
import logging.config
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import structlog
from structlog.typing import Processor

from common.outages import OUTAGE, is_away
from common.redaction import redact
from common.set_up import is_missing

# What LOG_LEVEL may be.
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class _SuspiciousOperationFilter(logging.Filter):
    """A suspicious operation, in Django's words, is a client's error: it is logged without a
    traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class _AnsweredFilter(logging.Filter):
    """Django's line about an answer of 5xx says no more than that of the request, unless there is
    an exception behind it that nobody expects: who answers errors of the database logs them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name != "django.request":
            return True
        error = record.exc_info[1] if record.exc_info else None
        return error is not None and not is_away(error) and not is_missing(error)


class _OutageFilter(logging.Filter):
    """While PostgreSQL is known to be away, warnings of those who handle its errors add nothing to
    the line of the outage, nor do tracebacks of Celery's tasks: what they do is looked for again.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "celery.app.trace" and record.exc_info:
            return not OUTAGE.caused(record.exc_info[1])
        return record.levelno > logging.WARNING or not OUTAGE.caused(sys.exception())


class _PoolFilter(logging.Filter):
    """The pools warn of every attempt to connect, and of every connection that has broken;
    common.outages says it once."""

    _TOLD = ("error connecting", "reconnection attempt", "discarding closed connection")

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name != "psycopg.pool" or not record.msg.startswith(self._TOLD)


class RedactingFormatter(structlog.stdlib.ProcessorFormatter):
    """Redacts the finished line, so that arguments, fields and tracebacks are all covered."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class CallLine(msgspec.Struct, kw_only=True):
    """A line that is written for every call or request, and therefore has to be cheap: it is no
    record, passes no processors and is not redacted. Its fields are ids, names and numbers of ours.

    A subclass has a tag, the name of the event, in the field `event`.
    """

    def write(self, level: str = "INFO") -> None:
        """Write it, unless lines of this level (one of LEVELS) are off."""
        if level in _written:
            sys.stderr.write(f"{_render(self, level.lower())}\n")


def _as_json(line: CallLine, level: str) -> str:
    return f'{{"timestamp":"{_now()}","level":"{level}",{msgspec.json.encode(line).decode()[1:]}'


def _as_text(line: CallLine, level: str) -> str:
    event, *fields = msgspec.to_builtins(line).items()
    shown = " ".join(f"{name}={value}" for name, value in fields)
    return f"{_now()} [{level:<9}] {event[1]:<30} {shown}"


def _now() -> str:
    return f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


# The form of the lines of calls, and the levels that are written.
_render: Callable[[CallLine, str], str] = _as_text
_written: frozenset[str] = frozenset()


def configure(*, json: bool, level: str = "INFO") -> None:
    """Send the lines of structlog and stdlib logging of `level` and above, and Python's warnings,
    through one formatter to stderr."""
    global _render, _written  # noqa: PLW0603 - set once, when the process starts
    _render = _as_json if json else _as_text
    _written = frozenset(LEVELS[LEVELS.index(level) :])
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
    logging.captureWarnings(True)
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
            "filters": {
                "suspicions": {"()": _SuspiciousOperationFilter},
                "answers": {"()": _AnsweredFilter},
                "outages": {"()": _OutageFilter},
                "pools": {"()": _PoolFilter},
            },
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "formatter": "line",
                    "filters": ["suspicions", "answers", "outages", "pools"],
                }
            },
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {
                # The servers' own handlers would not redact.
                "uvicorn": own_handlers,
                "uvicorn.error": own_handlers,
                # server.request_lines logs requests and sockets.
                "uvicorn.access": {"handlers": [], "propagate": False},
                "uvicorn.websocket": {"level": "WARNING"},
                # What peers do to their connections is said by server.connections.http, at the
                # level debug.
                "uvicorn.peers": {"level": "CRITICAL"},
                # It logs the URL of every call: names of users' repositories, and queries.
                "httpx": {"level": "WARNING"},
                # It tells of every connection that is taken and returned.
                "psycopg.pool": {"level": "WARNING"},
                # Django warns of every 4xx; here it is an ordinary answer.
                "django.request": {"level": "ERROR"},
                # These log every statement and every step of the loop: they stay off even at the
                # level debug.
                "django.db.backends": {"level": "INFO"},
                "asyncio": {"level": "INFO"},
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
