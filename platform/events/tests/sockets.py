"""Clients of a running service's sockets."""

import json
import socket as sockets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.uri import parse_uri

from accounts.models import User
from devserver.ports import LOOPBACK
from tests.personas import access_token_of
from tests.service import Web

TIMEOUT = 10.0


def token_of(user: User) -> str:
    return access_token_of(user)


def url_of(web: Web, stream_id: UUID | str, **query: Any) -> str:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{web.url.replace('http', 'ws')}/api/council/ws/{stream_id}?{text}"


@contextmanager
def open_socket(web: Web, user: User, stream_id: UUID, **query: Any) -> Iterator[ClientConnection]:
    with connect(url_of(web, stream_id, token=token_of(user), **query)) as socket:
        yield socket


@contextmanager
def non_reading_client(web: Web, user: User, stream_id: UUID) -> Iterator[sockets.socket]:
    """An open socket, as bytes, that nobody reads from."""
    client = ClientProtocol(parse_uri(url_of(web, stream_id, token=token_of(user))))
    client.send_request(client.connect())
    with sockets.socket() as connection:
        connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        connection.connect((LOOPBACK, web.port))
        connection.sendall(b"".join(client.data_to_send()))
        assert connection.recv(12) == b"HTTP/1.1 101"
        yield connection


def next_frame(socket: ClientConnection) -> str:
    """The next event; pings are skipped."""
    while '"seq"' not in (text := str(socket.recv(TIMEOUT))):
        pass
    return text


def next_frames(socket: ClientConnection, count: int) -> list[str]:
    return [next_frame(socket) for _ in range(count)]


def next_seqs(socket: ClientConnection, count: int) -> list[int]:
    return [json.loads(frame)["seq"] for frame in next_frames(socket, count)]


def close_code(socket: ClientConnection, *, timeout: float = TIMEOUT) -> int:
    """What the socket is closed with, after whatever else comes."""
    try:
        while True:
            socket.recv(timeout)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006


def refusal_of(url: str, **headers: str) -> int:
    """What a socket is closed with that nothing else comes on."""
    with connect(url, additional_headers=headers) as socket:
        return close_code(socket)
