"""A log line for each request and each socket, written when it has ended."""

import time
from collections.abc import Awaitable, Collection

from django.conf import settings
from uvicorn.protocols.utils import ClientDisconnected

from common import request_line
from common.errors import InternalError, ServiceUnavailable
from common.outages import OUTAGE
from common.request_line import RequestLine
from server.asgi import Application, Message, Receive, Scope, Send
from server.metrics import METHODS

SERVER_ERROR = 500
# Of streams, too, which have begun with a 200.
OUR_FAULTS = frozenset({InternalError.code, ServiceUnavailable.code})
SWITCHING_PROTOCOLS = 101


class RequestLines:
    """Logs what `application` answers, but on the `unlogged` paths. Paths, queries and headers are
    not logged, because they may have secrets."""

    def __init__(self, application: Application, *, unlogged: Collection[str]) -> None:
        self._application = application
        self._unlogged = unlogged

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in self._unlogged:
            await self._application(scope, receive, send)
            return
        line = RequestLine(method=_method(scope))
        request_line.begin(line)
        began_at = time.monotonic()

        # Not a coroutine of its own: it is called for each chunk of a stream.
        def note(message: Message) -> Awaitable[None]:
            match message["type"]:
                case "http.response.start" | "websocket.http.response.start":
                    line.status = message["status"]
                case "websocket.accept":
                    line.status = SWITCHING_PROTOCOLS
            return send(message)

        try:
            await self._application(scope, receive, note)
        except ClientDisconnected:
            raise
        except Exception as error:
            if line.code is None:
                line.note(InternalError(), error)
            raise
        finally:
            line.milliseconds = round((time.monotonic() - began_at) * 1000, 1)
            _write(line)


def _method(scope: Scope) -> str:
    if scope["type"] == "websocket":
        return "WEBSOCKET"
    return scope["method"] if scope["method"] in METHODS else "other"


def _write(line: RequestLine) -> None:
    """Those that failed by our fault are warnings, whatever the level of the others."""
    if line.code == ServiceUnavailable.code:
        OUTAGE.count_refusal()
    if line.code in OUR_FAULTS or (line.status or 0) >= SERVER_ERROR:
        line.write("WARNING")
    else:
        line.write(settings.REQUEST_LOG_LEVEL)
