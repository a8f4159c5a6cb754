"""From one plan to another in mid-month: what was used stays used, and nobody is stranded."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest

from accounts.models import User
from billing.errors import SamePlan, UnknownPlan, UsageExceedsPlan
from billing.models import Allowance, PlanAllowance, Subscription
from billing.services import balance
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    charge_of,
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
    request_for,
    settle,
)
from billing.types import as_json
from tests.locks import wait_until_blocked

pytestmark = pytest.mark.usefixtures("committed")

OTHER_IN_PLAN = "claude-haiku-5-5"


def granted(plan: str, model: str = IN_PLAN) -> int:
    return PlanAllowance.objects.get(plan_id=plan, model_id=model).granted


def use(account: User, amount: int, model: str = IN_PLAN) -> None:
    verdict, charge = hold(account, amount, owner=live_owner(), model=model)
    assert verdict == "held"
    settle(charge, amount)


def plan_of(account: User) -> str:
    return Subscription.objects.get(account=account).plan_id


def test_the_plan_one_has_is_refused_to_a_customer_and_nothing_to_an_operator() -> None:
    alice = new_account(plan="pro")

    with pytest.raises(SamePlan):
        balance.change_plan(account=alice, plan="pro")
    balance.change_plan(account=alice, plan="pro", forced=True)

    assert plan_of(alice) == "pro"


@pytest.mark.parametrize("forced", [False, True])
def test_a_plan_that_does_not_exist_is_refused(forced: bool) -> None:
    alice = new_account(plan="pro")

    with pytest.raises(UnknownPlan):
        balance.change_plan(account=alice, plan="platinum", forced=forced)

    assert plan_of(alice) == "pro"


def test_an_upgrade_grants_the_difference_at_once() -> None:
    alice = new_account(plan="starter", balance=0)
    use(alice, granted("starter"))
    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"

    balance.change_plan(account=alice, plan="pro")

    use(alice, granted("pro") - granted("starter"))
    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"


def test_an_upgrade_reaches_a_call_that_runs() -> None:
    """Admitted on the free plan, where the balance pays for everything."""
    alice = new_account(plan="free", balance=1_000)
    _, charge = hold(alice, 100, owner=live_owner(), model=IN_PLAN)

    balance.change_plan(account=alice, plan="max")
    settle(charge, 80)

    row = charge_of(charge)
    assert (row.hold_balance, row.charge_plan, row.charge_balance) == (200, 80, 0)


def test_an_upgrade_grants_nothing_for_a_running_message_that_is_free() -> None:
    """No allowance will ever pay for it: the row comes with the first call that one may pay for."""
    alice = new_account(plan="free", balance=0)
    _, charge = hold(alice, 100, owner=live_owner(), model=FREE_MODEL, free_window=True)
    assert charge_of(charge).funding == "platform"

    balance.change_plan(account=alice, plan="max")

    assert granted("max", FREE_MODEL) > 0
    assert not Allowance.objects.filter(account=alice).exists()
    settle(charge, 80)
    assert charge_of(charge).charge_plan == 0


def test_a_smaller_plan_is_refused_where_more_was_used_than_it_grants() -> None:
    alice = new_account(plan="max", balance=0)
    use(alice, granted("starter") + 1)
    use(alice, granted("starter", OTHER_IN_PLAN) + 2, OTHER_IN_PLAN)

    with pytest.raises(UsageExceedsPlan) as refused:
        balance.change_plan(account=alice, plan="starter")

    assert refused.value.extra["model_key"] == OTHER_IN_PLAN
    assert "first of next month" in refused.value.text
    assert refused.value.retry_after is None
    assert plan_of(alice) == "max"


def test_what_was_used_is_told_before_what_is_held() -> None:
    """Waiting for the call would not help."""
    alice = new_account(plan="max", balance=0)
    use(alice, granted("starter") + 1)
    held = granted("starter", OTHER_IN_PLAN) + 100
    _, charge = hold(alice, held, owner=live_owner(), model=OTHER_IN_PLAN)

    with pytest.raises(UsageExceedsPlan) as refused:
        balance.change_plan(account=alice, plan="starter")

    assert (refused.value.extra["model_key"], refused.value.retry_after) == (IN_PLAN, None)
    release(charge)


def test_what_a_running_call_holds_counts_as_used() -> None:
    alice = new_account(plan="max", balance=0)
    _, charge = hold(alice, granted("starter") + 1, owner=live_owner(), model=IN_PLAN)

    with pytest.raises(UsageExceedsPlan) as refused:
        balance.change_plan(account=alice, plan="starter")
    assert "Try again when they have ended." in refused.value.text
    assert refused.value.retry_after == 10
    assert refused.value.extra["model_key"] == IN_PLAN
    settle(charge, 1)
    balance.change_plan(account=alice, plan="starter")

    assert plan_of(alice) == "starter"


def test_a_smaller_plan_is_not_refused_where_exactly_its_grant_was_used() -> None:
    alice = new_account(plan="max", balance=0)
    use(alice, granted("starter"))

    balance.change_plan(account=alice, plan="starter")

    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"


def test_what_the_balance_paid_for_is_no_reason_to_refuse() -> None:
    alice = new_account(plan="max", balance=1_000)
    use(alice, 100, BALANCE_ONLY)

    balance.change_plan(account=alice, plan="free")

    assert plan_of(alice) == "free"


def test_an_operator_may_force_a_smaller_plan_and_the_running_call_keeps_its_hold() -> None:
    alice = new_account(plan="max", balance=0)
    use(alice, granted("starter"))
    _, running = hold(alice, 50, owner=live_owner(), model=IN_PLAN)

    balance.change_plan(account=alice, plan="starter", forced=True)

    assert hold(alice, 1, owner=live_owner(), model=IN_PLAN)[0] == "insufficient_balance"
    settle(running, 50)
    assert charge_of(running).charge_plan == 50
    row = Allowance.objects.get(account=alice)
    assert (row.granted, row.used, row.downgraded) == (
        granted("starter"),
        granted("starter") + 50,
        True,
    )


def test_who_was_put_on_a_smaller_plan_by_force_may_go_up_again() -> None:
    """More was used than the bigger plan grants as well, but it takes nothing away."""
    alice = new_account(plan="max", balance=0)
    use(alice, granted("pro") + 1)
    balance.change_plan(account=alice, plan="starter", forced=True)

    balance.change_plan(account=alice, plan="pro")

    row = Allowance.objects.get(account=alice)
    assert (row.granted, row.used, row.downgraded) == (granted("pro"), granted("pro") + 1, True)
    balance.change_plan(account=alice, plan="max")
    row.refresh_from_db()
    assert row.downgraded is False


def test_a_hold_that_waited_for_a_plan_change_is_of_the_new_plan() -> None:
    alice = new_account(plan="max", balance=0)
    with other_connection() as operator, ThreadPoolExecutor(1) as thread:
        operator.execute("BEGIN")
        operator.execute("SELECT * FROM money_change_plan(%s, 'free', false)", (alice.pk,))
        waiting = thread.submit(_hold_elsewhere, alice, live_owner())
        wait_until_blocked(operator)
        operator.execute("COMMIT")

        assert waiting.result()[:2] == ("insufficient_balance", "free")


def test_a_plan_change_that_waited_for_a_hold_sees_what_it_holds() -> None:
    alice = new_account(plan="max", balance=0)
    with other_connection() as runner, ThreadPoolExecutor(1) as thread:
        runner.execute("BEGIN")
        charge = _hold_on(runner, alice, live_owner())[2]
        waiting = thread.submit(_change_elsewhere, alice, "free")
        wait_until_blocked(runner)
        runner.execute("COMMIT")

        assert waiting.result() == ("in_flight", IN_PLAN)
    release(charge)


def _hold_elsewhere(account: User, owner: UUID) -> tuple[Any, ...]:
    with other_connection() as connection:
        return _hold_on(connection, account, owner)


def _hold_on(connection: psycopg.Connection[Any], account: User, owner: UUID) -> tuple[Any, ...]:
    """Verdict, plan and charge of a hold of one nano-dollar."""
    [price] = connection.execute(
        "SELECT max(id) FROM catalog_priceversion WHERE model_id = %s", (IN_PLAN,)
    ).fetchall()
    request = request_for(account, 1, owner=owner, price=price[0], model=IN_PLAN)
    row = connection.execute(
        "SELECT verdict, plan FROM money_hold(%s)", (as_json(request),)
    ).fetchone()
    assert row
    return (*row, request.charge_id)


def _change_elsewhere(account: User, plan: str) -> tuple[Any, ...]:
    with other_connection() as connection:
        row = connection.execute(
            "SELECT outcome, model FROM money_change_plan(%s, %s, false)", (account.pk, plan)
        ).fetchone()
    assert row
    return tuple(row)
