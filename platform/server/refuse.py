"""Refusals in front of Django: the same answers, at a fraction of the cost.

Programs get the envelope of `/api`, the operators' browsers a sentence.

Django's handler starts a thread for each request, for its signals and its logs. Refusals have to be
cheap when requests are too many or too long, so they pass through the outer middleware alone.
"""

from io import BytesIO
from typing import cast

from corsheaders.middleware import CorsMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase

from common import envelope, request_line
from common.errors import DomainError
from common.middleware import request_id_middleware
from server.asgi import Headers, Message, Scope, Send
from server.metrics import front_refusals


async def refuse(scope: Scope, send: Send, error: DomainError, *, close: bool = False) -> None:
    """Answer `error`, with the request's id and the CORS headers. `close` ends the connection,
    because its next bytes are no request.

    A WebSocket that is not accepted yet is refused in the same way where the server can answer a
    handshake (ASGI's extension `websocket.http.response`); other servers answer 403.
    """
    front_refusals.labels(error.code).inc()
    if scope["type"] == "websocket":
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            await send({"type": "websocket.close"})
            return
        scope, send = {**scope, "method": "GET"}, _to_handshake(send)

    def answer(request: HttpRequest) -> HttpResponseBase:
        is_admin = scope["path"].startswith("/admin/")
        return _sentence(error) if is_admin else envelope.answer(error)

    request_line.current().note(error)

    # The query and the body's type play no part, and need not be valid.
    headers = [field for field in scope["headers"] if field[0] != b"content-type"]
    request = ASGIRequest({**scope, "query_string": b"", "headers": headers}, BytesIO())
    response = cast(HttpResponse, CorsMiddleware(request_id_middleware(answer))(request))
    if close:
        response["Connection"] = "close"
    await _send(response, send)


def _to_handshake(send: Send) -> Send:
    async def answer(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    return answer


def _sentence(error: DomainError) -> HttpResponse:
    """The error for people, who see no headers."""
    text = error.text.replace("Retry-After", str(error.retry_after))
    return HttpResponse(
        text,
        content_type="text/plain; charset=utf-8",
        status=error.status,
        headers=envelope.headers(error),
    )


async def _send(response: HttpResponse, send: Send) -> None:
    response["Content-Length"] = str(len(response.content))
    headers: Headers = [
        (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()
    ]
    status = response.status_code
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
