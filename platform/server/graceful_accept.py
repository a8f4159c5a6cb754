"""Stops listening without losing a connection that somebody has just opened.

The system completes connections before a server accepts them, and resets those that it has not
accepted when it stops listening: their clients may have sent a request by then, and a proxy must
not send that to another process. Here the listening socket first ignores new connections, those
that wait are accepted, and then it is closed. A client whose connection was ignored tries again
after a second, is refused, and goes to another process.
"""

import asyncio
import ctypes
import socket
import struct
from collections.abc import Iterable

# Seconds in which a loop accepts what waits for it.
ACCEPT_SECONDS = 0.1

# From linux/filter.h: (code, jump if true, jump if false, operand). Refuses segments with SYN.
_IGNORE_NEW_CONNECTIONS = (
    (0x30, 0, 0, 13),  # load the byte of the TCP header that has the flags
    (0x45, 0, 1, 0x02),  # has it SYN?
    (0x06, 0, 0, 0),  # drop the segment
    (0x06, 0, 0, 0xFFFF_FFFF),  # take all of it
)
_SO_ATTACH_FILTER = 26


async def ignore_new_connections(servers: Iterable[asyncio.AbstractServer]) -> None:
    """Return when all connections that were made before are accepted. The caller then closes the
    servers."""
    for server in servers:
        # Empty where it is closed; no attribute of the abstract class.
        for listener in getattr(server, "sockets", ()):
            with socket.socket(fileno=socket.dup(listener.fileno())) as same:
                _attach(same)
    await asyncio.sleep(ACCEPT_SECONDS)


def _attach(listener: socket.socket) -> None:
    """Without effect where the system has no such filters: only Linux has."""
    instructions = b"".join(struct.pack("HBBI", *each) for each in _IGNORE_NEW_CONNECTIONS)
    program = ctypes.create_string_buffer(instructions, len(instructions))
    filter_ = struct.pack("HP", len(_IGNORE_NEW_CONNECTIONS), ctypes.addressof(program))
    try:
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, filter_)
    except OSError:
        return
