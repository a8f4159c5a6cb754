"""What a completion costs, to the nano-dollar, with the provider's journal as the witness."""

import re
from typing import Any

import pytest

from ai.providers.token_estimate import estimate_text
from billing.models import KeyMonth, LedgerEntry, UsageDaily
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, CHAT, IN_PLAN, Customer

PROSE = "The sea is deep, and nobody has seen the whole of its floor. " * 10
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def witnessed_cost(customer: Customer, model: str) -> int:
    """What the listed price makes of the tokens that the provider says it read and sent."""
    call = customer.provider_call()
    assert call["outcome"] == "completed"
    return customer.listed_cost(
        model, call["prompt_tokens"], call["completion_tokens"], call["cached_tokens"]
    )


@STREAM
@pytest.mark.parametrize("tokens", [1, 7, 333])
def test_the_plan_pays_what_the_tokens_cost(alice: Customer, tokens: int, stream: bool) -> None:
    alice.chat(stream=stream, steer={"tokens": tokens})
    cost = witnessed_cost(alice, IN_PLAN)
    assert cost > 0
    assert alice.spent_of_plan(IN_PLAN) == cost
    assert alice.spent_of_balance() == 0


@STREAM
@pytest.mark.parametrize("tokens", [1, 7, 333])
def test_the_balance_pays_twice_that(alice: Customer, tokens: int, stream: bool) -> None:
    alice.chat(model=BALANCE_ONLY, stream=stream, steer={"tokens": tokens})
    assert alice.spent_of_balance() == 2 * witnessed_cost(alice, BALANCE_ONLY)


@STREAM
@pytest.mark.parametrize(
    "model",
    [
        *("gpt-6-luna", "claude-haiku-5-5", "gemini-3.8-flash", "grok-4.7"),
        *("deepseek-v4-pro", "gpt-oss-120b"),
    ],
)
def test_reasoning_and_cached_tokens_are_billed_once_with_every_provider(
    alice: Customer, model: str, stream: bool
) -> None:
    steer = {"tokens": 5, "reasoning_tokens": 20, "cached_tokens": 3, "restate_usage": True}
    alice.chat(model=model, stream=stream, steer=steer)
    call = alice.provider_call()
    assert (call["completion_tokens"], call["cached_tokens"]) == (25, 3)
    assert alice.spent_of_plan(model) == witnessed_cost(alice, model)


def test_the_usage_that_is_told_is_the_usage_that_is_billed(alice: Customer) -> None:
    usage = alice.chat().json()["usage"]
    charge = alice.charge()
    assert charge.status == "settled"
    assert (charge.tokens_in, charge.tokens_out) == (
        usage["prompt_tokens"],
        usage["completion_tokens"],
    )
    assert charge.cost == alice.listed_cost(IN_PLAN, charge.tokens_in, charge.tokens_out)


