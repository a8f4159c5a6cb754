"""The service's application, with paths, a socket and a head of a request that fail by a fault of
ours, and a socket that sends more than is read. `running_web(...,
application="tests.failing:application")` serves it."""

from config.asgi import application as service
from server.asgi import Receive, Scope, Send
from server.connections import http

PATHS = ("/fails", "/socket-fails", "/socket-talks")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    path = scope.get("path", "")
    if not path.startswith(PATHS):
        await service(scope, receive, send)
        return
    if path == "/fails-later":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    if path.startswith("/socket-talks"):
        for _ in range(200):
            await send({"type": "websocket.send", "text": "x" * 65_536})
        return
    raise ArithmeticError(path)


def _fail_on_header(protocol: http.HttpProtocol, name: bytes, value: bytes) -> None:
    if name == b"X-Fails":
        raise ArithmeticError(value.decode())
    super(http.HttpProtocol, protocol).on_header(name, value)


# The class is loaded before this module.
http.HttpProtocol.on_header = _fail_on_header  # type: ignore[method-assign, assignment]
