"""`python -m server.serve --host HOST --port PORT`: the web process, in a container, under `make
run`, in tests and benchmarks. Other options are uvicorn's, and override those given here."""

import argparse
import asyncio
import os
import resource
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from uvicorn import Server
from uvicorn.main import main as uvicorn

from common.shutdown import SERVER_SECONDS, drain_seconds, notice_seconds
from observability.metrics.server import port_of
from server.graceful_accept import ignore_new_connections
from server.memory import return_freed_buffers

APPLICATION = "config.asgi:application"
# Longer than proxies (nginx and ALB 60 s, Caddy 120 s) and clients (Go 90 s) keep an idle
# connection: they close it first, and never send a request on a connection that the server is
# closing.
KEEP_ALIVE_SECONDS = 125


class DrainingServer(Server):
    """A server that loses no connection when it stops listening."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        notice = notice_seconds(os.environ)
        await asyncio.sleep(notice)
        # The drain has begun with the signal.
        if graceful := self.config.timeout_graceful_shutdown:
            self.config.timeout_graceful_shutdown = graceful - notice
        await ignore_new_connections(self.servers)
        await super().shutdown(sockets)


def options() -> tuple[str, ...]:
    """The options of uvicorn for every web process. Raises ValueError for a DRAIN_SECONDS that is
    no number."""
    # Longer than the drain, so that a stopped stream gets its last frames.
    graceful = drain_seconds(os.environ) + SERVER_SECONDS
    return (
        *("--loop", "uvloop", "--http", "server.connections.http:HttpProtocol"),
        *("--ws", "server.connections.websocket:WebSocketProtocol", "--ws-max-size", "65536"),
        *("--ws-per-message-deflate", "false"),
        *("--no-server-header", "--no-access-log", "--no-proxy-headers"),
        *("--timeout-keep-alive", str(KEEP_ALIVE_SECONDS)),
        *("--timeout-graceful-shutdown", str(graceful)),
    )


def command(arguments: Sequence[str]) -> list[str]:
    """The arguments of uvicorn for the arguments of this program. Raises ValueError, with a
    sentence, where its port is that of the metrics."""
    parser = argparse.ArgumentParser(prog="python -m server.serve", description=__doc__)
    parser.add_argument("--application", default=APPLICATION, help="another ASGI application")
    parser.add_argument("--port", type=int, default=8000)
    known, others = parser.parse_known_args(arguments)
    if known.port == port_of(os.environ.get("METRICS_PORT", "")):
        raise ValueError("METRICS_PORT must not be the port of the server: metrics are not public.")
    return [known.application, *options(), "--port", str(known.port), *others]


def allow_many_connections() -> None:
    """Raise the limit of open files to the hard limit. The default is often 1,024, and a connection
    above it is dropped."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    return_freed_buffers()
    allow_many_connections()
    environ.Env.read_env(Path(__file__).parents[2] / ".env")
    try:
        of_uvicorn = command(sys.argv[1:])
    except ValueError as error:
        sys.exit(str(error))
    # uvicorn's command makes its server by this name, and takes no other class.
    vars(import_module("uvicorn.main"))["Server"] = DrainingServer
    try:
        uvicorn(of_uvicorn, prog_name="uvicorn")
    except ImproperlyConfigured as error:
        sys.exit(str(error))