def test_ledger_key_and_daily_report_agree(alice: Customer) -> None:
    alice.chat(model=BALANCE_ONLY)
    alice.chat(model=BALANCE_ONLY, stream=True)
    spent = alice.spent_of_balance()
    charged = LedgerEntry.objects.filter(account=alice.user, kind="charge")
    assert [entry.delta for entry in charged] == [-spent // 2] * 2
    [month] = KeyMonth.objects.filter(api_key=alice.key)
    assert (month.billed, month.held, month.requests) == (spent, 0, 2)
    [day] = UsageDaily.objects.filter(account=alice.user)
    assert (day.api_key_id, day.model_id, day.requests) == (alice.key.pk, BALANCE_ONLY, 2)
    assert day.billed == spent


def test_a_bound_limits_the_bill(alice: Customer) -> None:
    alice.chat(model=BALANCE_ONLY, max_tokens=4, steer={"tokens": 500})
    call = alice.provider_call()
    assert call["completion_tokens"] == 4
    assert alice.spent_of_balance() == 2 * alice.listed_cost(BALANCE_ONLY, call["prompt_tokens"], 4)


def test_a_call_is_admitted_only_if_its_worst_case_is_covered(customer: NewCustomer) -> None:
    """At 16 USD per million tokens of output, 30,000 of them cost 0.48 USD, and 0.96 twice."""
    alice = customer(balance_usd=1)
    assert alice.chat(model=BALANCE_ONLY, max_tokens=32_000).status_code == 402
    assert alice.chat(model=BALANCE_ONLY, max_tokens=30_000).status_code == 200


# --- Usage that is missing or nothing -------------------------------------------------------------


@STREAM
@pytest.mark.parametrize("missing", [{"no_usage": True}, {"zero_usage": True}], ids=["none", "0"])
@pytest.mark.parametrize("delta_tokens", [1, 100])
def test_text_that_the_provider_does_not_count_is_billed_by_its_length(
    alice: Customer, missing: dict[str, Any], delta_tokens: int, stream: bool
) -> None:
    steer = {"text": PROSE, "delta_tokens": delta_tokens, **missing}
    response = alice.chat(model=BALANCE_ONLY, stream=stream, steer=steer)
    charge = alice.charge()
    assert charge.tokens_out == estimate_text(PROSE)
    assert 0 < charge.tokens_in < 2 * estimate_text(PROSE)
    assert f'"completion_tokens":{charge.tokens_out}' in response.text
    cost = alice.listed_cost(BALANCE_ONLY, charge.tokens_in, charge.tokens_out)
    assert alice.spent_of_balance() == 2 * cost


@STREAM
def test_a_usage_of_zero_is_believed_where_nothing_was_shown(alice: Customer, stream: bool) -> None:
    response = alice.chat(model=BALANCE_ONLY, stream=stream, steer={"zero_usage": True, "text": ""})
    assert response.status_code == 200
    assert '"total_tokens":0' in response.text
    assert alice.charge().status == "settled"
    assert alice.spent_of_balance() == 0


# --- Calls that end early -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"fail": "after"},
        {"drop": True},
        {"truncate": True},
        {"bad_json": True},
        {"error_in_200": True},
    ],
    ids=lambda fault: next(iter(fault)),
)
@pytest.mark.parametrize("delta_tokens", [1, 100])
def test_a_stream_that_breaks_off_is_billed_for_what_came(
    alice: Customer, delta_tokens: int, fault: dict[str, Any]
) -> None:
    steer = {"text": PROSE, "after_tokens": 105, "delta_tokens": delta_tokens, **fault}
    response = alice.chat(model=BALANCE_ONLY, stream=True, steer=steer)

    assert response.status_code == 200
    *_, error, done, end = response.text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    assert '"code":"upstream_error"' in error
    assert "billed" in error
    assert '"finish_reason":"' not in response.text
    assert alice.provider_call()["tokens_emitted"] == 105
    shown = "".join(re.findall(r'"content":"([^"]*)"', response.text))
    charge = alice.charge()
    assert (charge.status, charge.tokens_out) == ("settled", estimate_text(shown))
    assert charge.tokens_out >= 105
    cost = alice.listed_cost(BALANCE_ONLY, charge.tokens_in, charge.tokens_out)
    assert alice.spent_of_balance() == 2 * cost


@pytest.mark.parametrize(
    "fault",
    [{"drop": True}, {"truncate": True}, {"bad_json": True}, {"error_in_200": True}],
    ids=lambda fault: next(iter(fault)),
)
def test_a_whole_answer_that_breaks_off_costs_nothing(
    alice: Customer, fault: dict[str, Any]
) -> None:
    response = alice.chat(model=BALANCE_ONLY, steer={"tokens": 50, **fault})
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "upstream_error"
    alice.assert_nothing_billed()


@STREAM
def test_a_client_that_hangs_up_pays_for_the_whole_answer(alice: Customer, stream: bool) -> None:
    steer = {"tokens": 20, "delay_ms": 20}
    body = alice.body(model=BALANCE_ONLY, stream=stream, steer=steer)
    alice.hang_up_and_wait(CHAT, body)

    assert alice.provider_call()["tokens_emitted"] == 20
    assert alice.charge().tokens_out == 20
    assert alice.spent_of_balance() == 2 * witnessed_cost(alice, BALANCE_ONLY)
