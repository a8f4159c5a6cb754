"""Outbound calls on real sockets: what is sent, what is refused, and how long anything may take."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pytest_django import Settings

from common.tests.upstream import JSON, Call, Upstream
from common.tests.upstream import Answer as Prepared
from integrations.safe_http import errors
from integrations.safe_http.client import Answer, Client, fetch
from tests.stopwatch import Stopwatch


class Host:
    """A service on a scripted socket, and a client that calls it in a thread."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.url = upstream.url
        self.answers(b"{}")

    def answers(self, *pieces: bytes | float, content_type: str = JSON, **more: Any) -> None:
        self.upstream.answer = Prepared([*pieces], content_type=content_type, **more)

    async def call(self, method: str = "GET", path: str = "", **options: Any) -> Answer:
        def run() -> Answer:
            with Client(self.url, headers={"Authorization": "Bearer secret"}) as client:
                return client.request(method, path, **options)

        return await asyncio.to_thread(run)


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Host]:
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    async with Upstream() as upstream:
        yield Host(upstream)


async def test_a_call_sends_json_and_reads_json(host: Host) -> None:
    host.answers(b'{"id": 7}', status=201)
    answer = await host.call("POST", "/things?x=1", json={"name": "a/b"}, headers={"X-A": "b"})
    [call] = host.upstream.calls
    assert (answer.status, answer.json()) == (201, {"id": 7})
    assert (call.method, call.path, call.json) == ("POST", "/v1/things?x=1", {"name": "a/b"})
    assert call.headers["x-a"] == "b"
    assert call.headers["authorization"] == "Bearer secret"


async def test_encoded_parts_of_a_path_stay_encoded(host: Host) -> None:
    await host.call(path="/projects/group%2Fproject", params={"ref": "a/b&c"})
    assert host.upstream.calls[0].path == "/v1/projects/group%2Fproject?ref=a%2Fb%26c"


async def test_answers_of_any_status_are_returned(host: Host) -> None:
    host.answers(b"no", status=503, content_type="text/html")
    answer = await host.call()
    assert (answer.status, answer.is_success, answer.body) == (503, False, b"no")


async def test_the_calls_of_a_client_share_a_connection(host: Host) -> None:
    def run() -> None:
        with Client(host.url) as client:
            for _ in range(3):
                client.request("GET")

    await asyncio.to_thread(run)
    assert (len(host.upstream.calls), host.upstream.connections) == (3, 1)


# --- What is not believed -------------------------------------------------------------------------


async def test_an_answer_that_is_too_long_is_not_read(host: Host) -> None:
    host.answers(*[b"x" * 1000] * 100)
    with pytest.raises(errors.AnswerTooLarge):
        await host.call(max_bytes=50_000)


async def test_an_answer_of_another_type_is_refused(host: Host) -> None:
    host.answers(b"<html>", content_type="text/html; charset=utf-8")
    with pytest.raises(errors.UnusableAnswer, match="text/html"):
        await host.call()


async def test_a_compressed_answer_is_refused(host: Host) -> None:
    host.answers(b"{}", headers={"Content-Encoding": "gzip"})
    with pytest.raises(errors.UnusableAnswer):
        await host.call()


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000])
async def test_what_is_no_json_is_an_unusable_answer(host: Host, body: bytes) -> None:
    host.answers(body)
    answer = await host.call()
    with pytest.raises(errors.UnusableAnswer):
        answer.json()


# --- Redirects ------------------------------------------------------------------------------------


def redirecting(to: str) -> Callable[[Call], Prepared]:
    def answer(call: Call) -> Prepared:
        if call.path == "/v1/old":
            return Prepared([b""], status=301, headers={"Location": to})
        return Prepared([b'"moved"'], content_type=JSON)

    return answer


async def test_a_redirect_on_the_same_host_is_followed(host: Host) -> None:
    host.upstream.answer = redirecting("/v1/new")
    assert (await host.call(path="/old", max_redirects=1)).json() == "moved"
    assert host.upstream.calls[1].headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "to",
    [
        "http://localhost:{port}/v1/new",
        "//localhost",
        "http://127.0.0.1:1/",
        "https://127.0.0.1:{port}/",
        "https://host:port/",
        "https://xn--a-\u00e9/",
    ],
)
async def test_no_redirect_leads_to_another_host(host: Host, to: str) -> None:
    port = host.url.rpartition(":")[2].removesuffix("/v1")
    host.upstream.answer = redirecting(to.format(port=port))
    with pytest.raises(errors.UnusableAnswer, match="redirects"):
        await host.call(path="/old", max_redirects=3)
    assert len(host.upstream.calls) == 1


async def test_a_url_that_a_user_names_is_fetched_as_it_is_written(host: Host) -> None:
    url = f"{host.url}/a%2Fb/?signature=x%2B/"
    options: dict[str, Any] = {"max_bytes": 9, "media_types": (JSON,), "max_redirects": 0}
    answer = await asyncio.to_thread(lambda: fetch(url, seconds=5, **options))
    assert answer.body == b"{}"
    [call] = host.upstream.calls
    assert (call.method, call.path) == ("GET", "/v1/a%2Fb/?signature=x%2B/")
    assert not {"authorization", "cookie", "referer"} & {*call.headers}


