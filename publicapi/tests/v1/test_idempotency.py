"""`Idempotency-Key`: a request that is sent again is carried out, and billed, once."""

import json
import threading
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from typing import NoReturn
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from billing.models import Charge, IdempotencyKey
from common.money import usd
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import (
    BALANCE_ONLY,
    CHAT,
    EMBEDDING,
    EMBEDDINGS,
    IMAGE,
    IMAGES,
    Customer,
)
from publicapi.tests.v1.errors import refusal
from publicapi.v1.exchange import Exchange
from publicapi.v1.idempotency import read_request_key
from tests.chaos.calls import wait_for
from tests.personas import new_key

Sent = dict[str, str]


@pytest.fixture
def named() -> Sent:
    """A header that names a request."""
    return {"Idempotency-Key": f"order {uuid4()}"}


def test_the_same_request_brings_the_same_answer_and_is_billed_once(
    alice: Customer, named: Sent
) -> None:
    body = alice.body(model=BALANCE_ONLY, steer={"tokens": 5, "reasoning_tokens": 2})

    first = alice.post(json=body, headers=named)
    second = alice.post(json=body, headers=named)

    assert first.status_code == second.status_code == 200
    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert second.headers["x-request-id"] != first.headers["x-request-id"]
    assert len(alice.provider_calls()) == 1
    assert alice.spent_of_balance() == alice.charge().charge_balance > 0


def test_a_stream_is_replayed_as_a_stream(alice: Customer, named: Sent) -> None:
    body = alice.body(stream=True, steer={"tokens": 20})

    first = alice.post(json=body, headers=named)
    second = alice.post(json=body, headers=named)

    assert second.headers["content-type"] == first.headers["content-type"]
    assert second.headers["idempotency-replayed"] == "true"
    assert _text(second) == _text(first)
    assert list(_chunks(second))[-1] == list(_chunks(first))[-1]
    assert second.text.endswith("data: [DONE]\n\n")
    assert len(alice.charges()) == 1


@pytest.mark.parametrize("first_streams", [True, False])
def test_a_stream_and_a_whole_answer_are_one_request(
    alice: Customer, named: Sent, first_streams: bool
) -> None:
    body = alice.body(steer={"tokens": 5})
    streamed = {"stream": True, "stream_options": {"include_usage": True}, **body}
    first, second = (streamed, body) if first_streams else (body, streamed)

    answers = [alice.post(json=sent, headers=named) for sent in (first, second)]

    whole, stream = answers[::-1] if first_streams else answers
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert whole.json()["choices"][0]["message"]["content"] == _text(stream)
    assert list(_chunks(stream))[-1]["usage"] == whole.json()["usage"]
    assert len(alice.provider_calls()) == 1


def test_the_order_of_the_fields_is_no_other_request(alice: Customer, named: Sent) -> None:
    body = alice.body()
    alice.post(json=body, headers=named)

    second = alice.post(json=dict(reversed(body.items())), headers=named)

    assert second.headers["idempotency-replayed"] == "true"


def test_a_field_that_is_ignored_makes_another_request(alice: Customer, named: Sent) -> None:
    alice.post(json=alice.body(temperature=0), headers=named)
    refusal(alice.post(json=alice.body(temperature=1), headers=named), 422, "idempotency_mismatch")


@pytest.mark.parametrize(
    "ignored", [b"[" + b"[]," * 1_000_000 + b"0]", b"[" + b"{}," * 1_000_000 + b"0]"], ids=len
)
async def test_what_is_ignored_is_not_decoded_for_the_name(ignored: bytes) -> None:
    headers = [(b"idempotency-key", b"order")]
    exchange = Exchange(
        {"method": "POST", "path": CHAT, "headers": headers, "query_string": b""}, never, never
    )
    body = b'{"model":"m","ignored":' + ignored + b"}"
    tracemalloc.start()
    try:
        assert read_request_key(exchange, body) is not None
        assert tracemalloc.get_traced_memory()[1] < len(body) / 10
    finally:
        tracemalloc.stop()


