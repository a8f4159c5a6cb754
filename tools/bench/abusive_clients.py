"""Abusive connections of eight kinds, in a process of their own and from one address.

Each stays open until the server closes it, and is opened again half a second later. Kinds that send
requests do so twice a second.
"""

import asyncio
import multiprocessing
import secrets
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing.connection import Connection

import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from devserver.ports import LOOPBACK

ADDRESS = "127.0.0.2"
# Between two connections, and between two requests of one connection.
PAUSE_SECONDS = 0.5
_LENGTH, _HALF = 1_990_000, 1_980_000

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Abuse = Callable[[Streams], Awaitable[None]]


def _head(method: str, path: str, *fields: str) -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {LOOPBACK}", *fields, "", "")).encode()


def _body(size: int) -> tuple[str, str]:
    return "Content-Type: application/json", f"Content-Length: {size}"


async def _silent(streams: Streams) -> None:
    await _until_it_ends(streams)


async def _half_head(streams: Streams) -> None:
    streams[1].write(b"GET /v1/models HTTP/1.1\r\nHost: ")
    await _until_it_ends(streams)


async def _half_body(streams: Streams) -> None:
    path = secrets.choice(("/api/spaces", "/api/nothing", "/api/auth/refresh", "/v1/embeddings"))
    streams[1].write(_head("POST", path, *_body(_LENGTH)) + b" " * _HALF)
    await _until_it_ends(streams)


async def _slow_body(streams: Streams) -> None:
    streams[1].write(_head("POST", "/api/nothing", *_body(_LENGTH)))
    ending = asyncio.ensure_future(_until_it_ends(streams))
    try:
        while not ending.done():
            streams[1].write(b" ")
            await asyncio.sleep(PAUSE_SECONDS)
        ending.result()  # raises what ended it, a reset for example
    finally:
        ending.cancel()


async def _slow_reader(streams: Streams) -> None:
    """Request more than the buffers can hold, and read a byte a second."""
    streams[1].write(_head("GET", "/v1/models") * 30)
    for _ in count():
        if not await streams[0].read(1):
            break
        await asyncio.sleep(1)


async def _many_tokens(streams: Streams) -> None:
    for number in count():
        prefix = secrets.choice(("mk_", "eyJhbGciOiJIUzI1NiJ9."))
        token = f"Authorization: Bearer {prefix}{secrets.token_urlsafe(32)}"
        path = ("/v1/usage", "/api/users/me")[number % 2]
        await _ask(streams, _head("GET", path, token))


async def _many_sign_ins(streams: Streams) -> None:
    for _ in count():
        address = f"{secrets.token_hex(8)}@bench.example"
        body = f'{{"email": "{address}", "password": "{secrets.token_hex(8)}"}}'.encode()
        await _ask(streams, _head("POST", "/api/auth/login", *_body(len(body))) + body)


KINDS: dict[str, Abuse] = {
    "silent": _silent,
    "half heads": _half_head,
    "half bodies": _half_body,
    "slow bodies": _slow_body,
    "slow readers": _slow_reader,
    "many tokens": _many_tokens,
    "many sign-ins": _many_sign_ins,
}
# The eighth kind: sockets that send small frames.
FRAMES = "small frames"


async def _ask(streams: Streams, request: bytes) -> None:
    streams[1].write(request)
    if not await streams[0].read(65_536):
        raise ConnectionResetError
    await asyncio.sleep(PAUSE_SECONDS)


async def _until_it_ends(streams: Streams) -> None:
    while await streams[0].read(65_536):
        pass


async def _again_and_again(port: int, kind: str, opened: Counter[str]) -> None:
    abuse = KINDS[kind]
    while True:
        with suppress(OSError):
            streams = await _connected(port)
            opened[kind] += 1
            try:
                await abuse(streams)
            finally:
                streams[1].transport.abort()
        await asyncio.sleep(PAUSE_SECONDS)


async def _connected(port: int) -> Streams:
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    end.setblocking(False)
    end.bind((ADDRESS, 0))
    await asyncio.get_running_loop().sock_connect(end, (LOOPBACK, port))
    return await asyncio.open_connection(sock=end, limit=65_536)


async def _frames_again_and_again(port: int, path: str, opened: Counter[str]) -> None:
    while True:
        with suppress(OSError, WebSocketException):
            url = f"ws://{LOOPBACK}:{port}{path}"
            async with connect(url, local_addr=(ADDRESS, 0), proxy=None) as socket:
                opened[FRAMES] += 1
                while True:
                    await socket.send("x")
        await asyncio.sleep(PAUSE_SECONDS)


async def _run(port: int, paths: Sequence[str], each: int, pipe: Connection) -> None:
    opened: Counter[str] = Counter()
    tasks = [
        asyncio.create_task(_again_and_again(port, kind, opened))
        for kind in KINDS
        for _ in range(each)
    ]
    tasks += [
        asyncio.create_task(_frames_again_and_again(port, paths[number % len(paths)], opened))
        for number in range(each)
    ]
    await asyncio.to_thread(pipe.recv)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    pipe.send(opened)


def _main(port: int, paths: Sequence[str], each: int, pipe: Connection) -> None:
    uvloop.run(_run(port, paths, each, pipe))


@contextmanager
def abusive_clients(port: int, paths: Sequence[str], *, each: int) -> Iterator[Counter[str]]:
    """Keep this many connections of each kind open until the block ends; `paths` are paths of
    sockets. After the block, the result counts the opened connections by kind."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_main, args=(port, paths, each, theirs), daemon=True)
    process.start()
    opened: Counter[str] = Counter()
    try:
        yield opened
    finally:
        ours.send(None)
        if ours.poll(10):
            opened.update(ours.recv())
        process.join(10)
        process.kill()
