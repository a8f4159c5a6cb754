"""A thousand slow streams open at once in one process: the memory of each, and the latency of other
calls."""

import asyncio
from dataclasses import dataclass

from bench.load import Connection, Requests, Result, chat, connect, press
from bench.servers import BenchError, Server

STREAMS = 1_000
_PLAIN_SECONDS = 4.0
_WARM_UP_SECONDS = 1.0
_OPEN_SECONDS = 20  # seconds until every stream has sent its first word
_LAST_SECONDS = 60  # seconds; a stream lasts half of this


@dataclass(frozen=True, slots=True)
class Outcome:
    """`bytes_each` is the difference in the process's proportional set size with and without
    streams, for each stream; `idle` and `beside` are plain calls one at a time, alone and beside
    the streams."""

    bytes_each: float
    streams: Result
    warm_up: Result
    idle: Result
    beside: Result

    @property
    def plain(self) -> list[Result]:
        return [self.warm_up, self.idle, self.beside]

    @property
    def slowdown(self) -> float:
        return self.beside.median / self.idle.median


async def measure(server: Server, keys: list[str]) -> Outcome:
    """Needs a fresh process: an earlier load would leave free memory."""
    plain = chat(server.port, keys, stream=False)
    warm_up = await press(plain, connections=16, seconds=_WARM_UP_SECONDS)
    idle = await press(plain, connections=1, seconds=_PLAIN_SECONDS)
    before = server.memory()
    streams = Result()
    clients = await _open(chat(server.port, keys, stream=True, slow=True), streams)
    beside = await press(plain, connections=1, seconds=_PLAIN_SECONDS)
    during = server.memory()
    async with asyncio.timeout(_LAST_SECONDS):
        await asyncio.gather(*(client.ended for client in clients))
    return Outcome((during - before) / STREAMS, streams, warm_up, idle, beside)


async def _open(requests: Requests, result: Result) -> list[Connection]:
    clients = [await connect(requests, result, lambda: False) for _ in range(STREAMS)]
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            await asyncio.gather(*(client.spoke for client in clients))
    except TimeoutError as error:
        raise BenchError(f"{STREAMS} streams were not open within {_OPEN_SECONDS} s.") from error
    return clients
