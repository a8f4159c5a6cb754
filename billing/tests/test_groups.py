"""Groups of calls with a budget: what they have billed and hold, with the next hold, stays within
it. The budget can be changed."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from accounts.models import User
from billing.errors import BudgetBelowSpent, GroupBudgetExceeded
from billing.models import ChargeGroup
from billing.services import groups, holds
from billing.tests import money_functions
from billing.tests.bank import (
    IN_PLAN,
    charge_of,
    checkpoint,
    dead_owner,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    release_all,
    settle,
)
from billing.types import HoldRequest, RequestKey
from common.ids import uuid7
from common.money import usd
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed")

# A call that the balance pays is billed twice its cost.
BUDGET = 1000


@pytest.fixture
def alice() -> User:
    return new_account(balance=1_000_000)


@pytest.fixture
def owner() -> UUID:
    return live_owner()


@pytest.fixture
def group(alice: User) -> UUID:
    return groups.create_group(group_id=uuid7(), account=alice, budget=BUDGET).pk


def counts(group: UUID) -> tuple[int, int]:
    """What it has billed, and what it holds."""
    row = ChargeGroup.objects.get(pk=group)
    return row.billed, row.held


def test_holds_count_at_their_worst_and_settled_calls_at_what_they_were_billed(
    alice: User, owner: UUID, group: UUID
) -> None:
    _, charge = hold(alice, 300, owner=owner, group=group)
    assert counts(group) == (0, 600)

    settle(charge, 100)

    assert counts(group) == (200, 0)


def test_a_hold_may_take_all_that_is_left_and_no_more(
    alice: User, owner: UUID, group: UUID
) -> None:
    settle(hold(alice, 200, owner=owner, group=group)[1], 200)

    assert hold(alice, 301, owner=owner, group=group)[0] == "group_budget_exceeded"
    assert hold(alice, 300, owner=owner, group=group)[0] == "held"
    assert hold(alice, 1, owner=owner, group=group)[0] == "group_budget_in_flight"
    release_all(alice)


def test_a_refusal_holds_nothing(alice: User, owner: UUID, group: UUID) -> None:
    hold(alice, 501, owner=owner, group=group)

    assert counts(group) == (0, 0)


def test_what_the_plan_pays_counts_at_cost(alice: User, owner: UUID, group: UUID) -> None:
    _, charge = hold(alice, 1000, owner=owner, group=group, model=IN_PLAN)
    assert counts(group) == (0, 1000)

    settle(charge, 700)

    assert counts(group) == (700, 0)


def test_what_comes_free_can_be_held_again(alice: User, owner: UUID, group: UUID) -> None:
    release(hold(alice, 500, owner=owner, group=group)[1])
    assert hold(alice, 500, owner=dead_owner(), group=group)[0] == "held"

    # The dead process's charge is expired first.
    verdict, charge = hold(alice, 500, owner=owner, group=group)

    assert verdict == "held"
    checkpoint(owner, charge, cost=400)
    expire(charge)
    assert counts(group) == (800, 0)


def test_a_call_that_costs_more_than_its_hold_counts_in_full(
    alice: User, owner: UUID, group: UUID
) -> None:
    settle(hold(alice, 400, owner=owner, group=group)[1], 600)

    assert counts(group) == (1200, 0)
    assert hold(alice, 1, owner=owner, group=group)[0] == "group_budget_exceeded"


def test_calls_of_no_group_or_another_do_not_count(alice: User, owner: UUID, group: UUID) -> None:
    other = groups.create_group(group_id=uuid7(), account=alice, budget=400).pk
    charges = [hold(alice, 200, owner=owner, group=each)[1] for each in (None, other)]

    assert counts(group) == (0, 0)
    for charge in charges:
        settle(charge, 200)
    assert counts(group) == (0, 0)
    assert counts(other) == (400, 0)


def test_what_the_platform_pays_does_not_count(alice: User, owner: UUID, group: UUID) -> None:
    verdict, charge = hold(alice, 900, owner=owner, group=group, funding="platform")

    assert verdict == "held"
    settle(charge, 900)
    assert counts(group) == (0, 0)


def test_holds_in_a_batch_and_with_a_name_count_as_well(
    alice: User, owner: UUID, group: UUID
) -> None:
    first, second, third = (
        replace(money_functions.request(alice, 200, owner=owner), group_id=group) for _ in range(3)
    )

    verdicts = [answer.verdict for answer in money_functions.hold_together([first, second])]
    named, _ = money_functions.hold_idempotently(
        RequestKey("/v1/chat/completions", "a", b""), third
    )

    assert verdicts == ["held", "held"]
    assert named.verdict == "group_budget_in_flight"
    assert counts(group) == (0, 800)
    release_all(alice)


def test_the_refusal_says_what_is_needed_and_what_is_left(
    alice: User, owner: UUID, group: UUID
) -> None:
    request = money_functions.request(alice, 50_000_000, owner=owner)
    rich = new_account(balance=10**12)
    budget = groups.create_group(group_id=uuid7(), account=rich, budget=90_000_000).pk
    request = replace(request, account_id=rich.pk, group_id=budget)

    with pytest.raises(GroupBudgetExceeded) as refusal:
        holds.hold(request)
    assert refusal.value.retry_after is None
    assert refusal.value.extra["needed_usd"] == usd(100_000_000)
    assert refusal.value.extra["afford_usd"] == usd(90_000_000)

    _, charge = hold(rich, 20_000_000, owner=owner, group=budget)
    with pytest.raises(GroupBudgetExceeded) as refusal:
        holds.hold(_smaller(request))
    assert refusal.value.retry_after
    release(charge)


def _smaller(request: HoldRequest) -> HoldRequest:
    return replace(request, charge_id=uuid7(), worst_cost=30_000_000)


def test_a_group_of_somebody_else_cannot_be_used(owner: UUID, group: UUID) -> None:
    bob = new_account(balance=1_000_000)

    with pytest.raises(Exception, match="query returned no rows"):
        hold(bob, 1, owner=owner, group=group)


def test_holds_at_the_same_moment_never_take_more_than_the_budget(
    alice: User, owner: UUID, group: UUID
) -> None:
    def one(_: int) -> str:
        try:
            return hold(alice, 70, owner=owner, group=group)[0]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(one, range(24)))

    assert verdicts.count("held") == BUDGET // 140
    assert counts(group) == (0, 980)
    release_all(alice)


def test_a_group_without_a_budget_has_no_bound_until_it_gets_one(alice: User, owner: UUID) -> None:
    group = uuid7()
    for _ in range(2):
        groups.ensure_group(group_id=group, account=alice)
    settle(hold(alice, 50_000, owner=owner, group=group)[1], 50_000)
    assert counts(group) == (100_000, 0)

    groups.set_budget(group_id=group, account=alice, budget=100_400)

    assert hold(alice, 201, owner=owner, group=group)[0] == "group_budget_exceeded"
    assert hold(alice, 200, owner=owner, group=group)[0] == "held"
    groups.set_budget(group_id=group, account=alice, budget=None)
    assert hold(alice, 50_000, owner=owner, group=group)[0] == "held"
    release_all(alice)


def test_a_call_that_ends_is_not_waited_for_where_there_is_a_group(
    alice: User, group: UUID
) -> None:
    with psycopg.connect(database_url()) as ending:
        ending.execute("UPDATE billing_chargegroup SET billed = billed WHERE id = %s", (group,))
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '500ms'")
            groups.ensure_group(group_id=group, account=alice)


def test_a_budget_is_not_set_below_what_is_billed_and_held(
    alice: User, owner: UUID, group: UUID
) -> None:
    settle(hold(alice, 100, owner=owner, group=group)[1], 100)
    hold(alice, 150, owner=owner, group=group)

    with pytest.raises(BudgetBelowSpent) as refusal:
        groups.set_budget(group_id=group, account=alice, budget=499)

    assert refusal.value.spent == 500
    assert ChargeGroup.objects.get(pk=group).budget == BUDGET
    groups.set_budget(group_id=group, account=alice, budget=500)
    assert hold(alice, 1, owner=owner, group=group)[0] == "group_budget_in_flight"
    release_all(alice)


def test_calls_from_before_there_was_a_group_count_in_full(alice: User, owner: UUID) -> None:
    group = uuid7()
    _, ended = hold(alice, 100, owner=owner)
    settle(ended, 80)
    _, running = hold(alice, 100, owner=owner)
    _, free = hold(alice, 100, owner=owner, funding="platform")
    calls = [ended, running, free]

    with pytest.raises(BudgetBelowSpent) as refusal:
        groups.set_budget(group_id=group, account=alice, budget=359, calls=calls)
    assert refusal.value.spent == 160 + 200
    assert not ChargeGroup.objects.filter(pk=group, budget__gt=0).exists()

    groups.set_budget(group_id=group, account=alice, budget=400, calls=calls)
    assert hold(alice, 21, owner=owner, group=group)[0] == "group_budget_exceeded"
    _, charge = hold(alice, 20, owner=owner, group=group)

    with pytest.raises(BudgetBelowSpent) as refusal:
        groups.set_budget(group_id=group, account=alice, budget=0, calls=[*calls, charge])
    assert refusal.value.spent == 400, "each call counts once"
    release_all(alice)


def test_nobody_sets_the_budget_of_somebody_else(group: UUID) -> None:
    bob = new_account(balance=1_000_000)

    with pytest.raises(Exception, match="query returned no rows"):
        groups.set_budget(group_id=group, account=bob, budget=1)

    assert ChargeGroup.objects.get(pk=group).budget == BUDGET


def test_budgets_and_holds_at_the_same_moment_agree(alice: User, owner: UUID, group: UUID) -> None:
    """However they meet, what is held is within the budget that counts then."""

    def one(number: int) -> None:
        try:
            if number % 3:
                hold(alice, 50, owner=owner, group=group)
            else:
                with suppress(BudgetBelowSpent):
                    groups.set_budget(group_id=group, account=alice, budget=200 + 10 * number)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(one, range(30)))

    row = ChargeGroup.objects.get(pk=group)
    assert row.budget is not None
    assert row.held <= row.budget
    release_all(alice)


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("hold"), st.integers(1, 500)),
        st.tuples(st.just("settle"), st.integers(0, 600)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("budget"), st.none() | st.integers(0, 2000)),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(acts=ACTS)
def test_it_admits_exactly_what_fits(acts: list[tuple[str, Any]]) -> None:
    alice, owner = new_account(balance=1_000_000), live_owner()
    group = groups.create_group(group_id=uuid7(), account=alice, budget=BUDGET).pk
    budget: int | None = BUDGET
    billed, open_charges = 0, dict[UUID, int]()
    for act, amount in acts:
        held = sum(open_charges.values())
        if act == "hold":
            verdict, charge = hold(alice, amount, owner=owner, group=group)
            fits = budget is None or billed + held + 2 * amount <= budget
            assert (verdict == "held") == fits
            if verdict == "held":
                open_charges[charge] = 2 * amount
        elif act == "budget":
            is_allowed = amount is None or amount >= billed + held
            with nullcontext() if is_allowed else pytest.raises(BudgetBelowSpent):
                groups.set_budget(group_id=group, account=alice, budget=amount)
                budget = amount
        elif open_charges:
            charge = next(iter(open_charges))
            del open_charges[charge]
            if act == "settle":
                settle(charge, amount)
                billed += charge_of(charge).charge_balance
            else:
                release(charge)
        assert counts(group) == (billed, sum(open_charges.values()))
    release_all(alice)