def test_a_stream_that_broke_off_is_an_error_that_stays_where_it_is_asked_for_as_a_whole(
    alice: Customer, named: Sent
) -> None:
    steer = {"tokens": 20, "fail": "after", "after_tokens": 4}
    alice.post(json=alice.body(stream=True, steer=steer), headers=named)

    second = alice.post(json=alice.body(steer=steer), headers=named)

    refusal(second, 502, "upstream_error")
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["x-should-retry"] == "false"
    assert len(alice.provider_calls()) == 1


@pytest.mark.parametrize("path", [CHAT, EMBEDDINGS, IMAGES])
@pytest.mark.parametrize("is_interrupted", [True, False])
def test_what_was_billed_without_an_answer_is_not_carried_out_again(
    alice: Customer, named: Sent, path: str, is_interrupted: bool
) -> None:
    prompt = alice.prompt("A red boat.")
    body = {
        CHAT: alice.body(),
        EMBEDDINGS: {"model": EMBEDDING, "input": prompt},
        IMAGES: {"model": IMAGE, "prompt": prompt},
    }[path]
    assert alice.post(path, json=body, headers=named).status_code == 200
    billed = alice.charge().charge_plan + alice.charge().charge_balance
    IdempotencyKey.objects.filter(account=alice.user).update(answer=None)
    if is_interrupted:
        # As if its process had died after the last checkpoint, before it could settle.
        Charge.objects.filter(account=alice.user).update(status="expired")

    for _ in range(2):
        response = alice.post(path, json=body, headers=named)
        error = refusal(response, 422, "idempotency_answer_lost")
        assert error["billed_usd"] == usd(billed)
        assert ("interrupted" in error["message"]) == is_interrupted
        assert "another key" in error["message"]
        assert response.headers["x-should-retry"] == "false"
    other = alice.post(path, json={**body, "user": "another"}, headers=named)
    refusal(other, 422, "idempotency_mismatch")
    assert len(alice.provider_calls()) == len(alice.charges()) == 1
    another = {"Idempotency-Key": uuid4().hex}
    assert alice.post(path, json=body, headers=another).status_code == 200


def test_a_stream_that_broke_off_is_replayed_with_its_error(alice: Customer, named: Sent) -> None:
    steer = {"text": "one " * 20, "fail": "after", "after_tokens": 4}
    body = alice.body(stream=True, steer=steer)

    first = alice.post(json=body, headers=named)
    second = alice.post(json=body, headers=named)

    assert "error" in list(_chunks(first))[-1]
    assert list(_chunks(second))[-1] == list(_chunks(first))[-1]
    assert _text(second) == _text(first)
    assert alice.charge().tokens_out == 4


def test_another_body_under_the_same_key_is_refused(alice: Customer, named: Sent) -> None:
    alice.post(json=alice.body(), headers=named)

    response = alice.post(json=alice.body(max_tokens=7), headers=named)

    error = refusal(response, 422, "idempotency_mismatch")
    assert "another key" in error["message"]
    assert len(alice.provider_calls()) == 1


def test_a_request_that_still_runs_is_a_conflict_that_may_be_tried_again(
    alice: Customer, named: Sent
) -> None:
    body = alice.body(steer={"tokens": 3, "ttft_ms": 1500})
    answers: list[httpx.Response] = []
    running = threading.Thread(target=lambda: answers.append(alice.post(json=body, headers=named)))
    running.start()
    wait_for(alice.charges)

    response = alice.post(json=body, headers=named)

    refusal(response, 409, "idempotency_in_progress")
    assert response.headers["retry-after"] == "1"
    assert "x-should-retry" not in response.headers
    running.join()
    assert alice.post(json=body, headers=named).json() == answers[0].json()
    assert len(alice.provider_calls()) == 1


def test_of_many_at_the_same_time_one_is_carried_out(alice: Customer, named: Sent) -> None:
    body = alice.body(steer={"tokens": 3, "ttft_ms": 2000})
    statuses: list[int] = []

    def send() -> None:
        statuses.append(alice.post(json=body, headers=named).status_code)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [200] + [409] * 7
    assert len(alice.provider_calls()) == 1


