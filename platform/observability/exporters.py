"""Starts the traces and the reports of errors of this process: docs/operations/tracing.md."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from django.conf import settings

if TYPE_CHECKING:
    from observability.tracing.otel import OpenTelemetry

# Seconds for the last spans, and for the last reports, after the drain. Together they are less than
# what a worker has left then (`work.jobs.worker.LEAVE_SECONDS`).
FLUSH_SECONDS = 2.0

_PROTOCOL = "http/protobuf"
_INSTALL = "Install requirements-observability.txt, or remove the variable."

_tracing: "OpenTelemetry | None" = None


class NotStarted(Exception):
    """What the settings ask for cannot be started. The text is a sentence for operators."""


def start(kind: Literal["web", "worker", "beat"]) -> None:
    """Start what the settings ask for. It starts threads, so it belongs to the start of a process,
    after any fork. Nothing is traced in the beat, which only sends messages. Raises NotStarted."""
    global _tracing  # noqa: PLW0603 - set when the process starts and ends
    if settings.SENTRY_DSN:
        with _explaining("Sentry", "SENTRY_..."):
            from observability import error_reports

            error_reports.start(kind, seconds=FLUSH_SECONDS)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT and kind != "beat" and not _is_disabled():
        with _explaining("OpenTelemetry", "OTEL_..."):
            from observability.tracing import otel

            _tracing = otel.start(kind)


def stop() -> None:
    """Send what waits, within a time limit."""
    global _tracing  # noqa: PLW0603 - see above
    if _tracing is not None:
        from observability.tracing import otel

        otel.stop(_tracing, seconds=FLUSH_SECONDS)
        _tracing = None
    if settings.SENTRY_DSN:
        from observability import error_reports

        error_reports.stop(seconds=FLUSH_SECONDS)


def observability_dangers() -> Iterator[str]:
    """A sentence for each setting by which nothing would be traced or reported."""
    if endpoint := settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        if not _is_installed("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"):
            yield f"OTEL_EXPORTER_OTLP_ENDPOINT needs the SDK of OpenTelemetry. {_INSTALL}"
        if not _is_http(endpoint):
            yield "OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:// or https://."
        if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", _PROTOCOL) not in ("", _PROTOCOL):
            yield f"OTEL_EXPORTER_OTLP_PROTOCOL must be {_PROTOCOL}, or be removed."
    if dsn := settings.SENTRY_DSN:
        if not _is_installed("sentry_sdk"):
            yield f"SENTRY_DSN needs the SDK of Sentry. {_INSTALL}"
        elif not _is_dsn(dsn):
            yield "SENTRY_DSN must be a DSN of Sentry, like https://KEY@HOST/PROJECT."


@contextmanager
def _explaining(sdk: str, variables: str) -> Iterator[None]:
    """An SDK reads most of its variables itself, and refuses what it cannot use."""
    try:
        yield
    except Exception as error:
        raise NotStarted(
            f"The SDK of {sdk} does not start with these variables ({variables}): {error}"
        ) from error


def _is_installed(*packages: str) -> bool:
    with suppress(ImportError):
        return all(find_spec(package) is not None for package in packages)
    return False


def _is_disabled() -> bool:
    """OpenTelemetry's own switch."""
    return os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def _is_http(url: str) -> bool:
    with suppress(ValueError):
        parts = urlsplit(url)
        # A port that is none raises here.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    return False


def _is_dsn(dsn: str) -> bool:
    """What the SDK takes: it is installed here."""
    from sentry_sdk.utils import Dsn

    with suppress(ValueError):
        Dsn(dsn)
        return True
    return False
