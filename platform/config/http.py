"""uvicorn's HTTP, with bounds on the head of a request, which a handshake is too, and on waiting
for those who do not read.

uvicorn waits for ever until a head ends, and keeps all of it; so it does with an answer that nobody
takes. A deployment names this class with `--http`.
"""

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from config.stalls import cut_off_stalled

# From the connection, or from the first byte of a later request, until the head has ended.
HEAD_SECONDS = 10.0
# What may be read that brings neither the end of a head nor a piece of a body: more of the head,
# the sizes of chunks, trailers.
MAX_HEAD_BYTES = 65_536
# A client that takes nothing of its answer for so long is cut off.
STALLED_MILLISECONDS = 60_000


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    stalled_milliseconds = STALLED_MILLISECONDS
    _deadline: TimerHandle | None = None
    _has_come_on = False
    _bytes_for_nothing = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        cut_off_stalled(transport, self.stalled_milliseconds)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Between two requests it is the keep-alive timer that runs, until there is a byte."""
        if self.timeout_keep_alive_task is not None:
            self._start_deadline()
        self._has_come_on = False
        super().data_received(data)
        self._bytes_for_nothing = 0 if self._has_come_on else self._bytes_for_nothing + len(data)
        if self._bytes_for_nothing > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        self._has_come_on = True
        self._stop_deadline()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._has_come_on = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_come_on = True
        super().on_message_complete()

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
