"""Requests that are sent again: through proxies that cut connections, and to other processes."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from accounts.models import User
from billing.models import Charge, UndeliveredAnswer
from billing.tests.bank import kill, wallet_of
from common.ids import uuid7
from common.money import usd
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.proxy import ChosenCutProxy
from tests.hanging_up import sent
from tests.personas import new_key, new_user
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

AGAIN = {"x-stainless-retry-count": "1"}
REPLAYED = "x-idempotency-replayed"
PATH = "/v1/chat/completions"


class Caller:
    """Alice with a key, at any of the processes."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self.user: User = new_user("alice", plan="max", balance_usd=5)
        _, self.key = new_key(self.user)
        self.marker = uuid7().hex
        self._simulator = simulator

    def body(self, **options: Any) -> dict[str, Any]:
        return calls.body(self.marker, **options)

    def send(
        self, url: str, body: dict[str, Any], path: str = PATH, **headers: str
    ) -> httpx.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(url + path, json=body, headers={**self._headers, **names}, timeout=30)

    def send_again(self, url: str, body: dict[str, Any], path: str = PATH) -> httpx.Response:
        return self.send(url, body, path, **AGAIN)

    def send_in_vain(self, url: str, body: dict[str, Any], path: str = PATH) -> threading.Thread:
        """The connection is cut."""

        def send() -> None:
            with pytest.raises(httpx.TransportError):
                pytest.fail(self.send(url, body, path).text[:500])

        thread = threading.Thread(target=send)
        thread.start()
        return thread

    def lose(self, url: str, body: dict[str, Any]) -> None:
        """Hang up once the provider is asked, and wait until that is known."""
        with sent(httpx.Request("POST", url + PATH, json=body, headers=self._headers)):
            calls.wait_for(self.provider_calls)
        calls.wait_for(self.undelivered)

    def provider_calls(self) -> list[dict[str, Any]]:
        return self._simulator.calls(self.marker)

    def undelivered(self) -> list[UndeliveredAnswer]:
        return list(UndeliveredAnswer.objects.filter(account=self.user))

    def charge(self) -> Charge:
        return calls.only_charge(self.user)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@pytest.fixture
def alice(simulator: RunningSimulator) -> Caller:
    return Caller(simulator)


@pytest.fixture
def other(simulator: RunningSimulator) -> Iterator[Web]:
    """Another web process."""
    with running_web(simulator) as other:
        yield other


# --- Proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
def test_a_wait_that_a_proxy_cuts_short_is_paid_once(alice: Caller, web: Web, stream: bool) -> None:
    body = alice.body(stream=stream, tokens=20, ttft_ms=1200)
    with ChosenCutProxy(web.port) as proxy:
        waiting = alice.send_in_vain(proxy.url, body)
        calls.wait_for(alice.provider_calls)
        proxy.cut()
        waiting.join()

        answer = alice.send_again(proxy.url, body)

    assert answer.headers[REPLAYED] == "true"
    assert alice.charge().tokens_out == 20
    assert len(alice.provider_calls()) == 1


@pytest.mark.parametrize("at", [1, 300, 1500, 4000])
def test_a_stream_that_is_cut_at_any_byte_is_paid_once(alice: Caller, web: Web, at: int) -> None:
    body = alice.body(stream=True, tokens=40, delay_ms=50, delta_tokens=1)
    with ChosenCutProxy(web.port, at=at, cuts=1) as proxy:
        alice.send_in_vain(proxy.url, body).join()

        answer = alice.send_again(proxy.url, body)

    assert answer.headers[REPLAYED] == "true"
    assert answer.text.count('"content":" ') == 39
    assert answer.text.endswith("data: [DONE]\n\n")
    assert alice.charge().tokens_out == 40


def test_a_large_answer_that_is_cut_while_it_is_written_is_paid_once(
    alice: Caller, web: Web
) -> None:
    question = alice.body()["messages"][0]["content"]
    texts = [f"{number} {question}" for number in range(256)]
    body = {"model": "text-embedding-3-small", "input": texts, "encoding_format": "float"}
    with ChosenCutProxy(web.port, at=100_000, cuts=1) as proxy:
        alice.send_in_vain(proxy.url, body, "/v1/embeddings").join()
        calls.wait_for(alice.undelivered)

        answer = alice.send_again(proxy.url, body, "/v1/embeddings")

        assert answer.headers[REPLAYED] == "true"
        assert len(answer.content) > 4_000_000
        assert len(answer.json()["data"]) == 256
        assert alice.charge().status == "settled"
        # It was written, although it had to wait for its reader.
        assert REPLAYED not in alice.send_again(proxy.url, body, "/v1/embeddings").headers


