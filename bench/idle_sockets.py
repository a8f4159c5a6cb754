"""What an open socket over which nothing comes costs the process that holds it."""

import time
from collections.abc import Sequence

from bench.feed import Feed
from bench.listeners import Socket, listening
from bench.servers import Server

SOCKETS = 5_000
SILENCE = Feed(streams=100, sockets=0, rate=1, seconds=0)
_WARM_UP_SOCKETS = 200
_SETTLE_SECONDS = 2


def bytes_each(server: Server, opened: Sequence[Socket]) -> float:
    """Bytes of proportional set size per socket. Needs a fresh process: an earlier load would have
    left memory to grow into."""
    with listening(server.port, opened[:_WARM_UP_SOCKETS]):
        pass
    time.sleep(_SETTLE_SECONDS)
    before = server.memory()
    with listening(server.port, opened):
        time.sleep(_SETTLE_SECONDS)
        return (server.memory() - before) / len(opened)
