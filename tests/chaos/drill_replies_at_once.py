"""Several who want something of one conversation at the same time, through two web processes."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from billing.models import Charge, LedgerEntry
from billing.tests.bank import wallet_of
from common.ids import uuid7
from conversations.models import Message
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import customer
from tests.service import Web, running_web
from tests.talk import Reading, Talk

pytestmark = pytest.mark.usefixtures("committed")

AT_ONCE = 10


@pytest.fixture(scope="module")
def other(simulator: RunningSimulator, web: Web) -> Iterator[Web]:
    """A second web process."""
    with running_web(simulator) as other:
        yield other


def test_of_many_messages_at_once_one_is_answered(
    web: Web, other: Web, simulator: RunningSimulator
) -> None:
    talk = Talk(customer("alice"))

    answers = _at_once(talk, web, other, tokens=20, ttft_ms=2000)

    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: AT_ONCE - 1}
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {refusal["code"] for refusal in refused} == {"reply_running"}
    assert len(simulator.calls(talk.marker)) == 1
    assert Message.objects.filter(conversation=talk.id).count() == 2
    _assert_billed_once(talk)


def test_of_many_clicks_with_one_name_one_counts_and_all_get_its_reply_later(
    web: Web, other: Web, simulator: RunningSimulator
) -> None:
    talk, name = Talk(customer("alice")), uuid7().hex
    options = {"tokens": 20, "reasoning_tokens": 3, "ttft_ms": 2000}

    answers = _at_once(talk, web, other, named=name, **options)
    later = _at_once(talk, web, other, named=name, **options)

    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: AT_ONCE - 1}
    for refused in (answer for answer in answers if answer.status_code == 409):
        assert refused.json()["code"] == "idempotency_in_progress"
        assert int(refused.headers["Retry-After"]) >= 1
    [first] = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in later} == {200}
    assert {answer.headers["Idempotency-Replayed"] for answer in later} == {"true"}
    read = [Reading().read(answer) for answer in (first, *later)]
    assert {reading.text for reading in read} == {talk.reply.content}
    assert {reading.reasoning for reading in read} == {talk.reply.reasoning}
    assert {str(reading.part("finish")["usage"]) for reading in read} == {
        str(read[0].part("finish")["usage"])
    }
    assert len(simulator.calls(talk.marker)) == 1
    _assert_billed_once(talk)


def test_a_reply_is_stopped_through_another_process(
    web: Web, other: Web, simulator: RunningSimulator
) -> None:
    """By many at once: it is stopped once, and billed for what was produced."""
    talk, reading = Talk(customer("alice")), Reading()

    with talk.sent(web.url, tokens=500, delay_ms=50) as response, _pool() as threads:
        reading.follow(response).until(lambda reading: reading.text)
        stop = f"/messages/{reading.message_id}/stop"
        urls = [web.url, other.url] * (AT_ONCE // 2)
        answers = list(threads.map(lambda url: talk.ask(url, "POST", stop), urls))
        reading.to_end()
    late = talk.ask(other.url, "POST", stop)

    assert {answer.status_code for answer in answers} <= {200, 202}
    assert (late.status_code, late.json()["status"]) == (200, "cancelled")
    assert reading.ended
    assert reading.text == talk.reply.content != ""
    assert talk.reply.status == "cancelled"
    calls.wait_for(lambda: simulator.calls(talk.marker)[0]["outcome"] == "client_gone")
    written = len(reading.text.split())
    assert written <= talk.charge.tokens_out <= calls.most_billed(simulator, talk.marker)
    assert calls.emitted(simulator, talk.marker) < 500
    _assert_billed_once(talk)


def test_a_conversation_that_is_deleted_in_mid_reply_leaves_only_its_bill(
    web: Web, other: Web, simulator: RunningSimulator
) -> None:
    talk, reading = Talk(customer("alice")), Reading()

    with talk.sent(web.url, tokens=500, delay_ms=50) as response:
        reading.follow(response).until(lambda reading: reading.text)
        charge_id = talk.reply.pk
        assert talk.ask(other.url, "DELETE").status_code == 204
        with suppress(httpx.TransportError):
            reading.to_end()

    charge = calls.wait_for(lambda: Charge.objects.filter(pk=charge_id, status="settled").first())
    written = len(reading.text.split())
    assert written <= charge.tokens_out <= calls.most_billed(simulator, talk.marker)
    assert calls.emitted(simulator, talk.marker) < 500
    assert LedgerEntry.objects.filter(account=talk.owner, kind="charge").count() == 1
    assert wallet_of(talk.owner).held == 0
    for path in ("", "/stream", f"/messages/{charge_id}/stream"):
        assert talk.ask(web.url, "GET", path).status_code == 404
    call_command("reconcile")


def _at_once(talk: Talk, web: Web, other: Web, **message: Any) -> list[httpx.Response]:
    urls = [web.url, other.url] * (AT_ONCE // 2)
    with _pool() as threads:
        return list(threads.map(lambda url: talk.post(url, **message), urls))


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE)


def _assert_billed_once(talk: Talk) -> None:
    assert talk.charge.status == "settled"
    assert LedgerEntry.objects.filter(account=talk.owner, kind="charge").count() == 1
    assert wallet_of(talk.owner).held == 0
    call_command("reconcile")
