"""Cutting off clients that take nothing of what they asked for."""

import socket
from asyncio import BaseTransport


def cut_off_stalled(transport: BaseTransport, milliseconds: int) -> None:
    """Have the kernel end the connection when its client has taken nothing for so long, although
    there is something to take. `TCP_USER_TIMEOUT`, RFC 5482; where there is none, nothing is done.
    """
    connection = transport.get_extra_info("socket")
    if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
