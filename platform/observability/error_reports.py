"""Reports of unhandled errors, and of log lines of the level error, to Sentry.

A report is made of what is harmless by its form: names of code, and ids of ours. What a message
says stays in the log, because any message may quote a prompt or a key.
"""

import logging
import os
import sys
import threading
import tomllib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import sentry_sdk
from django.conf import settings
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.utils import event_from_exception
from structlog.contextvars import get_contextvars

from observability.tracing import spans

if TYPE_CHECKING:
    from sentry_sdk._types import Event, Hint

# Fields of a line that become tags.
TAGS = (
    *("request_id", "job_id", "charge_id", "kind", "provider", "model", "status"),
    *("queue", "sweep", "attempt", "status_code"),
)
# Of an event; all else of it is dropped: requests, users, breadcrumbs, arguments.
_EVENT = frozenset(
    {
        *("event_id", "timestamp", "platform", "level", "logger", "logentry", "exception", "tags"),
        *("release", "environment", "server_name", "sdk"),
    }
)
_FRAME = ("filename", "abs_path", "function", "module", "lineno", "in_app")
# Their failures would report themselves.
_OF_REPORTS = ("sentry_sdk", "opentelemetry", "urllib3")


def start(process: str, *, seconds: float) -> None:
    """Report the errors of this process. One that ends without `stop` still has so many seconds to
    send."""
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=os.environ.get("SENTRY_RELEASE") or _release(),
        environment=settings.SENTRY_ENVIRONMENT,
        # The others read requests, arguments and answers: an exception is found by its log line.
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[ExcepthookIntegration(), AtexitIntegration(callback=lambda *_: None)],
        shutdown_timeout=seconds,
        # A second way out, which SENTRY_SPOTLIGHT opens: it waits for its receiver.
        spotlight=False,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        traces_sample_rate=None,
        auto_session_tracking=False,
        send_client_reports=False,
        before_send=partial(_without_content, process),
    )
    logging.getLogger().addHandler(_Reporter(logging.ERROR))
    threading.excepthook = partial(_report_end_of_thread, threading.excepthook)


def stop(*, seconds: float) -> None:
    """Send what waits, for at most so many seconds."""
    sentry_sdk.get_client().close(timeout=seconds)


class _Reporter(logging.Handler):
    """Reports each record that it is given. Sending is up to a thread with a bounded queue."""

    def emit(self, record: logging.LogRecord) -> None:
        # Django's line about a 5xx: what is no refusal has been reported by its own line.
        is_about_answer = record.name == "django.request" and not record.exc_info
        if is_about_answer or record.name.startswith(_OF_REPORTS):
            return
        try:
            sentry_sdk.capture_event(_event_of(record))
        except Exception:
            # As all handlers do: an error in a report must not become one of a request.
            self.handleError(record)


def _report_end_of_thread(
    hook: Callable[[threading.ExceptHookArgs], Any], args: threading.ExceptHookArgs
) -> None:
    # Python ignores the end of a thread by SystemExit, too.
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        sentry_sdk.capture_exception(args.exc_value)
    hook(args)


def _event_of(record: logging.LogRecord) -> "Event":
    # A line of structlog is a record whose message is its fields.
    fields: dict[str, Any] = record.msg if isinstance(record.msg, dict) else {}
    event: Event = {}
    if exc_info := _exc_info(record.exc_info or fields.get("exc_info")):
        event, _ = event_from_exception(exc_info, sentry_sdk.get_client().options)
    known = {**get_contextvars(), **vars(record), **fields}
    tags = {name: str(known[name]) for name in TAGS if known.get(name) is not None}
    if trace_id := spans.trace_id():
        tags["trace_id"] = trace_id
    event["level"] = "fatal" if record.levelno >= logging.CRITICAL else "error"
    event["logger"] = record.name
    event["logentry"] = {"message": _title(record, fields)}
    event["tags"] = tags
    return event


def _exc_info(given: Any) -> Any:
    """What `exc_info` of a line may be: an exception, the triple of one, or true for the current
    one."""
    if isinstance(given, BaseException):
        return (type(given), given, given.__traceback__)
    triple = given if isinstance(given, tuple) else sys.exc_info() if given else (None,) * 3
    return triple if triple[1] is not None else None


def _title(record: logging.LogRecord, fields: dict[str, Any]) -> str:
    """The name of the event, or the template of the message. A message without arguments may have
    been put together already: the place in the code stands for it."""
    if "event" in fields:
        return str(fields["event"])
    if record.args and isinstance(record.msg, str):
        return record.msg
    return f"{record.name}, {record.module}:{record.lineno}"


def _without_content(process: str, event: "Event", _hint: "Hint") -> "Event":
    """Keep what is named here, of events of the SDK itself too."""
    kept: dict[str, Any] = {name: value for name, value in event.items() if name in _EVENT}
    kept["tags"] = {**kept.get("tags", {}), "process": process}
    for exception in kept.get("exception", {}).get("values", []):
        exception["value"] = ""
        for name in ("mechanism", "raw_stacktrace"):
            exception.pop(name, None)
        stack = exception.get("stacktrace") or {}
        for frame in stack.get("frames", []):
            for name in set(frame) - set(_FRAME):
                del frame[name]
    return kept  # type: ignore[return-value]


def _release() -> str | None:
    """The version of this code."""
    try:
        project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None
    return f"{project['name']}@{project['version']}"
