"""uvicorn's HTTP, with bounds on the head of a request, which a handshake is too.

uvicorn waits for ever until a head ends, and keeps all of it. A deployment names this class with
`--http`.
"""

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# From the connection, or from the first byte of a later request, until the head has ended.
HEAD_SECONDS = 10.0
# What further reads may bring of a head that the first has not ended.
MAX_HEAD_BYTES = 65_536


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _deadline: TimerHandle | None = None
    _is_in_head = False
    _head_bytes = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Between two requests it is the keep-alive timer that runs, until there is a byte."""
        if self.timeout_keep_alive_task is not None:
            self._start_deadline()
        was_in_head = self._is_in_head
        super().data_received(data)
        if was_in_head and self._is_in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._stop_deadline()
        super().on_headers_complete()

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
