"""Processes die: what they held comes free, what they streamed is billed, once."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import User
from billing.models import Allowance
from billing.services import sweeps
from billing.services.endings import RESOLVE
from billing.tests import money_functions
from billing.tests.bank import (
    IN_PLAN,
    at,
    charge_of,
    checkpoint,
    dead_owner,
    ended,
    expire,
    hold,
    kill,
    live_owner,
    new_account,
    other_connection,
    release,
    run,
    settle,
    wallet_of,
)
from billing.types import Checkpoint, RequestKey, as_json
from common.ids import uuid7
from tests.personas import new_key
from work.leases.keeper import LEASE_SECONDS

pytestmark = pytest.mark.usefixtures("committed")


def test_a_dead_owners_allowance_is_free_before_a_live_call_would_pay_twice_for_it() -> None:
    alice = new_account(balance=10_000_000_000)
    whole = _allowance(alice)
    _, lost = hold(alice, whole, owner=dead_owner(), model=IN_PLAN)

    verdict, charge = hold(alice, 500, owner=live_owner(), model=IN_PLAN)

    assert verdict == "held"
    assert (charge_of(charge).hold_plan, charge_of(charge).hold_balance) == (500, 0)
    assert charge_of(lost).status == "released"
    release(charge)


@pytest.mark.parametrize("found_by", ["sweep", "hold"])
def test_the_oldest_of_the_dead_takes_first_what_is_left_of_an_allowance(found_by: str) -> None:
    """It held all of the allowance and needs little, so the second need not pay twice its cost."""
    alice, owner = new_account(balance=10_000), live_owner()
    _, first = hold(alice, _allowance(alice), owner=owner, model=IN_PLAN)
    _, second = hold(alice, 50, owner=owner, model=IN_PLAN)
    for charge in (second, first):
        checkpoint(owner, charge, cost=40)
    kill(owner)

    if found_by == "sweep":
        sweeps.expire_lapsed_charges()
    else:
        release(hold(alice, 1, owner=live_owner(), model=IN_PLAN)[1])

    paid = [
        (charge_of(each).charge_plan, charge_of(each).charge_balance) for each in (first, second)
    ]
    assert paid == [(40, 0), (40, 0)]


def test_a_dead_owner_does_not_fill_a_keys_cap() -> None:
    alice = new_account(balance=1000)
    key, _ = new_key(alice, cap=400)
    hold(alice, 200, owner=dead_owner(), key=key)

    verdict, charge = hold(alice, 10, owner=live_owner(), key=key)

    assert verdict == "held"
    release(charge)


def test_a_dead_owner_does_not_keep_the_balance_locked() -> None:
    alice = new_account(balance=1000)
    hold(alice, 500, owner=dead_owner())

    verdict, charge = hold(alice, 500, owner=live_owner())

    assert verdict == "held"
    release(charge)


def test_a_hold_that_commits_after_its_owner_gave_up_its_lease_comes_free() -> None:
    """The process ended while the database was still working on its hold."""
    alice = new_account(balance=1000)
    _, charge = hold(alice, 500, owner=uuid7())

    sweeps.expire_lapsed_charges()

    assert charge_of(charge).status == "released"
    assert wallet_of(alice).held == 0


def test_the_sweeper_bills_the_last_checkpoint_and_no_more() -> None:
    alice = new_account(balance=10_000)
    owner = live_owner()
    _, charge = hold(alice, 3000, owner=owner)
    checkpoint(owner, charge, cost=700, tokens_out=7)
    kill(owner)

    sweeps.expire_lapsed_charges()

    row = charge_of(charge)
    assert (row.status, row.cost, row.charge_balance, row.tokens_out) == ("expired", 700, 1400, 7)
    assert wallet_of(alice).balance == 8600


def test_a_lease_that_has_just_run_out_may_still_be_renewed() -> None:
    """As after a pause that nobody lived through, when a sweep comes before the first heartbeat."""
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 100, owner=owner)
    run(
        "UPDATE leases_lease SET expires_at = now() - interval '1 s'"
        " WHERE owner_id = %s RETURNING 1",
        owner,
    )

    sweeps.expire_lapsed_charges()
    assert charge_of(charge).status == "held"
    run("SELECT lease_renew(%s, 'test')", owner)
    sweeps.expire_lapsed_charges()

    assert charge_of(charge).status == "held"
    kill(owner)
    sweeps.expire_lapsed_charges()
    assert charge_of(charge).status == "released"


@pytest.mark.parametrize("late", range(5))
def test_what_a_dead_process_holds_is_free_long_before_a_minute_also_if_a_sweep_is_late(
    late: int,
) -> None:
    """A sweep has just come when its lease runs out. Of the later ones, one comes with the next."""
    alice, died = new_account(balance=1000), timezone.now()
    with at(died):
        owner = live_owner()
        _, charge = hold(alice, 100, owner=owner)
    sweep_of = settings.CELERY_BEAT_SCHEDULE
    pause = max(sweep_of[name]["schedule"] for name in ("end-lost-jobs", "expire-lapsed-charges"))
    sweeping = [LEASE_SECONDS - 0.1 + pause * number for number in range(20)]
    del sweeping[late]

    for seconds in sweeping:
        with at(died + timedelta(seconds=seconds)):
            sweeps.expire_lapsed_charges()
        if charge_of(charge).status == "released":
            break

    assert seconds <= 50


def test_a_doubt_ends_with_the_renewal() -> None:
    """Whoever came back once gets the same time to come back the next time."""
    alice, owner = new_account(balance=1000), live_owner()
    _, charge = hold(alice, 100, owner=owner)
    begin = timezone.now()
    for seconds, renews in ((31, True), (70, False)):
        with at(begin + timedelta(seconds=seconds)):
            sweeps.expire_lapsed_charges()
            if renews:
                run("SELECT lease_renew(%s, 'test')", owner)

    assert charge_of(charge).status == "held"
    with at(begin + timedelta(seconds=79)):
        sweeps.expire_lapsed_charges()
    assert charge_of(charge).status == "released"


def test_a_named_request_need_not_wait_for_what_a_dead_process_held() -> None:
    alice, name = new_account(balance=1000), RequestKey("/v1/chat/completions", "a", b"")
    lost, again = (
        money_functions.request(alice, 100, owner=owner) for owner in (dead_owner(), live_owner())
    )
    money_functions.hold_idempotently(name, lost)

    answer, _ = money_functions.hold_idempotently(name, again)

    assert answer.verdict == "held"
    assert charge_of(lost.charge_id).status == "released"
    release(again.charge_id)


def test_the_sweeper_leaves_a_live_owners_charges_alone() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=live_owner())

    sweeps.expire_lapsed_charges()

    assert charge_of(charge).status == "held"
    release(charge)


def test_a_charge_past_its_deadline_lapses_even_under_a_live_owner() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=live_owner(), seconds=0)

    sweeps.expire_lapsed_charges()

    assert charge_of(charge).status == "released"


def test_nothing_lapses_in_the_first_minute_after_the_server_came_up() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=dead_owner())
    with connection.cursor() as cursor:
        # The server of the tests has been up for less than an hour.
        cursor.execute("SET platform.startup_grace = '1 hour'")
        try:
            sweeps.expire_lapsed_charges()
            assert hold(alice, 450, owner=live_owner())[0] == "insufficient_balance"
        finally:
            cursor.execute("RESET platform.startup_grace")

    assert charge_of(charge).status == "held"
    release(charge)


def test_a_late_settle_moves_no_money() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 100, owner=owner)
    checkpoint(owner, charge, cost=30)
    expire(charge)

    assert settle(charge, 100) == "already"

    assert wallet_of(alice).balance == 940


def test_a_checkpoint_tells_the_owner_which_charges_it_has_lost() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, mine = hold(alice, 100, owner=owner)
    _, lost = hold(alice, 100, owner=owner)
    expire(lost)

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT * FROM money_checkpoint(%s, %s)",
            (
                [owner],
                as_json(
                    [
                        Checkpoint(mine, {"tokens_in": 1, "tokens_out": 2}, 20),
                        Checkpoint(lost, {"tokens_in": 1, "tokens_out": 2}, 20),
                    ]
                ),
            ),
        )
        assert [row[0] for row in cursor.fetchall()] == [lost]

    assert charge_of(mine).cost == 20
    assert charge_of(lost).cost == 0
    release(mine)


def test_a_checkpoint_saves_nothing_of_anothers_charge() -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=live_owner())

    assert money_functions.checkpoint(live_owner(), charge, 20, (1, 2)) == {charge}

    assert charge_of(charge).cost == 0
    release(charge)


def test_a_checkpoint_never_waits_for_a_charge_that_is_being_resolved() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 100, owner=owner)
    with other_connection() as other:
        other.execute("BEGIN")
        other.execute(RESOLVE, (ended(charge, "settled", 50, {"tokens_in": 5, "tokens_out": 5}),))
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '2 s'")
            checkpoint(owner, charge, cost=99)
            cursor.execute("RESET statement_timeout")
        other.execute("COMMIT")

    assert charge_of(charge).cost == 50


def test_an_owner_is_told_the_holds_whose_reply_was_lost() -> None:
    alice = new_account(balance=1000)
    owner = live_owner()
    _, known = hold(alice, 100, owner=owner)
    _, unknown = hold(alice, 100, owner=owner)
    _, fresh = hold(alice, 100, owner=owner)
    _age(known, unknown)

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM unknown_charges(%s, %s)", (owner, [known]))
        assert [row[0] for row in cursor.fetchall()] == [unknown]
    for charge in (known, unknown, fresh):
        expire(charge)


def _allowance(account: User) -> int:
    _, charge = hold(account, 1, owner=live_owner(), model=IN_PLAN)
    release(charge)
    return Allowance.objects.get(account=account, model_id=IN_PLAN).granted


def _age(*charges: object) -> None:
    run(
        "UPDATE billing_charge SET admitted_at = admitted_at - interval '16 s' WHERE id = ANY(%s) "
        "RETURNING 1",
        list(charges),
    )