async def test_redirects_end(host: Host) -> None:
    host.upstream.answer = redirecting("/v1/old")
    answer = await host.call(path="/old", max_redirects=3)
    assert (answer.status, len(host.upstream.calls)) == (301, 4)


async def test_what_changes_something_is_not_sent_to_another_place(host: Host) -> None:
    host.upstream.answer = redirecting("/v1/new")
    answer = await host.call("POST", "/old", json={}, max_redirects=3)
    assert (answer.status, len(host.upstream.calls)) == (301, 1)


# --- Time -----------------------------------------------------------------------------------------


async def test_a_host_that_is_silent_is_left(host: Host) -> None:
    host.answers(delay=30.0)
    with Stopwatch() as watch, pytest.raises(errors.NoAnswer):
        await host.call(seconds=0.3)
    assert watch.seconds < 2


async def test_a_host_that_answers_byte_by_byte_is_left(host: Host) -> None:
    drops: list[bytes | float] = [b" ", 0.05]
    host.answers(*drops * 400)
    with Stopwatch() as watch, pytest.raises(errors.NoAnswer):
        await host.call(seconds=0.5)
    assert watch.seconds < 2


async def test_a_host_whose_headers_never_end_is_left(host: Host) -> None:
    """One byte after the other: each comes in time."""
    is_over, has_ended = asyncio.Event(), asyncio.Event()

    async def dribble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not is_over.is_set():
            writer.write(b"x")
            await asyncio.sleep(0.05)
        writer.transport.abort()
        has_ended.set()

    server = await asyncio.start_server(dribble, "127.0.0.1", 0)
    host.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    with Stopwatch() as watch, pytest.raises(errors.NoAnswer):
        await host.call(seconds=0.5)
    assert watch.seconds < 2
    is_over.set()
    await has_ended.wait()
    server.close()
    await server.wait_closed()


async def test_a_host_that_reads_nothing_is_left(settings: Settings) -> None:
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def call() -> Answer:
            with Client(url) as client:
                return client.request("POST", json="x" * 20_000_000, seconds=0.5)

        with Stopwatch() as watch, pytest.raises(errors.NoAnswer):
            await asyncio.to_thread(call)
    assert watch.seconds < 2


async def test_a_name_that_takes_too_long_to_resolve_was_not_called(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def resolve(*_: object, **__: object) -> None:
        asyncio.run_coroutine_threadsafe(done.wait(), loop).result()

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    host.url = "https://slow.example.com"
    with Stopwatch() as watch, pytest.raises(errors.NotSent):
        await host.call(seconds=0.3)
    done.set()
    assert watch.seconds < 2


# --- Connections that break -----------------------------------------------------------------------


async def test_no_call_is_sent_twice(host: Host) -> None:
    host.answers(ending="broken")
    with pytest.raises(errors.NoAnswer):
        await host.call("POST", json={})
    assert len(host.upstream.calls) == 1


async def test_a_host_that_cannot_be_reached_has_seen_nothing(settings: Settings) -> None:
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}") as client, pytest.raises(errors.NotSent):
        client.request("POST", json={})


# --- Addresses inside -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "0"])
async def test_this_machine_is_not_called_by_any_name(
    host: Host, settings: Settings, name: str
) -> None:
    settings.OUTBOUND_ALLOWED = []
    port = host.url.rpartition(":")[2].removesuffix("/v1")
    for scheme in ("http", "https"):
        host.url = f"{scheme}://{name}:{port}"
        with pytest.raises(errors.AddressRefused):
            await host.call()
    assert host.upstream.connections == 0


def answering(*rounds: list[str]) -> Callable[..., list[Any]]:
    """A resolver that gives these addresses, one list after the other, and then the last one."""
    left, numeric = [*rounds], socket.getaddrinfo

    def resolve(host: str, port: int, *options: Any, **more: Any) -> list[Any]:
        if host[0].isdigit():
            return numeric(host, port, *options, **more)
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    return resolve


async def test_a_resolver_that_changes_its_mind_leads_nowhere(
    host: Host, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer is what is connected to; a later one is checked as well."""
    settings.OUTBOUND_ALLOWED = ["127.0.0.1"]
    port = host.url.rpartition(":")[2].removesuffix("/v1")
    host.url = f"http://rebinding.example.com:{port}"
    monkeypatch.setattr(socket, "getaddrinfo", answering(["127.0.0.1"], ["169.254.169.254"]))
    assert (await host.call()).json() == {}
    with pytest.raises(errors.AddressRefused):
        await host.call()


async def test_a_name_with_one_address_inside_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", answering(["8.8.8.8", "10.0.0.1"]))
    host.url = "https://mixed.example.com"
    with pytest.raises(errors.AddressRefused):
        await host.call()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "unix:///run/redis",
        "https://",
        "https://user:password@example.com",
        "https://example.com/#x",
        "https://exa mple.com",
        "https://example.com:99999",
        "https://" + "a" * 3000,
        "https://\x00",
    ],
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(errors.AddressRefused):
        Client(url)


async def test_no_error_contains_a_secret(host: Host) -> None:
    host.answers(ending="broken")
    with pytest.raises(errors.NoAnswer) as broken:
        await host.call(path="/x?access_token=hidden")
    error: BaseException | None = broken.value
    while error is not None:
        assert "secret" not in repr(error)
        assert "hidden" not in repr(error)
        error = error.__cause__ or error.__context__
