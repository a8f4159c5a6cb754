"""Starts the metrics of this process: docs/operations/metrics.md."""

from typing import Literal

from django.conf import settings

from ai.inference.metrics import max_open_calls, show_faults_of
from common import pool_metrics  # noqa: F401 - registers its metrics
from observability.metrics.instruments import gauge
from observability.metrics.server import port_of, serve

Kind = Literal["web", "worker", "beat"]

process_info = gauge(
    "platform_process_info",
    "Which process this is.",
    kind=frozenset({"web", "worker", "beat"}),
)


def start(kind: Kind) -> None:
    """Serve the metrics of this process, where METRICS_PORT is set. Raises OSError, with a
    sentence, where that is not possible."""
    port = port_of(settings.METRICS_PORT)
    if port is None:
        return
    process_info.labels(kind).set(1)
    max_open_calls.set(settings.MAX_OPEN_CALLS)
    show_faults_of(settings.PROVIDERS)
    serve(settings.METRICS_HOST, port)
    if kind == "beat":
        # Its metrics are those of the beat alone.
        from config import store_metrics

        store_metrics.start()
