"""The load generator: keep-alive HTTP/1.1 on asyncio protocols, with minimal work per byte.

It must never be the bottleneck, so it reads only the answers of these servers: a body with a
length, or a chunked stream of SSE events with LF line ends.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median
from typing import cast

import msgspec

from bench import report

STREAM_EVENTS = 60  # a stream with fewer events is broken
_END_OF_CHUNKS = b"\r\n0\r\n\r\n"
_END_OF_STREAM = b"data: [DONE]\n\n"
_TAIL = 64
_CONNECT_SECONDS = 10
_TIMEOUT = 60  # seconds for the last answers after the load has ended


@dataclass(slots=True)
class Result:
    """The result of a run: `latencies` are the seconds of good answers; `failures` counts errors by
    kind."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Good answers per second."""
        return len(self.latencies) / self.seconds

    @property
    def median(self) -> float:
        return median(self.latencies)

    @property
    def p99(self) -> float:
        return report.p99(self.latencies)


class Requests:
    """Prepared requests, one for each key in turn: each key gets the same number of requests."""

    def __init__(self, port: int, keys: list[str], path: str, body: dict[str, object]) -> None:
        self.port = port
        self.stream = bool(body.get("stream"))
        encoded = msgspec.json.encode(body)
        self._ready = cycle([self._build(port, key, path, encoded) for key in keys])

    def __iter__(self) -> Iterator[bytes]:
        return self._ready

    @staticmethod
    def _build(port: int, key: str, path: str, body: bytes) -> bytes:
        head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
            f"authorization: Bearer {key}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def chat(port: int, keys: list[str], *, stream: bool, slow: bool = False) -> Requests:
    """Chat calls; a slow stream takes its time."""
    question = "Tell me something slowly." if slow else "Tell me something."
    body: dict[str, object] = {
        "model": "gpt-6-luna",
        "messages": [{"role": "user", "content": question}],
        "max_tokens": 256,
        "stream": stream,
    }
    return Requests(port, keys, "/v1/chat/completions", body)


def tool_calls(port: int, keys: list[str]) -> Requests:
    """Streamed chat calls of an agent with tools, in the middle of its work."""
    called = {"name": "read_file", "arguments": '{"path": "src/tides.py"}'}
    call = {"id": "call_1", "type": "function", "function": called}
    body: dict[str, object] = {
        "model": "gpt-6-luna",
        "messages": [
            {"role": "user", "content": "Tell me something."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "def tides(): ..."},
        ],
        "tools": [_tool(name) for name in ("read_file", "write_file", "search_files", "run_tests")],
        "max_tokens": 256,
        "stream": True,
    }
    return Requests(port, keys, "/v1/chat/completions", body)


def _tool(name: str) -> dict[str, object]:
    path = {"type": "string", "description": "The path below the root of the project."}
    lines = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 2}
    schema = {"type": "object", "properties": {"path": path, "lines": lines}, "required": ["path"]}
    function = {"name": name, "description": "Does what it is called.", "parameters": schema}
    return {"type": "function", "function": function}


def embeddings(port: int, keys: list[str], *, inputs: int) -> Requests:
    """Embeddings calls of this many texts, for vectors in base64 as the SDKs request them."""
    texts = [f"Sentence {number}, of a sentence's usual length." for number in range(inputs)]
    body: dict[str, object] = {
        "model": "text-embedding-3-small",
        "input": texts,
        "encoding_format": "base64",
    }
    return Requests(port, keys, "/v1/embeddings", body)


class Connection(asyncio.Protocol):
    """One client: sends a request, reads the answer to its end, and repeats until `go_on` is
    false."""

    def __init__(self, requests: Requests, result: Result, go_on: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        self.spoke = loop.create_future()  # set by the first event of the first stream
        self.ended = loop.create_future()
        self._events = 0
        self._requests = iter(requests)
        self._stream = requests.stream
        self._result = result
        self._go_on = go_on
        self._transport: asyncio.WriteTransport
        self._started = 0.0
        self._tail = b""
        self._status = b""
        self._missing: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        if not self._status:
            head, separator, body = (self._tail + data).partition(b"\r\n\r\n")
            if not separator:
                self._tail = head
                return
            self._read_head(head)
            # The blank line stays, so that an empty chunked body ends like any other.
            data = body if self._missing is not None else b"\r\n" + body
        self._read_body(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._result.failures["connection lost"] += 1
            self.ended.set_result(None)
        if not self.spoke.done():
            self.spoke.set_result(None)

    def _ask(self) -> None:
        self._status = self._tail = b""
        self._missing = None
        self._events = 0
        self._started = time.perf_counter()
        self._transport.write(next(self._requests))

    def _read_head(self, head: bytes) -> None:
        self._status = head[9:12]
        self._tail = b""
        lowered = head.lower()
        at = lowered.find(b"\r\ncontent-length:")
        if at >= 0:
            self._missing = int(lowered[at + 17 :].split(b"\r\n", 1)[0])

    def _read_body(self, data: bytes) -> None:
        if self._missing is not None:
            self._missing -= len(data)
            if self._missing <= 0:
                self._answered(good=not self._stream)
            return
        self._events += data.count(b"data: {")
        if self._events and not self.spoke.done():
            self.spoke.set_result(None)
        self._tail = (self._tail + data)[-_TAIL:] if len(data) < _TAIL else data[-_TAIL:]
        if self._tail.endswith(_END_OF_CHUNKS):
            complete = _END_OF_STREAM in self._tail and self._events >= STREAM_EVENTS
            self._answered(good=complete or not self._stream)

    def _answered(self, *, good: bool) -> None:
        if self._status == b"200" and good:
            self._result.latencies.append(time.perf_counter() - self._started)
        else:
            self._result.failures[self._status.decode() if good else "broken stream"] += 1
        if self._go_on():
            self._ask()
        else:
            self.ended.set_result(None)
            self._transport.close()


async def press(requests: Requests, *, connections: int, seconds: float) -> Result:
    """Send requests over this many connections for this many seconds, and wait for the last
    answers."""
    result = Result()
    started = time.perf_counter()
    until = started + seconds
    clients = [
        await connect(requests, result, lambda: time.perf_counter() < until)
        for _ in range(connections)
    ]
    async with asyncio.timeout(seconds + _TIMEOUT):
        await asyncio.gather(*(client.ended for client in clients))
    result.seconds = time.perf_counter() - started
    return result


async def connect(requests: Requests, result: Result, go_on: Callable[[], bool]) -> Connection:
    """Open one client, and send its first request."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_CONNECT_SECONDS):
        _, client = await loop.create_connection(
            lambda: Connection(requests, result, go_on), "127.0.0.1", requests.port
        )
    return client
