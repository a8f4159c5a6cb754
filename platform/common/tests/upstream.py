"""A service on a real socket, which answers every call with prepared bytes."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

EVENT_STREAM = "text/event-stream"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Answer:
    """`pieces` are written one by one, a number among them is a pause in seconds.

    `ending`: the body ends as it should, or the connection breaks, or nothing more ever comes.
    """

    pieces: list[bytes | float] = field(default_factory=list)
    status: int = 200
    content_type: str = EVENT_STREAM
    headers: dict[str, str] = field(default_factory=dict)
    ending: Literal["whole", "broken", "hanging"] = "whole"
    delay: float = 0.0  # seconds before the headers


class Upstream:
    """`calls` are those received; `left` is set when a client closes its connection.

    `answer` is the same for every call, or what a function makes of each.
    """

    def __init__(self) -> None:
        self.answer: Answer | Callable[[Call], Answer] = Answer()
        self.calls: list[Call] = []
        self.connections = 0
        self.left = asyncio.Event()
        self._handlers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler
        self._handlers.add(handler)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except asyncio.IncompleteReadError:
            self.left.set()
        except ConnectionError:
            self.left.set()
        finally:
            self._handlers.discard(handler)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One call; whether the connection lives on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request_line, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = request_line.split(" ")
        call = Call(method, path, headers, body)
        self.calls.append(call)
        answer = self.answer(call) if callable(self.answer) else self.answer
        await asyncio.sleep(answer.delay)
        lines = [f"HTTP/1.1 {answer.status} X", f"Content-Type: {answer.content_type}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        lines += ["Transfer-Encoding: chunked", "", ""]
        writer.write("\r\n".join(lines).encode())
        for piece in answer.pieces:
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            elif piece:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
        if answer.ending == "hanging":
            await reader.readexactly(1)  # until the client leaves
        elif answer.ending == "whole":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return answer.ending == "whole"
