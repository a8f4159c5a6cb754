"""uvicorn's WebSocket, with bounds on what a client can make it do.

uvicorn parses and answers whatever comes, but never a handshake that is malformed, and waits for
ever on a client that reads nothing. Where a client breaks the protocol it fails itself: before the
handshake is answered, and when the application sends to a socket that is closed for that. Here what
a peer does to its own connection is a line of the level debug. A deployment names this class with
`--ws`.
"""

import logging
import time
from asyncio import BaseTransport
from http import HTTPStatus
from typing import Any

import structlog
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.protocol import OPEN

from server.connections.write_timeout import set_write_timeout

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

log = structlog.get_logger(__name__)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection."""

    _frames = 0
    _window_ends = 0.0
    # Did the peer break the protocol, or did it not answer a ping?
    _has_failed = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # One of its own, so that the lines about each socket can be set off (common/logging.py).
        self.logger = self.conn.logger = logging.getLogger("uvicorn.websocket")

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        set_write_timeout(transport, STALLED_MILLISECONDS)

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
            self._cut_off(TOO_MANY_FRAMES, "too many frames")
        else:
            super().handle_events()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(self.frames):
            self.frames = []
            self._cut_off(CloseCode.INVALID_DATA, "invalid UTF-8")
        else:
            super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        self._fail(str(self.conn.parser_exc))

    def _fail(self, problem: str) -> None:
        """The peer has broken the protocol. Before its handshake is answered there is no close
        frame: the connection ends without one."""
        self._note(problem)
        self._has_failed = self.handshake_complete = True
        if self.conn.close_sent is not None:
            super().handle_parser_exception()
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.ABNORMAL_CLOSURE})
        self.transport.abort()

    def keepalive_timeout(self) -> None:
        self._note("no answer to a ping")
        self._has_failed = True
        super().keepalive_timeout()

    async def send(self, message: ASGISendEvent) -> None:
        """A refusal completes the handshake too: to uvicorn it is an error that nothing did.

        Raises ClientDisconnected where the peer has failed: to uvicorn the application is wrong to
        send to a socket that was closed, whoever closed it.
        """
        await self.writable.wait()
        if self._has_failed:
            raise ClientDisconnected
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
        self._note(problem)
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

    def _cut_off(self, code: int, problem: str) -> None:
        if self.conn.state is OPEN:
            self.conn.send_close(code)
        self._fail(problem)

    def _note(self, problem: str) -> None:
        peer = self.client[0] if self.client else ""
        log.debug("websocket.peer_failed", problem=problem, peer=peer)


def _is_text(pieces: list[bytes]) -> bool:
    try:
        b"".join(pieces).decode()
    except UnicodeDecodeError:
        return False
    return True
