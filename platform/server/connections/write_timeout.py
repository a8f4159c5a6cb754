"""Cuts off clients that do not read their answer."""

import socket
from asyncio import BaseTransport


def set_write_timeout(transport: BaseTransport, milliseconds: int) -> None:
    """Have the kernel end the connection when its client has not read for this long, although there
    is something to read. `TCP_USER_TIMEOUT`, RFC 5482; without it nothing is done."""
    connection = transport.get_extra_info("socket")
    if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
