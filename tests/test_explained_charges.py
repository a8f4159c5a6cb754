"""The page of a charge explains to operators why it cost what it cost, and why it failed."""

import re
from html import unescape
from uuid import UUID

import pytest
from django.utils.html import strip_tags

from accounts.models import User
from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_price
from ai.catalog.types import TokenPrice
from billing.models import Allowance, Charge
from billing.services import balance, endings
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    charge_of,
    checkpoint,
    expire,
    hold,
    live_owner,
    new_account,
    price_of,
    release,
    settle,
)
from billing.types import Ending, Failure
from common.ids import uuid7
from common.money import NUSD_PER_USD, usd_text
from conversations.tests.rows import talk
from tests.operators import Operator, new_operator
from tests.personas import new_key
from work.jobs.models import Job

REASON = "The answer was cut off"


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def alice(db: None) -> User:
    return new_account(balance=100 * NUSD_PER_USD)


def page_of(operator: Operator, charge: UUID) -> str:
    """The text of the page, in one line."""
    page = operator.get(f"billing/charge/{charge}/change/").partition('id="content"')[2]
    return re.sub(r"\s+", " ", unescape(strip_tags(page)))


def call(account: User, tokens_in: int, tokens_out: int, *, model: str = BALANCE_ONLY) -> UUID:
    """A call that has used so many tokens."""
    price = get_price(price_of(model))
    assert isinstance(price, TokenPrice)
    cost = token_cost(price, tokens_in, tokens_out)
    _, charge = hold(account, 2 * cost, owner=live_owner(), model=model)
    units = {"tokens_in": tokens_in, "tokens_out": tokens_out, "reasoning_tokens": 7}
    endings.resolve(Ending(charge, account.pk, "settled", cost, units))  # type: ignore[arg-type]
    return charge


def test_the_cost_is_calculated_step_by_step(operator: Operator, alice: User) -> None:
    charge = call(alice, 1_234, 567)
    price = get_price(price_of(BALANCE_ONLY))
    assert isinstance(price, TokenPrice)

    page = page_of(operator, charge)

    rate = price.input + price.fee
    assert f"input 1,234 tokens {usd_text(rate * 1000)} per 1,000,000" in page
    assert f"({usd_text(price.input * 1000)} and {usd_text(price.fee * 1000)} fee)" in page
    assert "output 567 tokens" in page
    assert "of the output, for reasoning 7 tokens the same included" in page
    assert f"rounded up to a nano-dollar {usd_text(charge_of(charge).cost)}" in page
    assert f"{BALANCE_ONLY} from" in page


def test_the_split_and_the_balances_before_and_after_are_told(
    operator: Operator, alice: User
) -> None:
    charge = charge_of(call(alice, 1_234, 567))
    page = page_of(operator, charge.pk)
    assert f"balance, twice the rest 2 x {usd_text(charge.cost)}" in page
    assert "no allowance of this model" in page
    before, after = usd_text(100 * NUSD_PER_USD), usd_text(100 * NUSD_PER_USD - 2 * charge.cost)
    assert f"balance charge, no. 2 {before} -{usd_text(2 * charge.cost)} {after}" in page


def test_the_allowance_before_and_after_is_told(operator: Operator, alice: User) -> None:
    _, first = hold(alice, 30, owner=live_owner(), model=IN_PLAN)
    settle(first, 30)
    _, running = hold(alice, 7, owner=live_owner(), model=IN_PLAN)
    _, charge = hold(alice, 100, owner=live_owner(), model=IN_PLAN)
    settle(charge, 60)
    release(running)
    granted = Allowance.objects.get(account=alice).granted

    page = page_of(operator, charge)

    before, after = usd_text(granted - 37), usd_text(granted - 97)
    assert f"the cost, as far as the allowance goes: {before} left" in page
    assert f"charge {before} -{usd_text(60)} {after}" in page
    assert f"granted {usd_text(granted)}, used {usd_text(90)}, held $0.00" in page


