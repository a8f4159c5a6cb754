"""The port of the metrics: `GET /metrics`, answered by threads, so that a scrape neither waits for
the event loop nor for a place among the requests."""

import logging
import socket
import sys
import threading
from http.server import ThreadingHTTPServer

from prometheus_client import MetricsHandler

from observability.metrics.registry import REGISTRY

log = logging.getLogger(__name__)

PATH = "/metrics"
# Seconds for a client to send its request, and to take a part of the answer.
CLIENT_SECONDS = 10.0


def port_of(text: str) -> int | None:
    """The port that a setting names, None where it is empty. Raises ValueError, with a
    sentence."""
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise ValueError(f"METRICS_PORT must be a number from 1 to 65535, not {text!r}.")
    return int(text)


def serve(host: str, port: int) -> None:
    """Answer on this port from now on, until the process ends. Raises OSError, with a sentence,
    where that is not possible."""
    try:
        server = _Server(host, port)
    except OSError as error:
        raise OSError(
            f"Metrics cannot be served on {host}, port {port} ({error.strerror}): "
            "METRICS_HOST is an address of this machine, and each process has a METRICS_PORT "
            "of its own."
        ) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


class _Server(ThreadingHTTPServer):
    """On an address of either family of IP."""

    def __init__(self, host: str, port: int) -> None:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self.address_family = family
        super().__init__((str(address[0]), port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Of a client that has gone there is nothing to say."""
        if not isinstance(sys.exception(), OSError):
            log.exception("metrics.not_answered")


class _Handler(MetricsHandler):
    """Without a line in the log for each request."""

    registry = REGISTRY
    timeout = CLIENT_SECONDS

    def do_GET(self) -> None:  # noqa: N802 - the library's name
        if self.path.partition("?")[0] == PATH:
            super().do_GET()
        else:
            self.send_error(404)
