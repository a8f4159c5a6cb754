"""The load generator of live sockets: RFC 6455 on asyncio protocols, in a process of its own.

It must never be the bottleneck, so it reads only the frames of these servers: unmasked, whole, with
events that begin with their number. Times are those of the monotonic clock, which all processes of
a machine share.
"""

import asyncio
import gc
import multiprocessing
import sys
import time
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import cast

import uvloop

from bench.servers import BenchError

_HANDSHAKES = 50  # concurrent handshakes
_OPEN_SECONDS = 120  # seconds for all of them
_EVENT = b'{"seq":'
_TEXT, _CLOSE, _PING = 0x81, 0x88, 0x89
_LONG = 126  # longer payloads have a length of two more bytes, or eight
# A client must mask what it sends; a mask of zeros leaves the payload unchanged.
_PONG, _NO_MASK = b"\x8a", b"\0\0\0\0"


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket to open. `stream` is the number under which its receipts are counted, `source` the
    local address of its connection."""

    stream: int
    path: str
    source: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Receipts:
    """The events of each socket in order, as (number, nanoseconds); `failures` counts errors by
    kind."""

    events: list[list[tuple[int, int]]]
    failures: Counter[str]


class Listeners:
    """Open sockets in another process."""

    def __init__(self, connection: Connection, count: int) -> None:
        self._connection = connection
        self._count = count

    def collect(self, expected: int, *, within: float) -> Receipts:
        """The receipts since the sockets were opened, when `expected` events have come or this many
        seconds have passed."""
        self._connection.send((expected, within))
        packed, failures = self._connection.recv()
        flat = array("q", packed)
        events: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        for place, number, at in zip(flat[0::3], flat[1::3], flat[2::3], strict=True):
            events[place].append((number, at))
        return Receipts(events, failures)


@contextmanager
def listening(port: int, sockets: Sequence[Socket]) -> Iterator[Listeners]:
    """Keep these sockets open until the block ends. Raises BenchError where one is refused."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs, port, sockets), daemon=True)
    process.start()
    try:
        if refusal := ours.recv():
            raise BenchError(refusal)
        yield Listeners(ours, len(sockets))
    finally:
        process.terminate()
        process.join()


def _run(connection: Connection, port: int, sockets: Sequence[Socket]) -> None:
    gc.disable()  # there are no reference cycles, and a collection would delay an event
    uvloop.run(_listen(connection, port, sockets))


async def _listen(connection: Connection, port: int, sockets: Sequence[Socket]) -> None:
    """Open all sockets, report that, wait for the owner's request, and answer it."""
    log = _Log()
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            await _open(log, port, sockets)
    except (OSError, TimeoutError, _Refused) as error:
        connection.send(f"Not all sockets could be opened: {error or type(error).__name__}")
        return
    connection.send("")
    expected, seconds = await asyncio.to_thread(connection.recv)
    await log.reach(expected, seconds)
    connection.send((log.packed.tobytes(), log.failures))


async def _open(log: "_Log", port: int, sockets: Sequence[Socket]) -> None:
    loop, room = asyncio.get_running_loop(), asyncio.Semaphore(_HANDSHAKES)

    async def open_one(place: int, socket: Socket) -> None:
        async with room:
            _, listener = await loop.create_connection(
                lambda: _Listener(log, place, socket.path),
                "127.0.0.1",
                port,
                local_addr=(socket.source, 0),
            )
            await listener.accepted

    await asyncio.gather(*(open_one(place, socket) for place, socket in enumerate(sockets)))


class _Refused(Exception):
    """The handshake got another answer."""


class _Log:
    """Place, number and time of each event of all sockets, in sequence."""

    def __init__(self) -> None:
        self.packed = array("q")
        self.failures: Counter[str] = Counter()
        self._awaited = sys.maxsize
        self._reached = asyncio.Event()

    def note(self, place: int, number: int, at: int) -> None:
        self.packed.extend((place, number, at))
        if len(self.packed) >= self._awaited:
            self._reached.set()

    async def reach(self, events: int, seconds: float) -> None:
        """Return when there are this many events, or after this many seconds."""
        self._awaited = 3 * events
        if len(self.packed) < self._awaited:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._reached.wait(), seconds)


class _Listener(asyncio.Protocol):
    """One socket: records the time of each event, and answers pings."""

    def __init__(self, log: _Log, place: int, path: str) -> None:
        self.accepted = asyncio.get_running_loop().create_future()
        self._log = log
        self._place = place
        self._path = path
        self._rest = b""
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.write(
            f"GET {self._path} HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\n"
            "connection: Upgrade\r\nsec-websocket-version: 13\r\n"
            "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        data = self._rest + data if self._rest else data
        if not self.accepted.done():
            head, separator, data = data.partition(b"\r\n\r\n")
            if not separator:
                self._rest = head
                return
            self._accept(head.partition(b"\r\n")[0])
        self._rest = self._read_frames(data, now)

    def connection_lost(self, exc: Exception | None) -> None:
        self._log.failures["connection lost"] += 1
        if not self.accepted.done():
            self.accepted.set_exception(_Refused("the connection was closed"))

    def _accept(self, status: bytes) -> None:
        if b" 101 " in status:
            self.accepted.set_result(None)
        else:
            self.accepted.set_exception(_Refused(status.decode()))

    def _read_frames(self, data: bytes, now: int) -> bytes:
        """Read whole frames from the front; returns the rest."""
        while len(data) >= 2:
            length, start = data[1], 2
            if length >= _LONG:
                start = 4 if length == _LONG else 10
                length = int.from_bytes(data[2:start])
            end = start + length
            if len(data) < end:
                break
            self._take(data[0], data[start:end], now)
            data = data[end:]
        return data

    def _take(self, kind: int, payload: bytes, now: int) -> None:
        if kind == _TEXT:
            if payload.startswith(_EVENT):
                number = int(payload[len(_EVENT) : payload.index(b",")])
                self._log.note(self._place, number, now)
        elif kind == _PING:
            self._transport.write(_PONG + bytes([0x80 | len(payload)]) + _NO_MASK + payload)
        elif kind == _CLOSE:
            self._log.failures[f"closed with {int.from_bytes(payload[:2])}"] += 1
        else:
            self._log.failures[f"a frame that begins with {kind:#x}"] += 1
