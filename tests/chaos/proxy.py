"""A TCP proxy between a process and PostgreSQL, which loses replies when told to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from common.local.ports import LOOPBACK


class LossyProxy:
    """Forwards bytes both ways. Once `lose_reply_to` is set, the connection that sends those bytes
    is cut when the server answers, so that the statement takes effect and nobody hears of it.

    With `then_refuse`, it also refuses new connections from then on, until that is unset. While
    `flowing` is unset, no reply gets through: the server seems frozen.
    """

    def __init__(self, server_port: int) -> None:
        self.lose_reply_to: bytes | None = None
        self.then_refuse = False
        self.flowing = threading.Event()
        self.flowing.set()
        self.lost = threading.Event()
        self._server_port = server_port
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.then_refuse and self.lost.is_set():
                    client.close()
                    continue
                server = socket.create_connection((LOOPBACK, self._server_port))
                doomed = threading.Event()
                for pump in (self._to_server, self._to_client):
                    threading.Thread(
                        target=pump, args=(client, server, doomed), daemon=True
                    ).start()

    def _to_server(
        self, client: socket.socket, server: socket.socket, doomed: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self.lose_reply_to and self.lose_reply_to in data:
                    self.lose_reply_to = None
                    doomed.set()
                server.sendall(data)
        _hang_up(server)

    def _to_client(
        self, client: socket.socket, server: socket.socket, doomed: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                self.flowing.wait()
                if doomed.is_set():
                    self.lost.set()
                    break
                client.sendall(data)
        _hang_up(client)


def _hang_up(connection: socket.socket) -> None:
    """Closing alone would wait for the thread that still reads from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def lossy_proxy(server_port: int) -> Iterator[LossyProxy]:
    proxy = LossyProxy(server_port)
    try:
        yield proxy
    finally:
        proxy.close()