def test_refunds_and_what_they_moved_are_told(operator: Operator, alice: User) -> None:
    _, charge = hold(alice, 100, owner=live_owner(), model=IN_PLAN)
    settle(charge, 100)
    balance.refund(operation_id=uuid7(), charge=charge_of(charge), amount=40, reason=REASON)
    granted = Allowance.objects.get(account=alice).granted

    page = page_of(operator, charge)

    assert f"{usd_text(40)} $0.00 {usd_text(40)} {REASON}" in page
    assert f"refund {usd_text(granted - 100)} {usd_text(40)} {usd_text(granted - 60)}" in page


def test_the_hold_and_the_cap_of_the_key_are_told(operator: Operator, alice: User) -> None:
    key, _ = new_key(alice)
    key.monthly_spend_cap = NUSD_PER_USD
    key.save()
    _, charge = hold(alice, 100, owner=live_owner(), key=key)
    page = page_of(operator, charge)
    assert f"worst case, at cost {usd_text(100)}" in page
    assert f"held of the balance, twice the rest {usd_text(200)}" in page
    assert "the key's cap in the month $1.00" in page
    assert "The call runs: nothing is billed yet." in page
    assert str(key) in page


def test_a_failure_is_told_with_the_provider_s_answer(operator: Operator, alice: User) -> None:
    _, charge = hold(alice, 100, owner=live_owner())
    failure = Failure("upstream_error", "It failed.", "openai", 529, "overloaded", attempts=3)
    endings.resolve(Ending(charge, alice.pk, "released", failure=failure))
    page = page_of(operator, charge)
    assert "our code upstream_error what happened It failed. provider openai" in page
    assert "HTTP status 529" in page
    assert "own code overloaded" in page
    assert "attempts at the provider 3" in page
    assert "without output: nothing is billed" in page
    assert "No money was moved." in page


def test_a_call_that_nobody_ended_bills_its_checkpoint(operator: Operator, alice: User) -> None:
    owner = live_owner()
    _, charge = hold(alice, 100_000, owner=owner)
    checkpoint(owner, charge, 500)
    expire(charge)
    page = page_of(operator, charge)
    assert "the last checkpoint is billed" in page
    assert "our code interrupted" in page
    assert "first output, or first checkpoint with output" in page


def test_what_the_platform_pays_is_told(operator: Operator, alice: User) -> None:
    _, charge = hold(alice, 100, owner=live_owner(), funding="platform")
    settle(charge, 10)
    assert f"The platform, {usd_text(10)}: the platform's own call." in page_of(operator, charge)


def test_job_and_conversation_of_a_charge_are_linked(operator: Operator, alice: User) -> None:
    conversation = talk(alice, "How deep is the sea?", "Very.")
    assert conversation.leaf is not None
    _, charge = hold(alice, 10, owner=live_owner(), charge=conversation.leaf.pk)
    settle(charge, 10)
    Job.objects.create(id=charge, kind="reply", queue=Job.Queue.INTERACTIVE, account=alice)
    page = operator.get(f"billing/charge/{charge}/change/")
    assert f"/admin/conversations/conversation/{conversation.pk}/change/" in page
    assert f"/admin/jobs/job/{charge}/change/" in page
    assert f"/admin/accounts/user/{alice.pk}/change/" in page
    assert "How deep is the sea?" not in page


def test_other_charges_of_the_request_are_linked_and_those_of_others_are_not(
    operator: Operator, alice: User
) -> None:
    ids = []
    for account in (alice, alice, new_account()):
        _, charge = hold(account, 10, owner=live_owner())
        settle(charge, 10)
        ids.append(charge)
    Charge.objects.filter(pk__in=ids).update(request_id="req_of_two")
    page = operator.get(f"billing/charge/{ids[0]}/change/")
    assert f"/admin/billing/charge/{ids[1]}/change/" in page
    assert str(ids[2]) not in page


def test_an_operator_who_sees_charges_alone_gets_no_other_links(alice: User) -> None:
    _, charge = hold(alice, 10, owner=live_owner())
    settle(charge, 10)
    viewer = new_operator("billing.view_charge")
    page = viewer.get(f"billing/charge/{charge}/change/")
    assert "/admin/accounts/user/" not in page
    assert "/admin/billing/ledgerentry/" not in page
    assert (
        new_operator("accounts.view_user").is_allowed(f"billing/charge/{charge}/change/") is False
    )
