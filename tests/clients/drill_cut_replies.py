"""A plain reader whose connections are cut all the time, and lead to one web process and then to
the other: what it joins is what the service stores, to the code point."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos.councils import customer
from tests.chaos.proxy import CuttingProxy
from tests.service import Web, running_web
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

CUTS = 20
# Characters of one to four bytes, of several code points and of two UTF-16 units; and line ends
# that only some know.
WORDS = "plain Grüße 日本語 😀 👩\u200d👩\u200d👧 e\u0301 𓀀 x\u2028y y\u0085z"


@pytest.fixture(scope="module")
def other(simulator: RunningSimulator, web: Web) -> Iterator[Web]:
    """A second web process."""
    with running_web(simulator) as other:
        yield other


def test_what_is_joined_over_many_connections_is_what_is_stored(web: Web, other: Web) -> None:
    talk = Talk(customer("alice"))
    options = {"text": WORDS, "tokens": 1_000, "reasoning_tokens": 200, "delay_ms": 10}

    with CuttingProxy(web.port, other.port, cuts=CUTS, most_bytes=3_000) as proxy:
        reading = _read_on_a_bad_network(talk, proxy, options)

    assert proxy.cuts_left == 0
    [user_message, message] = talk.ask(web.url, "GET").json()["messages"]
    assert (reading.text, reading.reasoning) == (message["content"], message["reasoning"])
    assert len(message["content"].split()) == 1_000
    assert reading.offset == len(message["content"]) + len(message["reasoning"])
    assert reading.part("finish")["usage"] == message["usage"]
    assert reading.part("start")["messageMetadata"]["user_message_id"] == user_message["id"]
    assert talk.charge.status == "settled"


def test_a_reader_without_an_offset_gets_all_of_it_from_both_processes(
    web: Web, other: Web
) -> None:
    talk = Talk(customer("alice"))
    options = {"text": WORDS, "tokens": 100, "reasoning_tokens": 20, "delay_ms": 20}

    with talk.sent(web.url, **options) as sent, ThreadPoolExecutor(4) as threads:
        first = Reading().follow(sent).until(lambda reading: len(reading.text) > 40)
        paths = ("/stream", f"/messages/{first.message_id}/stream")
        resumed = [
            threads.submit(_resumed, talk, url, path)
            for url in (web.url, other.url)
            for path in paths
        ]
        first.to_end()
        again = [reader.result() for reader in resumed]

    for reading in again:
        assert (reading.text, reading.reasoning) == (first.text, first.reasoning)
        # The title comes when it is there.
        assert sorted(reading.types) == sorted(first.types)
        assert reading.part("start") == first.part("start")
        assert reading.part("finish") == first.part("finish")


def _resumed(talk: Talk, url: str, path: str) -> Reading:
    with talk.opened(url, "GET", path) as response:
        return Reading().read(response)


def _read_on_a_bad_network(talk: Talk, proxy: CuttingProxy, options: dict[str, object]) -> Reading:
    """Send under a name until it is known to be taken, then go on after what is there."""
    reading, named = Reading(), uuid7().hex
    body = {"content": talk.content(**options)}
    while not reading.ended:
        with suppress(httpx.TransportError):
            if reading.offset is None:
                headers = {"Idempotency-Key": named}
                with talk.opened(proxy.url, "POST", "/messages", json=body, **headers) as response:
                    if response.status_code != 409:
                        reading.read(response)
                        continue
                    response.read()
                    assert response.json()["code"] == "idempotency_in_progress"
            _resume(talk, proxy, reading)
    return reading


def _resume(talk: Talk, proxy: CuttingProxy, reading: Reading) -> None:
    headers = {} if reading.offset is None else {"Last-Event-ID": str(reading.offset)}
    with talk.opened(proxy.url, "GET", "/stream", **headers) as response:
        reading.read(response)
