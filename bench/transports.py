"""A comparison of HTTP clients for provider calls: `PYTHONPATH=.:platform python -m
bench.transports`

One client process and one upstream that answers at once, over loopback. The clients take turns in
several rounds, because only ratios are meaningful on a busy machine. A client that is not installed
is left out, with a message.
"""

import asyncio
import importlib.util
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import cast

import aiohttp
import httpx
import uvloop

CONNECTIONS = 16
ROUNDS = 5
SECONDS = 1.5  # seconds of one round

_EVENT = b'data: {"choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n'
_PLAIN = b'{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}]}' + b" " * 256
_BODY = b'{"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true}'
_JSON = {"Content-Type": "application/json"}

# Makes one call to a URL, reads the answer as it comes, and returns its number of bytes.
Call = Callable[[str], Awaitable[int]]
Opener = Callable[[AsyncExitStack], Awaitable[Call]]


class Upstream(asyncio.Protocol):
    """Answers `POST /plain` and `POST /stream` with prepared bytes."""

    _head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    _plain = _head + b"Content-Length: %d\r\n\r\n%b" % (len(_PLAIN), _PLAIN)
    _chunk = b"%x\r\n%b\r\n" % (len(_EVENT), _EVENT)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"POST"):
            self._is_plain = data.startswith(b"POST /plain")
        if not data.endswith(_BODY):
            return  # some clients send the body in a packet of its own
        if self._is_plain:
            self._transport.write(self._plain)
            return
        self._transport.write(self._head + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(60):
            self._transport.write(self._chunk)
        self._transport.write(b"0\r\n\r\n")


def serve(port: "multiprocessing.Queue[int]") -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(main())


class AiohttpTransport(httpx.AsyncBaseTransport):
    """httpx's interface over aiohttp's connections, as far as this comparison needs it."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._session.request(
            request.method, str(request.url), data=request.content, headers=dict(request.headers)
        )
        return httpx.Response(
            response.status, headers=dict(response.headers), stream=_AiohttpBody(response)
        )


class _AiohttpBody(httpx.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.content.iter_any():
            yield chunk

    async def aclose(self) -> None:
        self._response.release()


def _aiohttp_session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


def _httpx_call(client: httpx.AsyncClient) -> Call:
    async def call(url: str) -> int:
        async with client.stream("POST", url, content=_BODY, headers=_JSON) as response:
            return sum([len(chunk) async for chunk in response.aiter_raw()])

    return call


async def open_httpx(stack: AsyncExitStack) -> Call:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    client = httpx.AsyncClient(limits=limits, trust_env=False)
    return _httpx_call(await stack.enter_async_context(client))


async def open_httpx_on_aiohttp(stack: AsyncExitStack) -> Call:
    session = await stack.enter_async_context(_aiohttp_session())
    client = httpx.AsyncClient(transport=AiohttpTransport(session), trust_env=False)
    return _httpx_call(await stack.enter_async_context(client))


async def open_aiohttp(stack: AsyncExitStack) -> Call:
    session = await stack.enter_async_context(_aiohttp_session())

    async def call(url: str) -> int:
        async with session.post(url, data=_BODY, headers=_JSON) as response:
            return sum([len(chunk) async for chunk in response.content.iter_any()])

    return call


async def open_port(stack: AsyncExitStack) -> Call:
    from common.http import UpstreamClient

    client = UpstreamClient()
    stack.push_async_callback(client.aclose)

    async def call(url: str) -> int:
        response = await client.post(url, _JSON, _BODY, connect_timeout=5)
        size = 0
        while chunk := await response.read_chunk(1_000_000):
            size += len(chunk)
        response.close()
        return size

    return call


async def open_pyreqwest(stack: AsyncExitStack) -> Call:
    from pyreqwest.client import ClientBuilder

    client = await stack.enter_async_context(ClientBuilder().build())

    async def call(url: str) -> int:
        request = client.post(url).body_bytes(_BODY).headers(_JSON).build_streamed()
        size = 0
        async with request as response:
            while chunk := await response.body_reader.read_chunk():
                size += len(chunk)
        return size

    return call


CLIENTS: dict[str, tuple[str, Opener]] = {
    "httpx": ("httpx", open_httpx),
    "httpx on aiohttp": ("httpx", open_httpx_on_aiohttp),
    "aiohttp": ("aiohttp", open_aiohttp),
    "common.http": ("aiohttp", open_port),
    "pyreqwest": ("pyreqwest", open_pyreqwest),
}


async def rate(call: Call, url: str, size: int) -> float:
    """Calls per second with `CONNECTIONS` connections; every answer must have `size` bytes."""
    end = time.perf_counter() + SECONDS

    async def caller() -> int:
        calls = 0
        while time.perf_counter() < end:
            assert await call(url) == size
            calls += 1
        return calls

    started = time.perf_counter()
    calls = await asyncio.gather(*(caller() for _ in range(CONNECTIONS)))
    return sum(calls) / (time.perf_counter() - started)


async def measure(base_url: str) -> dict[str, dict[str, list[float]]]:
    """Calls per second of each client, by kind of call, one figure for each round."""
    kinds = {"plain": len(_PLAIN), "stream": 60 * len(_EVENT)}
    present = {
        name: opener
        for name, (package, opener) in CLIENTS.items()
        if importlib.util.find_spec(package)
    }
    figures: dict[str, dict[str, list[float]]] = {kind: {} for kind in kinds}
    async with AsyncExitStack() as stack:
        calls = {name: await opener(stack) for name, opener in present.items()}
        for _ in range(ROUNDS):
            for kind, size in kinds.items():
                for name, call in calls.items():
                    figure = await rate(call, f"{base_url}/{kind}", size)
                    figures[kind].setdefault(name, []).append(figure)
    return figures


def report(figures: dict[str, dict[str, list[float]]]) -> None:
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {ROUNDS} rounds, medians")
    for kind, by_client in figures.items():
        print(f"\n{kind} calls at {CONNECTIONS} connections")
        yardstick = statistics.median(by_client["httpx"])
        for name, rates in by_client.items():
            median = statistics.median(rates)
            print(f"  {name:<18}{median:>8,.0f}/s{median / yardstick:>7.1f} x httpx")
    for name in CLIENTS.keys() - figures["plain"].keys():
        print(f"\n{name} is not installed: left out")


def main() -> None:
    context = multiprocessing.get_context("spawn")
    port: multiprocessing.Queue[int] = context.Queue()
    upstream = context.Process(target=serve, args=(port,), daemon=True)
    upstream.start()
    try:
        report(uvloop.run(measure(f"http://127.0.0.1:{port.get(timeout=30)}")))
    finally:
        upstream.terminate()
        upstream.join()


if __name__ == "__main__":
    main()
