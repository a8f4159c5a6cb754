"""A span around each HTTP request, under the `traceparent` of its client."""

from collections.abc import Awaitable, Collection

from observability.tracing import spans
from server.asgi import Application, Headers, Message, Receive, Scope, Send
from server.metrics import METHODS

SERVER_ERROR = 500
# Version 00 has 55, later ones may have more. The SDK writes a line for each one that is longer.
MAX_TRACEPARENT = 512


class TracedRequests:
    """Traces the requests of `application`, but those of the `untraced` paths. Who answers names
    the route; sockets are not traced, because they follow what others have begun."""

    def __init__(self, application: Application, *, untraced: Collection[str]) -> None:
        self._application = application
        self._untraced = untraced

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not spans.is_on() or scope["type"] != "http" or scope["path"] in self._untraced:
            await self._application(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        parent = _traceparent(scope["headers"])
        with spans.span(method, span_kind="server", parent=parent, method=method) as span:

            def note_status(message: Message) -> Awaitable[None]:
                if message["type"] == "http.response.start":
                    span.set(http_status=message["status"])
                    if message["status"] >= SERVER_ERROR:
                        span.fail()
                return send(message)

            await self._application(scope, receive, note_status)


def name_request(method: str, route: str) -> None:
    """Name the request around the caller by the pattern of its route."""
    if spans.is_on():
        span = spans.current_span()
        span.set(route=route)
        span.rename(f"{method if method in METHODS else '_OTHER'} {route}")


def _traceparent(headers: Headers) -> str:
    """Empty where there is none, more than one, or one that is too long: that is malformed, too."""
    sent = [value for name, value in headers if name == b"traceparent"]
    if len(sent) != 1 or len(sent[0]) > MAX_TRACEPARENT:
        return ""
    return sent[0].decode("latin-1")
