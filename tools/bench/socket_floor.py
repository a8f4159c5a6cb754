"""The upper bound of the load generator of live sockets: a server that writes prepared frames to
its connections, and does nothing else.

`FEED` is the feed. Run as `python -m bench.socket_floor PORT`.
"""

import asyncio
import os
import sys
from collections import defaultdict
from typing import cast

import uvloop

from bench.feed import Feed
from devserver.ports import LOOPBACK

_feed = Feed.of(os.environ)
_listeners: dict[int, list[asyncio.WriteTransport]] = defaultdict(list)
_running: set[asyncio.Task[None]] = set()


class _Server(asyncio.Protocol):
    """Reads the first bytes as a handshake, and its path as the number of a stream."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        stream = int(data.split(b" ", 2)[1].strip(b"/"))
        self._transport.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        _listeners[stream].append(self._transport)
        if sum(map(len, _listeners.values())) == _feed.sockets:
            _running.add(asyncio.create_task(_feed.run(_deliver)))


async def _deliver(stream: int, frame: str) -> None:
    payload = frame.encode()
    whole = b"\x81\x7e" + len(payload).to_bytes(2) + payload
    for transport in _listeners[stream]:
        transport.write(whole)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Server, LOOPBACK, port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
