"""uvicorn's HTTP, with bounds on the head of a request, which a handshake is too, on what comes
after the answer, on requests in advance, on waiting for those who do not read, and on idle ones;
with an end of kept connections that loses no request, and word of answers that were lost.

uvicorn waits for ever until a head ends, and keeps all of it; so it does with an answer that nobody
takes. It warns of each malformed request, and writes the answers to the first of several requests
to a connection that is gone, which is an error. Here what a peer does to its own connection is a
line of the level debug. A deployment names this class with `--http`.
"""

import json
import logging
import random
import sys
import time
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from typing import Any, cast

import httptools
import structlog
from django.conf import settings
from httptools import HttpParserCallbackError, HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from common import envelope
from common.errors import MalformedRequest
from common.ids import request_id
from common.shutdown import LINGER_SECONDS
from server.asgi import Scope
from server.client_ip import client_ip
from server.client_limit import is_refused_for_longer
from server.connections.keepalive_limit import IdleConnections
from server.connections.watched_answer import WatchedAnswer
from server.connections.write_timeout import set_write_timeout
from server.delivery import EXTENSION
from server.discards import get_discard_pacer

# From the connection, or from the first byte of a later request, until the head has ended; and from
# an answer that was given early until the body has. Each deadline is up to a quarter longer:
# connections that came at the same moment would end at the same moment, and come back together.
HEAD_SECONDS = 10.0
JITTER = 0.25
# What may be read that brings neither the end of a head nor a piece of a body: more of the head,
# the sizes of chunks, trailers.
MAX_HEAD_BYTES = 65_536
# Requests that are sent before the first of them is answered. Each takes some kilobytes.
MAX_PIPELINED = 32
# A client that takes nothing of its answer for so long is cut off.
STALLED_MILLISECONDS = 60_000

# Before the calls are stopped: no kept connection brings one more, which would be refused.
LAST_SECONDS = 1.0

_idle = IdleConnections()

log = structlog.get_logger(__name__)


