"""Knows which answers of a connection were written to it when it is closed (`server.delivery`)."""

import select
from asyncio import Transport
from collections.abc import Callable

from uvicorn.protocols.http.flow_control import FlowControl

# Linux has it: the other side has closed the connection, or its half of it.
_HUNG_UP = getattr(select, "POLLRDHUP", 0)


class WatchedAnswer:
    """The answer of one request. The transport of its connection pauses whoever writes as long as
    the kernel has not taken everything."""

    def __init__(self, transport: Transport, flow: FlowControl, lost: Callable[[], None]) -> None:
        self.is_lost = False
        self.is_over = False
        self._transport = transport
        self._flow = flow
        # What it refers to may be large; the connection may outlive the answer by minutes.
        self._lost: Callable[[], None] | None = lost
        self._is_sent = False

    def look(self) -> None:
        """See `server.delivery.Delivery`."""
        if not self.is_over and _has_hung_up(self._transport):
            self.lose()

    async def written(self) -> None:
        """See `server.delivery.Delivery`."""
        self._is_sent = True
        if not self._flow.write_paused:
            self.note_flushed()
        while not self.is_over:
            await self._flow.drain()
            self.note_flushed()

    def note_flushed(self) -> None:
        """The kernel has taken everything that was written until now."""
        if self._is_sent:
            self.is_over, self._lost = True, None

    def lose(self) -> None:
        """The connection is closed."""
        lost, self._lost = self._lost, None
        if lost is not None:
            self.is_over = self.is_lost = True
            lost()


def _has_hung_up(transport: Transport) -> bool:
    connection = transport.get_extra_info("socket")
    if not _HUNG_UP or connection is None or connection.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), _HUNG_UP)
    return bool(poll.poll(0))
