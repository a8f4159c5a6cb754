"""Runs an ASGI application on 127.0.0.1, and announces when it listens."""

import asyncio
import errno
import os
import socket
import struct
import sys

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from simulator.connection import App

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # struct linger: on, zero seconds


class ResettableProtocol(HttpToolsProtocol):
    """Lets the application cut the connection with a TCP reset, which ASGI cannot."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {"simulator.reset": {"reset": self._reset}}

    def _reset(self) -> None:
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.transport.abort()


class AnnouncingServer(uvicorn.Server):
    """Prints one line once it accepts connections: supervisors and tests wait for the line."""

    def __init__(self, config: uvicorn.Config, *, until_eof: bool) -> None:
        super().__init__(config)
        self._until_eof = until_eof

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self._until_eof:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._on_stdin)
        for listener in sockets or []:
            sys.stdout.write(f"simulator ready on http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()

    def _on_stdin(self) -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self.should_exit = True


def serve(app: App, *, port: int, resettable: bool, until_eof: bool) -> None:
    """Serve until SIGINT or SIGTERM, or until stdin ends. Port 0 takes a free one.

    A busy port ends the process with one sentence.
    """
    try:
        listener = socket.create_server(("127.0.0.1", port), backlog=4096)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        sys.exit(f"The simulator cannot listen: port {port} is in use. Choose another with --port.")
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=ResettableProtocol if resettable else "httptools",
        ws="none",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
        timeout_keep_alive=600,
    )
    AnnouncingServer(config, until_eof=until_eof).run(sockets=[listener])
