"""One HTTP exchange over ASGI: reads the body, writes the answer, notices a closed connection."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import msgspec

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 64 * 1024 * 1024


class CallerGone(Exception):
    """The caller closed the connection; nothing more can be written."""


class BodyTooLarge(Exception):
    """The request body is over `MAX_BODY_BYTES`."""


class Connection:
    """Writing and waiting raise `CallerGone` as soon as the caller has closed the connection."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        self.origin = f"http://{self.headers.get('host', '')}"  # the caller's view
        self._scope = scope
        self._receive = receive
        self._send = send
        self._gone: asyncio.Future[MutableMapping[str, Any]] | None = None

    async def body(self) -> bytes:
        """The whole request body. Raises `BodyTooLarge`, `CallerGone`."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise CallerGone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > MAX_BODY_BYTES:
                raise BodyTooLarge
            if not message.get("more_body", False):
                break
        # After the body, only the disconnect can be received.
        self._gone = asyncio.ensure_future(self._receive())
        return b"".join(parts)

    async def pause(self, seconds: float) -> None:
        """Wait. Even a pause of zero sends what was written, and lets other calls run."""
        if seconds > 0 and self._gone is not None:
            await asyncio.wait({self._gone}, timeout=seconds)
        else:
            await asyncio.sleep(0)
        self._check()

    async def hang(self) -> NoReturn:
        """Send nothing more until the caller disconnects."""
        if self._gone is not None:
            await asyncio.wait({self._gone})
        raise CallerGone

    async def start(self, status: int, headers: dict[str, str]) -> None:
        self._check()
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def write(self, data: bytes) -> None:
        self._check()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        self._check()
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def send_json(
        self, status: int, payload: object, headers: dict[str, str] | None = None
    ) -> None:
        """Send a whole JSON answer."""
        await self.send_body(status, msgspec.json.encode(payload), headers)

    async def send_body(
        self, status: int, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        """Send a whole encoded answer, declared as JSON."""
        sized = {"content-type": "application/json", "content-length": str(len(body))}
        await self.start(status, sized | (headers or {}))
        await self.end(body)

    async def reset(self) -> NoReturn:
        """Cut the TCP connection with an RST, as a crashed provider does; raises `CallerGone`."""
        self._scope["extensions"]["simulator.reset"]["reset"]()
        await self.hang()

    def close(self) -> None:
        """Stop receiving. Called when the exchange is over."""
        if self._gone is not None:
            self._gone.cancel()

    def _check(self) -> None:
        if self._gone is not None and self._gone.done():
            raise CallerGone