def test_a_failure_that_was_not_billed_frees_the_key(alice: Customer, named: Sent) -> None:
    failing = alice.body(steer={"fail": "before", "status": 400})

    alice.post(json=failing, headers=named)
    response = alice.post(json=alice.body(), headers=named)

    assert response.status_code == 200
    assert "idempotency-replayed" not in response.headers


def test_a_refused_request_frees_the_key(customer: NewCustomer, named: Sent) -> None:
    bob = customer(balance_usd=0)
    body = bob.body(model=BALANCE_ONLY)

    refusal(bob.post(json=body, headers=named), 402, "insufficient_balance")

    assert bob.post(json=bob.body(), headers=named).status_code == 200


def test_a_replay_needs_a_living_key_and_counts_to_the_rate_limit(
    alice: Customer, named: Sent
) -> None:
    body = alice.body()
    first = alice.post(json=body, headers=named)
    second = alice.post(json=body, headers=named)

    left = int(first.headers["x-ratelimit-remaining"])
    assert int(second.headers["x-ratelimit-remaining"]) == left - 1
    alice.revoke()
    refusal(alice.post(json=body, headers=named), 401, "invalid_api_key", keyed=False)


def test_a_spent_cap_does_not_keep_an_answer_that_was_paid(
    customer: NewCustomer, named: Sent
) -> None:
    bob = customer(cap=1)
    body = bob.body()
    first = bob.post(json=body, headers=named)

    refusal(bob.chat(), 402, "spend_cap_reached")
    assert bob.post(json=body, headers=named).json() == first.json()


def test_a_key_belongs_to_its_account(customer: NewCustomer, named: Sent) -> None:
    alice, bob = customer(), customer(name="bob")

    alice.post(json=alice.body(), headers=named)
    response = bob.post(json=bob.body(), headers=named)

    assert response.status_code == 200
    assert "idempotency-replayed" not in response.headers
    assert len(bob.provider_calls()) == 1


def test_a_key_belongs_to_its_route(alice: Customer, named: Sent) -> None:
    alice.post(json=alice.body(), headers=named)

    embeddings = {"model": EMBEDDING, "input": "cats"}
    response = alice.post(EMBEDDINGS, json=embeddings, headers=named)

    assert response.status_code == 200
    assert "idempotency-replayed" not in response.headers
    assert alice.post(json=alice.body(), headers=named).headers["idempotency-replayed"] == "true"


def test_another_key_of_the_same_account_gets_the_same_answer(alice: Customer, named: Sent) -> None:
    _, other = new_key(alice.user)
    body = alice.body()
    first = alice.post(json=body, headers=named)

    second = alice.post(json=body, headers={**named, "Authorization": f"Bearer {other}"})

    assert second.json() == first.json()


def test_after_a_day_the_key_is_free(alice: Customer, named: Sent) -> None:
    alice.post(json=alice.body(), headers=named)
    yesterday = timezone.now() - timedelta(hours=24, seconds=1)
    IdempotencyKey.objects.filter(account=alice.user).update(created_at=yesterday)

    response = alice.post(json=alice.body(max_tokens=9), headers=named)

    assert response.status_code == 200
    assert len(alice.charges()) == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\tinside", "\xfcmlaut"])
def test_a_malformed_key_is_refused(alice: Customer, key: str) -> None:
    response = alice.post(json=alice.body(), headers={"Idempotency-Key": key.encode("latin-1")})  # type: ignore[dict-item]

    error = refusal(response, 400, "invalid_body")
    assert "Idempotency-Key" in error["message"]
    alice.assert_nothing_billed()


def test_a_key_of_255_characters_is_taken(alice: Customer) -> None:
    body, named = alice.body(), {"Idempotency-Key": "k" * 255}

    alice.post(json=body, headers=named)

    assert alice.post(json=body, headers=named).headers["idempotency-replayed"] == "true"


async def never(*_: object) -> NoReturn:
    raise AssertionError("nothing is read or sent")


def _chunks(response: httpx.Response) -> Iterator[dict[str, object]]:
    for line in response.text.splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def _text(response: httpx.Response) -> str:
    choices = [chunk["choices"][0] for chunk in _chunks(response) if "choices" in chunk]  # type: ignore[index]
    return "".join(choice["delta"].get("content", "") for choice in choices)
