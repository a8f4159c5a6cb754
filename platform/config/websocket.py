"""uvicorn's WebSocket, with bounds on what a client can make it do.

uvicorn parses and answers whatever comes, but never a handshake that is malformed, and waits for
ever on a client that reads nothing. A deployment names this class with `--ws`.
"""

import logging
import time
from asyncio import BaseTransport
from http import HTTPStatus
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.protocol import OPEN

from config.stalls import cut_off_stalled

# The head of a handshake, which is parsed before anybody's rate is looked at.
MAX_HANDSHAKE_BYTES = 32_768
# Frames of any kind that a client may send in that many seconds: it has hardly anything to say.
MAX_FRAMES = 50
FRAMES_SECONDS = 10.0
TOO_MANY_FRAMES = 4429
# What is parsed at once: a read can bring tens of thousands of frames. Of the shortest ones these
# are a few more than a client may send.
SLICE_BYTES = 512
# A client that takes nothing of what was sent for so long is cut off.
STALLED_MILLISECONDS = 15_000
# At the end of the process, the time that the application has for closing its sockets itself.
CLOSE_SECONDS = 2.0
# And the time after which a client is cut off that has not taken what was sent to it by then.
CUT_SECONDS = 4.0


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection."""

    _frames = 0
    _window_ends = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # One of its own, so that the lines about each socket can be set off (common/logging.py).
        self.logger = self.conn.logger = logging.getLogger("uvicorn.websocket")

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        cut_off_stalled(transport, STALLED_MILLISECONDS)

    def data_received(self, data: bytes) -> None:
        """The first that comes is the whole handshake."""
        if not self.handshake_initiated and len(data) > MAX_HANDSHAKE_BYTES:
            self._refuse_handshake(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "it is too long")
            return
        for start in range(0, len(data), SLICE_BYTES):
            if not self.transport.is_closing():
                super().data_received(data[start : start + SLICE_BYTES])

    def handle_events(self) -> None:
        if self.conn.handshake_exc is not None:
            self._refuse_handshake(HTTPStatus.BAD_REQUEST, str(self.conn.handshake_exc))
        elif self._is_too_much(sum(isinstance(event, Frame) for event in self.conn.events)):
            self._cut_off()
        else:
            super().handle_events()

    async def send(self, message: ASGISendEvent) -> None:
        """A refusal completes the handshake too: to uvicorn it is an error that nothing did."""
        await super().send(message)
        if self.close_sent:
            self.handshake_complete = True

    def shutdown(self) -> None:
        """The application closes its sockets when its clients have all that there is for them."""
        self.loop.call_later(CLOSE_SECONDS, self._shut_down)
        self.loop.call_later(CUT_SECONDS, self.transport.abort)

    def _shut_down(self) -> None:
        if not self.disconnected:
            super().shutdown()

    def _refuse_handshake(self, status: HTTPStatus, problem: str) -> None:
        """With the parser's own answer where it has one."""
        answer = self.conn.reject(status, f"Failed to open a WebSocket connection: {problem}.\n")
        self.transport.write(b"".join(self.conn.data_to_send()) or answer.serialize())
        self.transport.close()

    def _is_too_much(self, frames: int) -> bool:
        now = time.monotonic()
        if now >= self._window_ends:
            self._window_ends = now + FRAMES_SECONDS
            self._frames = 0
        self._frames += frames
        return self._frames > MAX_FRAMES

    def _cut_off(self) -> None:
        if self.conn.state is OPEN:
            self.conn.send_close(TOO_MANY_FRAMES)
            self.handle_parser_exception()
        else:
            self.transport.abort()
