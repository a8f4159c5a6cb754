"""A request that is sent again because its answer was lost is paid once."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from billing.models import UndeliveredAnswer
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import (
    CHAT,
    EMBEDDING,
    EMBEDDINGS,
    IMAGE,
    IMAGES,
    Customer,
)
from publicapi.tests.v1.errors import refusal
from tests.chaos.calls import wait_for
from tests.hanging_up import sent
from tests.personas import new_key

AGAIN = {"x-stainless-retry-count": "1"}
REPLAYED = "x-idempotency-replayed"

Body = dict[str, Any]
Asking = Callable[..., tuple[str, Body]]


def chat(customer: Customer, **steer: Any) -> tuple[str, Body]:
    return CHAT, customer.body(steer=steer)


def stream(customer: Customer, **steer: Any) -> tuple[str, Body]:
    return CHAT, customer.body(stream=True, steer=steer)


def embeddings(customer: Customer, **steer: Any) -> tuple[str, Body]:
    return EMBEDDINGS, {"model": EMBEDDING, "input": customer.prompt(**steer)}


def images(customer: Customer, **steer: Any) -> tuple[str, Body]:
    return IMAGES, {"model": IMAGE, "prompt": customer.prompt("A red boat.", **steer)}


each_call = pytest.mark.parametrize("ask", [chat, stream, embeddings, images])


def lose(customer: Customer, path: str, body: Body, headers: dict[str, str] | None = None) -> None:
    """Send a request, hang up once its provider is asked, and wait until that is known."""
    calls, kept = len(customer.provider_calls()), len(undelivered(customer))
    request = customer.http.build_request(
        "POST", path, json=body, headers={**customer.headers, **(headers or {})}
    )
    with sent(request):
        wait_for(lambda: len(customer.provider_calls()) > calls)
    wait_for(lambda: len(undelivered(customer)) > kept)


def undelivered(customer: Customer) -> list[UndeliveredAnswer]:
    return list(UndeliveredAnswer.objects.filter(account=customer.user).order_by("charge_id"))


def wait_for_the_end(customer: Customer) -> None:
    wait_for(lambda: all(charge.status != "held" for charge in customer.charges()))


def again(customer: Customer, path: str, body: Body, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return customer.post(path, json=body, headers=named or AGAIN)


def text_of(response: httpx.Response) -> str:
    if response.headers["content-type"] == "application/json":
        return str(response.json()["choices"][0]["message"]["content"])
    chunks = [json.loads(line[6:]) for line in response.text.splitlines() if "data: {" in line]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if "choices" in chunk]
    return "".join(delta.get("content", "") for delta in deltas)


# --- What is paid once ----------------------------------------------------------------------------


@each_call
@pytest.mark.parametrize("runs", [True, False], ids=["running", "ended"])
def test_a_call_whose_client_went_away_is_delivered_to_the_retry(
    alice: Customer, ask: Asking, runs: bool
) -> None:
    path, body = ask(alice, ttft_ms=600)
    lose(alice, path, body)
    if not runs:
        wait_for_the_end(alice)

    response = again(alice, path, body)

    assert response.status_code == 200
    assert response.headers[REPLAYED] == "true"
    assert "idempotency-replayed" not in response.headers
    assert len(alice.provider_calls()) == len(alice.charges()) == 1
    assert alice.charge().status == "settled"
    wait_for(lambda: not undelivered(alice))
    assert REPLAYED not in again(alice, path, body).headers
    assert len(alice.charges()) == 2


def test_a_stream_that_is_cut_comes_again_from_its_start(alice: Customer) -> None:
    path, body = stream(alice, tokens=60, delay_ms=20)
    with alice.http.stream("POST", path, json=body, headers=alice.headers) as first:
        lines = (line for line in first.iter_lines() if '"content":" ' in line)
        for _ in range(5):
            next(lines)
    wait_for(lambda: undelivered(alice))

    response = again(alice, path, body)

    assert response.headers[REPLAYED] == "true"
    assert len(text_of(response).split()) == 60
    assert response.text.count('"content":" ') > 10  # as it comes, not in one piece
    assert response.text.endswith("data: [DONE]\n\n")
    assert alice.charge().tokens_out == 60
    assert f"chatcmpl-{alice.charge().pk.hex}" in response.text


def test_the_answer_is_the_one_that_was_billed(alice: Customer) -> None:
    path, body = chat(alice, tokens=7, reasoning_tokens=3, ttft_ms=300)
    lose(alice, path, body)
    wait_for_the_end(alice)

    answer = again(alice, path, body).json()

    charge = alice.charge()
    assert answer["id"] == f"chatcmpl-{charge.pk.hex}"
    assert answer["usage"]["completion_tokens"] == charge.tokens_out == 10
    assert len(answer["choices"][0]["message"]["content"].split()) == 7


def test_a_retry_that_goes_away_too_leaves_the_answer_to_the_next(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=1500)
    lose(alice, path, body)
    request = alice.http.build_request("POST", path, json=body, headers=alice.headers | AGAIN)
    with sent(request):
        wait_for(lambda: undelivered(alice)[0].claim)
    wait_for(lambda: undelivered(alice)[0].claim is None)

    response = again(alice, path, body, x_stainless_retry_count="2")

    assert response.headers[REPLAYED] == "true"
    assert len(alice.charges()) == 1


def test_a_stream_that_broke_off_comes_again_with_its_error(alice: Customer) -> None:
    path, body = stream(alice, text="one " * 20, fail="after", after_tokens=4, ttft_ms=300)
    lose(alice, path, body)
    wait_for_the_end(alice)

    response = again(alice, path, body)

    assert response.headers[REPLAYED] == "true"
    assert len(text_of(response).split()) == 4
    assert '"code":"upstream_error"' in response.text
    assert alice.charge().tokens_out == 4


def test_a_retry_passes_where_the_money_is_gone_and_the_cap_is_reached(
    customer: NewCustomer,
) -> None:
    bob = customer(cap=1)
    path, body = chat(bob, ttft_ms=300)
    lose(bob, path, body)
    wait_for_the_end(bob)
    refusal(bob.chat(), 402, "spend_cap_reached")

    assert again(bob, path, body).headers[REPLAYED] == "true"


def test_a_retry_needs_a_living_key_and_counts_to_the_rate_limit(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=300)
    lose(alice, path, body)
    left = int(alice.get("/v1/models").headers["x-ratelimit-remaining"])

    assert int(again(alice, path, body).headers["x-ratelimit-remaining"]) == left - 1
    wait_for(lambda: not undelivered(alice))
    lose(alice, path, body)
    alice.revoke()
    refusal(again(alice, path, body), 401, "invalid_api_key", keyed=False)


# --- What is a new call ---------------------------------------------------------------------------


@each_call
def test_an_answer_that_was_written_is_not_kept(alice: Customer, ask: Asking) -> None:
    path, body = ask(alice)
    with sent(alice.http.build_request("POST", path, json=body, headers=alice.headers)) as first:
        assert first.getresponse().read()

    response = again(alice, path, body)

    assert response.status_code == 200
    assert REPLAYED not in response.headers
    assert len(alice.charges()) == 2
    assert not undelivered(alice)


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-stainless-retry-count": "0"}, {"x-stainless-retry-count": "many"}],
    ids=str,
)
def test_a_request_that_does_not_say_that_it_was_sent_before_is_a_new_one(
    alice: Customer, headers: dict[str, str]
) -> None:
    path, body = chat(alice, ttft_ms=300)
    lose(alice, path, body)

    response = alice.post(path, json=body, headers=headers)

    assert REPLAYED not in response.headers
    assert len(alice.provider_calls()) == 2
    wait_for_the_end(alice)


def test_another_body_another_key_and_another_endpoint_are_new_calls(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=300)
    lose(alice, path, body)
    _, other = new_key(alice.user)

    elsewhere = {"Authorization": f"Bearer {other}"}
    for response in (
        again(alice, path, {**body, "max_tokens": 99}),
        again(alice, path, body, **AGAIN, **elsewhere),
        again(alice, *embeddings(alice)),
    ):
        assert response.status_code == 200
        assert REPLAYED not in response.headers
    assert again(alice, path, body).headers[REPLAYED] == "true"
    assert len(alice.charges()) == 4


def test_after_ten_minutes_it_is_a_new_call(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=300)
    lose(alice, path, body)
    wait_for_the_end(alice)
    old = timezone.now() - timedelta(minutes=10, seconds=1)
    UndeliveredAnswer.objects.filter(account=alice.user).update(kept_at=old)

    assert REPLAYED not in again(alice, path, body).headers
    assert len(alice.charges()) == 2


@pytest.mark.parametrize("runs", [True, False], ids=["running", "ended"])
def test_a_failure_that_was_not_billed_is_tried_anew(alice: Customer, runs: bool) -> None:
    path, body = chat(alice, fail="before", status=400, ttft_ms=700, times=1)
    lose(alice, path, body)
    if not runs:
        wait_for_the_end(alice)
        wait_for(lambda: not undelivered(alice))

    response = again(alice, path, body)

    assert response.status_code == 200
    assert REPLAYED not in response.headers
    assert sorted(charge.status for charge in alice.charges()) == ["released", "settled"]


def test_a_request_with_a_name_is_known_by_its_name_alone(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=700)
    named = {"Idempotency-Key": "order 1"}
    request = alice.http.build_request("POST", path, json=body, headers=alice.headers | named)
    with sent(request):
        wait_for(alice.provider_calls)

    refusal(alice.post(path, json=body, headers=named | AGAIN), 409, "idempotency_in_progress")
    wait_for_the_end(alice)
    response = alice.post(path, json=body, headers=named | AGAIN)

    assert response.headers["idempotency-replayed"] == "true"
    assert REPLAYED not in response.headers
    assert not undelivered(alice)


# --- Which one ------------------------------------------------------------------------------------


def test_a_retry_may_name_the_request_that_it_repeats(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=300)
    for name in ("first", "second"):
        lose(alice, path, body, {"x-request-id": name})
    wait_for_the_end(alice)
    first, second = undelivered(alice)

    assert REPLAYED not in again(alice, path, body, x_retry_of="third").headers
    answers = [again(alice, path, body, x_retry_of=name) for name in ("second", "first")]

    assert [answer.headers[REPLAYED] for answer in answers] == ["true", "true"]
    assert [answer.json()["id"] for answer in answers] == [
        f"chatcmpl-{kept.charge_id.hex}" for kept in (second, first)
    ]
    assert len(alice.charges()) == 3


def test_a_named_request_whose_connection_is_open_is_a_conflict(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=2500)
    answers: list[httpx.Response] = []
    headers = {"x-request-id": "first"}
    first = threading.Thread(
        target=lambda: answers.append(alice.post(path, json=body, headers=headers))
    )
    first.start()
    wait_for(alice.provider_calls)

    response = again(alice, path, body, x_retry_of="first")

    refusal(response, 409, "idempotency_in_progress")
    assert response.headers["retry-after"] == "1"
    first.join()
    assert answers[0].status_code == 200
    assert len(alice.charges()) == 1


def test_of_the_same_requests_at_the_same_time_each_retry_gets_one(alice: Customer) -> None:
    path, body = chat(alice, ttft_ms=2500)
    answers: list[httpx.Response] = []

    def send(headers: dict[str, str]) -> None:
        answers.append(alice.post(path, json=body, headers=headers))

    together = [threading.Thread(target=send, args=({},)) for _ in range(3)]
    for thread in together:
        thread.start()
    wait_for(lambda: len(alice.provider_calls()) == len(together))
    for _ in range(5):
        lose(alice, path, body)
    retries = [threading.Thread(target=send, args=(AGAIN,)) for _ in range(7)]
    for thread in retries:
        thread.start()
    for thread in together + retries:
        thread.join()

    assert [answer.status_code for answer in answers] == [200] * 10
    ids = [answer.json()["id"] for answer in answers]
    assert len(set(ids)) == 10
    assert sum(REPLAYED in answer.headers for answer in answers) == 5
    assert len(alice.charges()) == 3 + 5 + 2