def test_a_retry_that_comes_before_the_cut_is_seen_waits_for_it(alice: Caller, web: Web) -> None:
    body = alice.body(tokens=5, ttft_ms=2500)
    with ChosenCutProxy(web.port, lag=0.5) as proxy:
        waiting = alice.send_in_vain(proxy.url, body)
        calls.wait_for(alice.provider_calls)
        proxy.cut()
        waiting.join()
        assert not alice.undelivered()

        answer = alice.send_again(proxy.url, body)

    assert answer.headers[REPLAYED] == "true"
    assert len(alice.provider_calls()) == 1


def test_a_retry_waits_a_second_for_a_connection_that_stays_open(alice: Caller, web: Web) -> None:
    """The caller of the first request may well be there."""
    body = alice.body(tokens=5, ttft_ms=2500)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(alice.send, web.url, body)
        calls.wait_for(alice.provider_calls)
        began = time.monotonic()
        answer = alice.send_again(web.url, body)

    assert time.monotonic() - began > 2.5 + 1.0
    assert REPLAYED not in answer.headers
    assert first.result().json()["id"] != answer.json()["id"]


# --- Processes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("runs", [True, False], ids=["running", "ended"])
def test_another_process_delivers_the_answer(
    alice: Caller, web: Web, other: Web, stream: bool, runs: bool
) -> None:
    body = alice.body(stream=stream, tokens=20, ttft_ms=1000)
    alice.lose(web.url, body)
    if not runs:
        calls.wait_for(lambda: alice.charge().status == "settled")

    answer = alice.send_again(other.url, body)

    assert answer.status_code == 200
    assert answer.headers[REPLAYED] == "true"
    assert f"chatcmpl-{alice.charge().pk.hex}" in answer.text
    assert len(alice.provider_calls()) == 1
    assert wallet_of(alice.user).held == 0
    calls.wait_for(lambda: not alice.undelivered())


def test_a_stream_of_another_process_begins_before_its_end(
    alice: Caller, web: Web, other: Web
) -> None:
    """Proxies give up on an answer that does not begin."""
    body = alice.body(stream=True, max_tokens=400, tokens=400, delay_ms=15)
    alice.lose(web.url, body)

    headers = {"Authorization": f"Bearer {alice.key}", **AGAIN}
    with httpx.stream("POST", other.url + PATH, json=body, headers=headers, timeout=30) as answer:
        assert alice.charge().status == "held"
        text = answer.read().decode()

    assert answer.headers[REPLAYED] == "true"
    assert alice.charge().tokens_out == 400
    assert text.count(" ") > 400
    assert text.endswith("data: [DONE]\n\n")


def test_a_retry_that_another_process_serves_and_that_goes_away_leaves_the_answer(
    alice: Caller, web: Web, other: Web
) -> None:
    body = alice.body(tokens=5, ttft_ms=2000)
    alice.lose(web.url, body)
    headers = {"Authorization": f"Bearer {alice.key}", **AGAIN}
    with sent(httpx.Request("POST", other.url + PATH, json=body, headers=headers)):
        calls.wait_for(lambda: alice.undelivered()[0].claim)
    calls.wait_for(lambda: alice.undelivered()[0].claim is None)

    for url in (other.url, web.url):
        assert (REPLAYED in alice.send_again(url, body).headers) == (url == other.url)
    assert len(alice.provider_calls()) == 2


def test_what_a_process_had_streamed_when_it_died_is_billed_and_said(
    alice: Caller, web: Web, simulator: RunningSimulator
) -> None:
    body = alice.body(stream=True, max_tokens=400, tokens=400, delay_ms=20)
    with running_web(simulator) as doomed:
        alice.lose(doomed.url, body)
        calls.wait_for(lambda: alice.charge().tokens_out)
        doomed.kill()
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(alice.send_again, web.url, body)
        calls.wait_for(lambda: alice.undelivered()[0].claim)
        kill(alice.charge().owner_id)
        said = answer.result().text

    charge = alice.charge()
    assert charge.status == "expired"
    assert "idempotency_answer_lost" in said
    assert f'"billed_usd":{usd(charge.charge_balance)}' in said
    calls.wait_for(lambda: not alice.undelivered())
    assert alice.send_again(web.url, alice.body()).status_code == 200


def test_a_process_that_died_before_any_output_leads_to_a_new_call(
    alice: Caller, web: Web, simulator: RunningSimulator
) -> None:
    body = alice.body(tokens=5, ttft_ms=2000)
    with running_web(simulator) as doomed:
        alice.lose(doomed.url, body)
        doomed.kill()
    kill(alice.charge().owner_id)

    answer = alice.send_again(web.url, body)

    assert answer.status_code == 200
    assert REPLAYED not in answer.headers
    statuses = Charge.objects.filter(account=alice.user).order_by("pk")
    assert list(statuses.values_list("status", flat=True)) == ["released", "settled"]
