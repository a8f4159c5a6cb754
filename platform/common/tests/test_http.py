"""The way out to providers: plain calls that pick up nothing on the way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.http import ConnectFailed, TransportError, UpstreamClient, UpstreamResponse

LIMIT = 1_000


@pytest.fixture
async def client() -> AsyncIterator[UpstreamClient]:
    client = UpstreamClient()
    yield client
    await client.aclose()


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    async def mirror(request: web.Request) -> web.Response:
        seen = {
            "body": (await request.read()).decode(),
            "headers": dict(request.headers),
            "target": request.raw_path,
            "peer": request.transport and request.transport.get_extra_info("peername")[1],
        }
        return web.json_response(seen, headers={"Set-Cookie": "a=b", "X-Name": "value"})

    async def elsewhere(_: web.Request) -> web.Response:
        raise web.HTTPFound("/mirror")

    async def long(_: web.Request) -> web.Response:
        return web.Response(body=b"x" * (LIMIT + 1))

    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"some")
        assert request.transport
        request.transport.abort()
        return response

    application = web.Application()
    application.router.add_post("/mirror", mirror)
    application.router.add_get("/mirror", mirror)
    application.router.add_delete("/mirror", mirror)
    application.router.add_post("/elsewhere", elsewhere)
    application.router.add_get("/elsewhere", elsewhere)
    application.router.add_post("/long", long)
    application.router.add_post("/cut", cut)
    server = TestServer(application)
    async with server:
        yield server


async def post(client: UpstreamClient, server: TestServer, path: str) -> UpstreamResponse:
    url = str(server.make_url(path))
    return await client.post(url, {"X-Mine": "1"}, b"hello", connect_timeout=2.0)


async def mirrored(client: UpstreamClient, server: TestServer) -> dict[str, object]:
    response = await post(client, server, "/mirror")
    seen: dict[str, object] = json.loads(await response.read(LIMIT))
    response.close()
    return seen


async def test_body_and_headers_arrive(client: UpstreamClient, server: TestServer) -> None:
    seen = await mirrored(client, server)
    assert seen["body"] == "hello"
    assert isinstance(seen["headers"], dict)
    assert seen["headers"]["X-Mine"] == "1"


async def test_no_compression_is_asked_for(client: UpstreamClient, server: TestServer) -> None:
    seen = await mirrored(client, server)
    assert isinstance(seen["headers"], dict)
    assert seen["headers"]["Accept-Encoding"] == "identity"


async def test_a_cookie_is_not_sent_back(client: UpstreamClient, server: TestServer) -> None:
    await mirrored(client, server)
    seen = await mirrored(client, server)
    assert isinstance(seen["headers"], dict)
    assert "Cookie" not in seen["headers"]


async def test_a_connection_is_used_again(client: UpstreamClient, server: TestServer) -> None:
    first = await mirrored(client, server)
    assert (await mirrored(client, server))["peer"] == first["peer"]


async def test_headers_of_the_answer_have_any_case(
    client: UpstreamClient, server: TestServer
) -> None:
    response = await post(client, server, "/mirror")
    assert (response.status, response.headers["x-name"]) == (200, "value")
    response.close()


async def test_a_redirect_is_not_followed(client: UpstreamClient, server: TestServer) -> None:
    response = await post(client, server, "/elsewhere")
    assert response.status == 302
    response.close()


async def test_a_deletion_carries_headers_and_no_body(
    client: UpstreamClient, server: TestServer
) -> None:
    url = f"{server.make_url('/')}mirror?a=%2F"
    response = await client.delete(url, {"X-Mine": "1"}, connect_timeout=2.0)
    seen = json.loads(await response.read(LIMIT))
    assert (seen["body"], seen["target"]) == ("", "/mirror?a=%2F")
    assert seen["headers"]["X-Mine"] == "1"


async def test_a_get_carries_headers_and_no_body(
    client: UpstreamClient, server: TestServer
) -> None:
    url = str(server.make_url("/mirror"))
    response = await client.get(url, {"X-Mine": "1"}, connect_timeout=2.0)
    seen = json.loads(await response.read(LIMIT))
    assert seen["body"] == ""
    assert seen["headers"]["X-Mine"] == "1"
    response.close()


async def test_a_signed_url_is_asked_for_as_it_is_written(
    client: UpstreamClient, server: TestServer
) -> None:
    target = "/mirror?se=2026-11-21T10%3A00%3A00Z&sig=a%2Bb%2f%3D"
    response = await client.get(str(server.make_url("/")) + target[1:], {}, connect_timeout=2.0)
    assert json.loads(await response.read(LIMIT))["target"] == target
    response.close()


async def test_a_get_follows_no_redirect(client: UpstreamClient, server: TestServer) -> None:
    url = str(server.make_url("/elsewhere"))
    response = await client.get(url, {}, connect_timeout=2.0)
    assert response.status == 302
    response.close()


async def test_proxy_settings_of_the_environment_are_not_read(
    client: UpstreamClient, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert (await mirrored(client, server))["body"] == "hello"


async def test_a_body_over_the_limit_is_refused(client: UpstreamClient, server: TestServer) -> None:
    response = await post(client, server, "/long")
    with pytest.raises(TransportError):
        await response.read(LIMIT)
    response.close()


async def test_a_cut_connection_is_told(client: UpstreamClient, server: TestServer) -> None:
    response = await post(client, server, "/cut")
    with pytest.raises(TransportError):
        await response.read(LIMIT)
    response.close()


async def test_nobody_listening_is_told(client: UpstreamClient) -> None:
    with pytest.raises(ConnectFailed):
        await client.post("http://127.0.0.1:1/", {}, b"", connect_timeout=2.0)


async def test_an_address_that_is_none_is_told(client: UpstreamClient) -> None:
    for url in ("not a url", "http://[::1/", "http://a:99999/"):
        with pytest.raises(TransportError):
            await client.post(url, {}, b"", connect_timeout=2.0)
        with pytest.raises(TransportError):
            await client.get(url, {}, connect_timeout=2.0)


async def test_a_kept_connection_that_was_closed_is_replaced(client: UpstreamClient) -> None:
    """The server promises to keep the connection, then closes it right after its answer."""
    bodies = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        bodies.append(await reader.readexactly(5))
        assert head.startswith(b"POST")
        writer.write(b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        for _ in range(20):
            response = await client.post(url, {}, b"hello", connect_timeout=2.0)
            assert response.status == 200
            response.close()
    assert bodies == [b"hello"] * 20


IDLE = 10


@dataclass
class Fickle:
    """Answers the first call on each of its first IDLE connections, all open at once. What comes
    later on one of them, or on a `broken` server on a new one, is read and cut off `after` seconds.
    """

    after: float
    broken: bool
    url: str = ""
    cut: int = 0
    answered: int = 0
    accepted: int = 0
    _all_open: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        is_new = self.accepted > IDLE
        if not is_new or not self.broken:
            await self._read(reader)
            if self.accepted == IDLE:
                self._all_open.set()
            await self._all_open.wait()
            self.answered += 1
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        with suppress(asyncio.IncompleteReadError):  # the client left: nothing more was asked
            await self._read(reader)
            self.cut += 1
            await asyncio.sleep(self.after)
        writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(5)

    async def post(self, client: UpstreamClient) -> int:
        response = await client.post(self.url, {}, b"hello", connect_timeout=2.0)
        response.close()
        return response.status


@asynccontextmanager
async def fickle(
    client: UpstreamClient, *, after: float = 0.0, broken: bool = False
) -> AsyncIterator[Fickle]:
    """A server to which the client keeps IDLE connections."""
    fickle = Fickle(after, broken)
    server = await asyncio.start_server(fickle.serve, "127.0.0.1", 0)
    async with server:
        fickle.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        await asyncio.gather(*(fickle.post(client) for _ in range(IDLE)))
        assert (fickle.answered, fickle.accepted) == (IDLE, IDLE)
        yield fickle
        await client.aclose()


async def test_a_pool_full_of_dead_connections_costs_one_repeat(client: UpstreamClient) -> None:
    async with fickle(client) as server:
        assert await server.post(client) == 200
        assert (server.cut, server.answered, server.accepted) == (1, IDLE + 1, IDLE + 1)


async def test_a_provider_that_worked_before_it_broke_off_is_not_asked_again(
    client: UpstreamClient,
) -> None:
    async with fickle(client, after=0.5) as server:
        with pytest.raises(TransportError):
            await server.post(client)
        assert (server.cut, server.answered, server.accepted) == (1, IDLE, IDLE)


async def test_a_call_over_a_new_connection_is_never_sent_twice(client: UpstreamClient) -> None:
    async with fickle(client, broken=True) as server:
        with pytest.raises(TransportError) as failure:
            await client.post(
                server.url, {}, b"hello", connect_timeout=2.0, over_new_connection=True
            )
        assert not isinstance(failure.value, ConnectFailed)
        assert (server.cut, server.answered, server.accepted) == (1, IDLE, IDLE + 1)


async def test_a_repeat_that_breaks_is_the_last(client: UpstreamClient) -> None:
    async with fickle(client, broken=True) as server:
        with pytest.raises(TransportError):
            await server.post(client)
        assert (server.cut, server.answered, server.accepted) == (2, IDLE, IDLE + 1)


async def test_a_new_connection_that_breaks_is_not_tried_twice(client: UpstreamClient) -> None:
    calls = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        await reader.readuntil(b"\r\n\r\n")
        calls += 1
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(TransportError):
            await client.post(url, {}, b"hello", connect_timeout=2.0)
    assert calls == 1


def test_each_event_loop_has_connections_of_its_own() -> None:
    client = UpstreamClient()

    async def call() -> None:
        server = TestServer(web.Application())
        async with server:
            response = await post(client, server, "/missing")
            assert response.status == 404
            response.close()
        await client.aclose()

    asyncio.run(call())
    asyncio.run(call())
