"""PostgreSQL goes away for some seconds under replies: their readers read on, nothing is lost, and
all of it is stored and settled when it is back."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import pytest
from django.core.management import call_command

from billing.tests.bank import wallet_of
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.chaos.proxy import DoorProxy, LossyProxy
from tests.service import Web, database_url, running_web
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

AWAY_SECONDS = 8.0
P = TypeVar("P", DoorProxy, LossyProxy)
# Longer than the outage, on both sides of it.
LONG = {"tokens": 60, "reasoning_tokens": 5, "delay_ms": 250}


def test_a_database_that_is_gone(simulator: RunningSimulator) -> None:
    with _behind(DoorProxy(_port()), simulator) as (proxy, web), _readers() as threads:
        long, short, resumed = (Talk(customer(name)) for name in ("alice", "bob", "charlie"))
        whole = threads.submit(long.say, web.url, **LONG)
        followed = threads.submit(resumed.say, web.url, **LONG)
        calls.wait_for(lambda: long.is_saved() and resumed.is_saved())
        # It ends while there is no database.
        brief = threads.submit(short.say, web.url, tokens=30, delay_ms=100)
        calls.wait_for(short.is_saved)
        follower = threads.submit(_follow, resumed, web)
        with proxy.shut():
            left_at = time.monotonic()
            refused = Talk(customer("dora")).post(web.url, tokens=3)
            time.sleep(max(0, left_at + AWAY_SECONDS - time.monotonic()))
        readings = {
            long: whole.result(30),
            short: brief.result(30),
            resumed: followed.result(30),
        }
        assert follower.result(30).text == readings[resumed].text
        _assert_stored_and_settled(readings, simulator)

    assert refused.status_code == 503
    assert refused.json()["detail"]


def test_a_database_that_stands_still(simulator: RunningSimulator) -> None:
    with _behind(LossyProxy(_port()), simulator) as (proxy, web), _readers() as threads:
        long, short = Talk(customer("alice")), Talk(customer("bob"))
        whole = threads.submit(long.say, web.url, **LONG)
        calls.wait_for(long.is_saved)
        brief = threads.submit(short.say, web.url, tokens=30, delay_ms=100)
        calls.wait_for(short.is_saved)
        proxy.flowing.clear()
        time.sleep(AWAY_SECONDS)
        proxy.flowing.set()
        _assert_stored_and_settled({long: whole.result(30), short: brief.result(30)}, simulator)


def _assert_stored_and_settled(readings: dict[Talk, Reading], simulator: RunningSimulator) -> None:
    for talk, reading in readings.items():
        calls.wait_for(lambda: not talk.runs(), seconds=30)  # noqa: B023
        reply, charge = talk.reply, talk.charge
        [call] = simulator.calls(talk.marker)
        assert (reply.status, call["outcome"]) == ("completed", "completed")
        assert (reading.text, reading.reasoning) == (reply.content, reply.reasoning)
        assert reading.ended
        assert charge.status == "settled"
        assert charge.tokens_out == call["tokens_emitted"] + call["reasoning_emitted"]
        assert wallet_of(talk.owner).held == 0
    call_command("reconcile")


def _follow(talk: Talk, web: Web) -> Reading:
    """Resume after what is there whenever the connection ends, as a reader does."""
    reading = Reading()
    while not reading.ended:
        headers = {} if reading.offset is None else {"Last-Event-ID": str(reading.offset)}
        with (
            suppress(httpx.TransportError),
            talk.opened(web.url, "GET", "/stream", **headers) as response,
        ):
            if response.status_code == 200:
                reading.read(response)
        time.sleep(0.2)
    return reading


@contextmanager
def _behind(proxy: P, simulator: RunningSimulator) -> Iterator[tuple[P, Web]]:
    """A web process whose database is behind the proxy."""
    through = database_url().replace(f":{_port()}/", f":{proxy.port}/")
    with proxy, running_web(simulator, DATABASE_URL=through) as web:
        yield proxy, web


def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4)


def _port() -> int:
    port = urlsplit(database_url()).port
    assert port
    return port
