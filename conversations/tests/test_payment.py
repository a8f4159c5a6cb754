"""Who pays for a reply: the free plan's window, the plan's allowance, the balance."""

from typing import Any

import pytest

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS, LEAST_OUTPUT_TOKENS, chat_cost, input_bound
from ai.providers.types import Message as Asked
from billing.models import Allowance, Charge, Wallet
from billing.services import balance
from billing.tests import bank
from billing.types import FREE_MESSAGES, FREE_OUTPUT_TOKENS
from common.ids import uuid7
from common.money import NUSD_PER_USD, usd
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import BALANCE_ONLY, FREE_MODEL, Speaker


def free_window(person: Speaker, model: str = FREE_MODEL) -> Any:
    models = person.http.get("/api/users/me/entitlements", headers=person.headers).json()["models"]
    [window] = [each["free"] for each in models if each["model"] == model]
    return window


def test_the_free_plan_has_ten_messages_of_a_model(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    conversation = alice.begin()
    for _ in range(FREE_MESSAGES - 1):
        heard = alice.send(conversation, parent_id=None)
    path = f"/{conversation}/messages/{heard.reply_id}/regenerate"
    alice.do("POST", path, stream=False)
    refused = alice.ask("POST", f"/{conversation}/messages", content=alice.words())
    assert refused.status_code == 402
    detail = refused.json()["detail"]
    assert (detail["code"], detail["model_key"]) == ("free_limit", FREE_MODEL)
    assert (detail["limit"], detail["used"], detail["window_hours"]) == (10, 10, 4)
    assert detail["reset_at"] == free_window(alice)["reset_at"]
    other = alice.send(conversation, model="claude-haiku-5-5")
    assert other.finish["finishReason"] == "stop"


def test_a_free_message_costs_its_user_nothing_whatever_the_balance(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=5)
    heard = alice.send(alice.begin())
    charge = alice.charge(heard.reply_id)
    assert (charge.source, charge.funding) == ("web", "platform")
    assert charge.cost > 0
    assert (heard.usage["paid_by_plan_usd"], heard.usage["paid_by_balance_usd"]) == (0, 0)
    assert heard.usage["listed_usd"] > 0
    assert Wallet.objects.get(account=alice.user).balance == 5 * NUSD_PER_USD


def test_the_free_plan_is_answered_within_bounds(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    alice.send(alice.begin())
    assert [call["max_tokens"] for call in alice.calls()] == [FREE_OUTPUT_TOKENS]


def test_other_models_are_not_on_the_free_plan(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=100)
    answer = alice.ask(
        "POST", f"/{alice.begin()}/messages", content=alice.words(), model=BALANCE_ONLY
    )
    assert answer.status_code == 402
    detail = answer.json()["detail"]
    assert detail["code"] == "free_model_locked"
    assert FREE_MODEL in detail["free_models"]


@pytest.mark.parametrize(
    "steering", [{"status": 400}, {"fail": "before", "status": 422}], ids=["status", "before"]
)
def test_a_free_message_that_fails_before_it_is_answered_comes_back(
    speaker: NewSpeaker, steering: dict[str, Any]
) -> None:
    alice = speaker(plan="free", balance_usd=0)
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words(**steering))
    assert heard.finish["finishReason"] == "error"
    assert heard.finish["usage"] is None
    assert free_window(alice)["used"] == 0


def test_the_plan_pays_first(speaker: NewSpeaker) -> None:
    alice = speaker(balance_usd=0)
    heard = alice.send(alice.begin(model=FREE_MODEL))
    assert heard.usage["paid_by_plan_usd"] == heard.usage["listed_usd"] > 0
    assert heard.usage["paid_by_balance_usd"] == 0


def test_the_balance_pays_twice_the_rest(speaker: NewSpeaker) -> None:
    alice = speaker(balance_usd=1)
    heard = alice.send(alice.begin(model=BALANCE_ONLY))
    charge = alice.charge(heard.reply_id)
    assert charge.charge_balance == 2 * charge.cost > 0
    wallet = Wallet.objects.get(account=alice.user)
    assert (wallet.balance, wallet.held) == (NUSD_PER_USD - charge.charge_balance, 0)


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_input_from_the_provider_s_cache_is_told_and_paid_at_its_own_price(
    speaker: NewSpeaker, stream: bool
) -> None:
    alice = speaker(balance_usd=1)
    conversation, content = alice.begin(model=BALANCE_ONLY), alice.words(cached_tokens=6, tokens=5)
    if stream:
        usage = alice.send(conversation, content).usage
    else:
        path = f"/{conversation}/messages"
        usage = alice.do("POST", path, content=content, stream=False)["usage"]

    [charge] = Charge.objects.filter(account=alice.user, funding="customer")
    model = get_catalog().models[BALANCE_ONLY]
    assert charge.cost == chat_cost(model, charge.tokens_in, charge.tokens_out, 6)
    assert charge.cost < chat_cost(model, charge.tokens_in, charge.tokens_out)
    assert (usage["cached_tokens"], usage["listed_usd"]) == (6, usd(charge.cost))
    assert usage["paid_by_balance_usd"] == usd(2 * charge.cost)
    records = alice.http.get("/api/users/me/usage", headers=alice.headers).json()
    assert [record["cached_tokens"] for record in records] == [6]


def test_where_the_allowance_ends_the_balance_goes_on(speaker: NewSpeaker) -> None:
    alice = speaker(balance_usd=1)
    conversation = alice.begin(model=FREE_MODEL)
    alice.send(conversation)
    allowance = Allowance.objects.get(account=alice.user, model_id=FREE_MODEL)
    left = 10_000  # nano-USD
    spend(alice.user, allowance.granted - allowance.used - left)
    heard = alice.send(conversation)
    charge = alice.charge(heard.reply_id)
    assert charge.charge_plan == left
    assert charge.charge_balance == 2 * (charge.cost - left) > 0


def spend(user: User, cost: int) -> None:
    """A call of FREE_MODEL that costs so much."""
    _, charge = bank.hold(user, cost, owner=bank.live_owner(), model=FREE_MODEL)
    bank.settle(charge, cost)


def nusd_for(tokens_out: int, content: str) -> int:
    """What a message to BALANCE_ONLY takes from the balance, at so much of an answer."""
    model = get_catalog().models[BALANCE_ONLY]
    tokens_in = input_bound(model, [Asked("user", content)])
    return 2 * chat_cost(model, tokens_in, tokens_out)


def pay_in(user: User, amount: int) -> None:
    balance.topup(operation_id=uuid7(), account=user, amount=amount)


@pytest.mark.parametrize(
    ("affords", "bound"),
    [
        (LEAST_OUTPUT_TOKENS, LEAST_OUTPUT_TOKENS),
        (3_000, 3_000),
        (DEFAULT_OUTPUT_TOKENS + 5, DEFAULT_OUTPUT_TOKENS),
    ],
)
def test_an_answer_is_as_long_as_can_be_paid(speaker: NewSpeaker, affords: int, bound: int) -> None:
    alice = speaker(balance_usd=0)
    content = alice.words()
    pay_in(alice.user, nusd_for(affords, content))
    heard = alice.send(alice.begin(model=BALANCE_ONLY), content)
    assert heard.finish["finishReason"] == "stop"
    assert [call["max_tokens"] for call in alice.calls()] == [bound]


def test_an_answer_that_would_be_too_short_is_refused(speaker: NewSpeaker) -> None:
    alice = speaker(balance_usd=0)
    content = alice.words()
    pay_in(alice.user, nusd_for(LEAST_OUTPUT_TOKENS, content) - 1)
    conversation = alice.begin(model=BALANCE_ONLY)
    answer = alice.ask("POST", f"/{conversation}/messages", content=content)
    assert answer.status_code == 402
    detail = answer.json()["detail"]
    assert detail["code"] == "insufficient_for_request"
    assert detail["afford_usd"] < detail["needed_usd"]
    assert detail["needed_usd"] == nusd_for(LEAST_OUTPUT_TOKENS, content) / NUSD_PER_USD
    # Nobody can say here how long an answer may be.
    assert "max_tokens" not in detail["message"]


def test_a_reply_counts_as_usage_of_the_web_and_of_no_key(speaker: NewSpeaker) -> None:
    alice = speaker()
    heard = alice.send(alice.begin())
    rows = alice.http.get("/api/users/me/usage", headers=alice.headers).json()
    assert [(row["source"], row["model"]) for row in rows] == [("web", FREE_MODEL)]
    assert rows[0]["listed_usd"] == heard.usage["listed_usd"]
    assert alice.charge(heard.reply_id).api_key_id is None
