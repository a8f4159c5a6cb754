"""The published table of states, as far as it concerns charges and keys: a test for each of its
rows, against the running service.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Thread

import httpx
import pytest

from billing.models import Allowance, Charge, KeyMonth, UsageDaily, Wallet
from billing.selectors.subscriptions import current_month
from common.money import NUSD_PER_CENT
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import (
    BALANCE_ONLY,
    BALANCE_ONLY_IMAGE,
    CHAT,
    IN_PLAN,
    NOT_CONFIGURED,
    Customer,
)
from publicapi.tests.v1.errors import refusal

Ask = Callable[..., httpx.Response]

# Each is paid from the balance alone.
CALLS: dict[str, Ask] = {
    "chat": lambda customer, **options: customer.chat(model=BALANCE_ONLY, **options),
    "embeddings": Customer.embed,
    "images": lambda customer, **options: customer.draw(model=BALANCE_ONLY_IMAGE, **options),
}

each_call = pytest.mark.parametrize("ask", CALLS.values(), ids=CALLS.keys())


# --- Chat request charge --------------------------------------------------------------------------


@contextmanager
def running(ask: Ask, customer: Customer) -> Iterator[Charge]:
    """The charge of a call while its provider takes its time; the call has ended well when the
    block has."""
    answers: list[httpx.Response] = []
    call = Thread(target=lambda: answers.append(ask(customer, steer={"ttft_ms": 2000})))
    call.start()
    deadline = time.monotonic() + 5
    while not customer.charges():
        assert time.monotonic() < deadline, answers
        time.sleep(0.02)
    yield customer.charge()
    call.join()
    assert [answer.status_code for answer in answers] == [200], answers[0].text


@each_call
def test_a_call_that_the_funds_cover_holds_its_worst_case_and_settles_what_it_used(
    alice: Customer, ask: Ask
) -> None:
    """none | chat, embeddings or image call | allowance plus balance covers the worst case | held:
    the worst-case amount is held during generation and then settled to real usage"""
    with running(ask, alice) as charge:
        assert charge.status == "held"
        assert charge.hold_balance == 2 * charge.worst_cost > 0
        wallet = Wallet.objects.get(account=alice.user)
        assert (wallet.balance, wallet.held) == (alice.balance, charge.hold_balance)
    charge.refresh_from_db()
    assert charge.status == "settled"
    assert 0 < charge.cost <= charge.worst_cost
    assert alice.spent_of_balance() == charge.charge_balance == 2 * charge.cost


@each_call
def test_a_call_that_the_funds_do_not_cover_is_refused(customer: NewCustomer, ask: Ask) -> None:
    """none | same call | allowance plus balance cannot cover it | refused: 402 before any provider
    call; nothing billed"""
    alice = customer(balance_usd=0)
    refusal(ask(alice), 402, "insufficient_balance")
    assert (alice.charges(), alice.provider_calls()) == ([], [])
    alice.assert_nothing_billed()


def test_a_call_to_a_provider_that_is_not_configured_is_refused(alice: Customer) -> None:
    """none | same call | provider not configured | refused: 503 `provider_unavailable`, before any
    hold; nothing billed"""
    refusal(alice.chat(model=NOT_CONFIGURED), 503, "provider_unavailable")
    assert alice.charges() == []
    alice.assert_nothing_billed()


@each_call
def test_a_provider_that_fails_before_any_output_leaves_nothing_billed(
    alice: Customer, ask: Ask
) -> None:
    """held | provider fails before any output | any | refused: 502 `upstream_error`; nothing
    billed"""
    refusal(ask(alice, steer={"fail": "before", "status": 500}), 502, "upstream_error")
    assert alice.charge().status == "released"
    alice.assert_nothing_billed()


def test_a_provider_that_fails_after_output_is_billed_for_it(alice: Customer) -> None:
    """held | provider fails after output streamed | any | settled: the streamed output is billed"""
    steer = {"text": "one " * 50, "fail": "after", "after_tokens": 7, "delta_tokens": 1}
    response = alice.chat(model=BALANCE_ONLY, stream=True, steer=steer)

    assert response.text.count('"content":') == 1 + 7
    assert '"code":"upstream_error"' in response.text
    charge = alice.charge()
    assert (charge.status, charge.tokens_out) == ("settled", 7)
    cost = alice.listed_cost(BALANCE_ONLY, charge.tokens_in, 7)
    assert alice.spent_of_balance() == 2 * cost


def test_a_client_that_disconnects_in_mid_stream_pays_for_the_whole_answer(alice: Customer) -> None:
    """held | client disconnects mid-stream | any | settled: generation runs to completion and the
    produced tokens are billed"""
    steer = {"tokens": 20, "delay_ms": 20}
    alice.hang_up_and_wait(CHAT, alice.body(model=BALANCE_ONLY, stream=True, steer=steer))

    call = alice.provider_call()
    assert call["tokens_emitted"] == 20
    cost = alice.listed_cost(BALANCE_ONLY, call["prompt_tokens"], 20)
    assert alice.spent_of_balance() == 2 * cost


# --- API key --------------------------------------------------------------------------------------


def test_billed_spend_that_reaches_the_cap_stops_the_key_until_the_next_month(
    customer: NewCustomer,
) -> None:
    """under cap | billed spend on the key (month to date) reaches the cap | cap set | cap reached:
    further calls get 402 `spend_cap_reached`; the request that crosses the cap still completes
    (overshoot at most one request); resets on the 1st of each month (UTC)"""
    alice = customer(cap=NUSD_PER_CENT)
    crossing = alice.chat(model=BALANCE_ONLY, steer={"tokens": 1000})
    assert crossing.status_code == 200
    assert crossing.json()["usage"]["completion_tokens"] == 1000
    assert alice.spent_of_balance() > NUSD_PER_CENT

    for model in (BALANCE_ONLY, IN_PLAN):
        refusal(alice.chat(model=model), 402, "spend_cap_reached")
    assert len(alice.provider_calls()) == 1

    let_a_month_pass(alice)
    assert alice.chat(model=BALANCE_ONLY).status_code == 200


def let_a_month_pass(customer: Customer) -> None:
    """What the account did this month, it did last month."""
    last_day = current_month() - timedelta(days=1)
    before = last_day.replace(day=1)
    Charge.objects.filter(account=customer.user).update(
        month=before, admitted_at=datetime(last_day.year, last_day.month, last_day.day, tzinfo=UTC)
    )
    UsageDaily.objects.filter(account=customer.user).update(day=last_day)
    Allowance.objects.filter(account=customer.user).update(month=before)
    KeyMonth.objects.filter(api_key=customer.key).update(month=before)


def test_a_revoked_key_fails_from_its_next_request(alice: Customer) -> None:
    """active | revoke | any | revoked: the key fails from its next request"""
    assert alice.chat().status_code == 200
    assert alice.manage("DELETE", f"/{alice.key.pk}").status_code == 204
    refusal(alice.chat(), 401, "invalid_api_key", keyed=False)
    refusal(alice.get("/v1/models"), 401, "invalid_api_key", keyed=False)


def test_a_plan_below_max_makes_keys_unusable_until_an_upgrade(alice: Customer) -> None:
    """active | account plan drops below Max | any | not usable: keys stop working until upgrade;
    they can still be listed and revoked"""
    other = alice.manage("POST", name="another").json()
    alice.move_to("pro")
    refusal(alice.chat(), 403, "api_access_required")
    listed = alice.manage("GET").json()
    assert {key["id"] for key in listed} == {str(alice.key.pk), other["id"]}
    assert alice.manage("DELETE", f"/{other['id']}").status_code == 204

    alice.move_to("max")
    assert alice.chat().status_code == 200
    refusal(alice.chat_with(other["key"]), 401, "invalid_api_key", keyed=False)