class MalformedByPeer(Exception):
    """Ends the parsing of what was read. The message says what the peer did."""


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    stalled_milliseconds = STALLED_MILLISECONDS
    idle = _idle
    _deadline: TimerHandle | None = None
    _has_progressed = False
    _bytes_without_progress = 0
    _is_whole = True
    _may_upgrade = True
    # The cycle whose application runs; `cycle` is that of the last request that has come.
    _running: RequestResponseCycle | None = None
    # Until when calls can begin, once the process is ending.
    _drain_ends = float("inf")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._errors = self.logger
        # uvicorn warns of peers here. It is off (common/logging.py): this class says it itself.
        self.logger = logging.getLogger("uvicorn.peers")

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._answers: list[WatchedAnswer] = []
        set_write_timeout(transport, self.stalled_milliseconds)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        self.idle.discard(self, self._address)
        for answer in self._answers:
            answer.lose()
        super().connection_lost(exc)
        # uvicorn tells the last request alone, and the first would write to a closed connection.
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        self.pipeline.clear()
        self._forget_requests()

    def resume_writing(self) -> None:
        """All that was written is with the kernel, if an answer of this connection is watched."""
        for answer in self._answers:
            answer.note_flushed()
        super().resume_writing()

    def watch(self, lost: Callable[[], None]) -> WatchedAnswer:
        """Watch the answer of the request that runs, for `server.delivery`."""
        answer = WatchedAnswer(self.transport, self.flow, lost)
        if self.transport.is_closing():
            answer.lose()
            return answer
        self._answers = [each for each in self._answers if not each.is_over]
        self._answers.append(answer)
        self.transport.set_write_buffer_limits(high=0)
        return answer

    def shutdown(self) -> None:
        """The process ends. A kept connection may bring one more request, which is answered with
        `Connection: close`: a proxy may have sent it before it sees the connection closed."""
        left = settings.DRAIN_SECONDS - settings.NOTICE_SECONDS - LAST_SECONDS
        self._drain_ends = time.monotonic() + left
        self._linger()
        if self._deadline is not None:
            self._stop_deadline()
            self._start_deadline(self.timeout_keep_alive)
        elif self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        elif self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False

    def data_received(self, data: bytes) -> None:
        """Between two requests it is the keep-alive timer that runs, until there is a byte."""
        if self.timeout_keep_alive_task is not None:
            self.idle.discard(self, self._address)
            self._start_deadline()
        self._has_progressed = False
        super().data_received(data)
        if not self._is_whole and self.cycle is not None:
            self._read_more_slowly(self.cycle)
        self._bytes_without_progress = (
            0 if self._has_progressed else self._bytes_without_progress + len(data)
        )
        if self._bytes_without_progress > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._is_whole = False
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"watch": self.watch}}

    def on_headers_complete(self) -> None:
        self._has_progressed = True
        self._stop_deadline()
        self._unset_keepalive_if_required()
        self.idle.discard(self, self._address)
        self._may_upgrade = not (self.parser.should_upgrade() and self._is_certain_to_be_refused())
        self._refuse_malformed_target()
        super().on_headers_complete()
        if self.cycle is None:  # a handshake is the first that this connection brings
            return
        self.cycle.logger = self._errors
        if not self._may_upgrade:
            self.cycle.keep_alive = False  # the parser takes what follows for WebSocket frames
        if self._is_ending:
            self.cycle.keep_alive = False
        if len(self.pipeline) > MAX_PIPELINED:
            self.transport.abort()
            raise MalformedByPeer("Too many requests in advance.")

    def send_400_response(self, msg: str) -> None:
        """Called while the exception that ended the parsing is handled, if there was one."""
        error = sys.exception()
        cause = error.__context__ if isinstance(error, HttpParserCallbackError) else error
        if cause is None or isinstance(cause, HttpParserError | MalformedByPeer):
            self._note(str(cause or msg))
        else:
            log.error("http.parsing_failed", exc_info=cause)
        if not self.transport.is_closing():
            self.transport.write(_refusal(MalformedRequest(msg)))
            self.transport.close()

    def on_body(self, body: bytes) -> None:
        self._has_progressed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_progressed = self._is_whole = True
        super().on_message_complete()
        if self._deadline is not None:  # the answer had been given before
            self._stop_deadline()
            self._wait_for_the_next()

    def on_response_complete(self) -> None:
        if self._is_ending:
            self._linger()
            if not self.timeout_keep_alive:  # at once, so that it is seen with the answer's end
                self.transport.close()
        super().on_response_complete()
        if self.timeout_keep_alive_task is None:
            return
        if self._is_whole:
            self.idle.add(self, self._address)
        else:
            # The rest of the body is read, and not kept; nor is what nobody has asked for.
            self.cycle.body.clear()
            self._unset_keepalive_if_required()
            self._start_deadline()

    def _linger(self) -> None:
        """Keep the connection no longer than calls can begin."""
        left = max(0.0, self._drain_ends - time.monotonic())
        self.timeout_keep_alive = min(LINGER_SECONDS, left)  # type: ignore[assignment]

    @property
    def _is_ending(self) -> bool:
        return self._drain_ends < float("inf")

    def _is_certain_to_be_refused(self) -> bool:
        return is_refused_for_longer(cast(Scope, self.scope))

    def _should_upgrade_to_ws(self) -> bool:
        """A handshake is answered as a request where it is certain to be refused: it takes three
        times as long to refuse a WebSocket."""
        return self._may_upgrade and super()._should_upgrade_to_ws()

    def handle_websocket_upgrade(self) -> None:
        """Pass the connection to a WebSocketProtocol, which replaces this object."""
        super().handle_websocket_upgrade()
        self.parser = None  # type: ignore[assignment]
        self._forget_requests()

    def _forget_requests(self) -> None:
        """Drop the requests of an ended connection. Requests refer to their connection: with them
        only the garbage collector frees it, which stops the process for a tenth of a second where
        thousands wait."""
        self.scope = self.cycle = self._running = None  # type: ignore[assignment]
        self._answers.clear()

    def _unsupported_upgrade_warning(self) -> None:
        if self._may_upgrade:
            self._note("Another protocol than WebSocket was asked for.")

    def _refuse_malformed_target(self) -> None:
        """uvicorn fails where the target of a request has no path, or is no ASCII."""
        if not self.url.isascii():
            raise MalformedByPeer("The target is not ASCII.")
        if not self.url.startswith(b"/") and httptools.parse_url(self.url).path is None:
            raise MalformedByPeer("The target has no path.")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _note(self, problem: str) -> None:
        log.debug("http.peer_failed", problem=problem, peer=self._address)

    def _read_more_slowly(self, cycle: RequestResponseCycle) -> None:
        """Read no more of a body until the application asks for it or, once that has answered,
        until it is this connection's turn."""
        if cycle.response_complete:
            self.flow.pause_reading()
            sender = client_ip(cast(Scope, cycle.scope))
            get_discard_pacer().schedule_read(sender, self._read_on)
        elif cycle.body:
            self.flow.pause_reading()

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _wait_for_the_next(self) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        self.idle.add(self, self._address)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _start_deadline(self, seconds: float | None = None) -> None:
        if seconds is None:
            seconds = HEAD_SECONDS * random.uniform(1, 1 + JITTER)  # noqa: S311 - no secret
        self._deadline = self.loop.call_later(seconds, self.transport.close)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _refusal(error: MalformedRequest) -> bytes:
    """The whole answer to what is no request: the envelope of `/api`, with an id to quote."""
    body = json.dumps(envelope.body(error)).encode()
    fields = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "x-request-id": request_id(None),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {error.status} Bad Request\r\n{head}\r\n".encode() + body
