"""Who is let in: what the hold function itself refuses, whatever was checked before it."""

import pytest
from django.utils import timezone

from accounts.models import User
from billing.errors import UsageExceedsPlan
from billing.models import KeyMonth
from billing.services import balance
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    release,
    settle,
    wallet_of,
)
from tests.personas import new_key

pytestmark = pytest.mark.usefixtures("committed")


def test_a_revoked_key_is_refused() -> None:
    alice = new_account()
    key, _ = new_key(alice)
    key.revoked_at = timezone.now()
    key.save()

    assert hold(alice, 1, owner=live_owner(), key=key)[0] == "invalid_api_key"


def test_another_accounts_key_is_refused() -> None:
    alice, bob = new_account(), new_account()
    key, _ = new_key(bob)

    assert hold(alice, 1, owner=live_owner(), key=key)[0] == "invalid_api_key"


def test_a_suspended_account_is_refused() -> None:
    alice = new_account()
    User.objects.filter(pk=alice.pk).update(status="suspended")

    assert hold(alice, 1, owner=live_owner())[0] == "account_disabled"


def test_a_plan_without_api_access_is_refused_with_a_key_but_not_in_the_web_app() -> None:
    alice = new_account(plan="pro")
    key, _ = new_key(alice)

    assert hold(alice, 1, owner=live_owner(), key=key)[0] == "api_access_required"
    verdict, charge = hold(alice, 1, owner=live_owner())
    assert verdict == "held"
    release(charge)


def test_a_model_that_is_not_on_the_keys_list_is_refused() -> None:
    alice = new_account()
    key, _ = new_key(alice, models=(IN_PLAN,))

    assert hold(alice, 1, owner=live_owner(), key=key, model=BALANCE_ONLY)[0] == "model_not_allowed"
    verdict, charge = hold(alice, 1, owner=live_owner(), key=key, model=IN_PLAN)
    assert verdict == "held"
    release(charge)


def test_the_request_that_crosses_the_cap_completes_and_the_next_is_refused() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=100)
    owner = live_owner()
    verdict, charge = hold(alice, 500, owner=owner, key=key)
    assert verdict == "held"

    settle(charge, 80)

    assert KeyMonth.objects.get(api_key=key).billed == 160
    assert hold(alice, 1, owner=owner, key=key)[0] == "spend_cap_reached"


def test_a_cap_that_running_calls_fill_is_told_apart_from_a_spent_one() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=100)
    owner = live_owner()
    _, charge = hold(alice, 50, owner=owner, key=key)

    assert hold(alice, 1, owner=owner, key=key)[0] == "spend_cap_in_flight"

    settle(charge, 10)
    verdict, charge = hold(alice, 1, owner=owner, key=key)
    assert verdict == "held"
    release(charge)


def test_a_cap_of_zero_admits_nothing() -> None:
    alice = new_account()
    key, _ = new_key(alice, cap=0)

    assert hold(alice, 1, owner=live_owner(), key=key)[0] == "spend_cap_reached"


def test_a_key_remembers_when_it_was_last_used() -> None:
    alice = new_account()
    key, _ = new_key(alice)
    assert key.last_used_at is None

    release(hold(alice, 1, owner=live_owner(), key=key)[1])

    key.refresh_from_db()
    assert key.last_used_at is not None


def test_a_call_that_the_platform_pays_holds_and_bills_nothing() -> None:
    charlie = new_account(plan="free", balance=0)
    verdict, charge = hold(charlie, 100, owner=live_owner(), funding="platform")
    assert verdict == "held"

    settle(charge, 70)

    assert wallet_of(charlie).balance == 0


def test_a_plan_change_keeps_what_was_used_and_what_is_held() -> None:
    alice = new_account(plan="advanced", balance=0)
    owner = live_owner()
    _, spent = hold(alice, 1_900_000_000, owner=owner, model=IN_PLAN)
    settle(spent, 1_900_000_000)
    _, running = hold(alice, 50_000_000, owner=owner, model=IN_PLAN)

    with pytest.raises(UsageExceedsPlan):
        balance.change_plan(account=alice, plan="starter")
    balance.change_plan(account=alice, plan="starter", forced=True)

    assert hold(alice, 1, owner=owner, model=IN_PLAN)[0] == "insufficient_balance"
    settle(running, 50_000_000)
    assert wallet_of(alice).balance == 0
    balance.change_plan(account=alice, plan="advanced")
    verdict, charge = hold(alice, 50_000_000, owner=owner, model=IN_PLAN)
    assert verdict == "held"
    release(charge)
