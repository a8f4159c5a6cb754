"""What the platform gives away in one day, and when that is all."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg.errors import QueryCanceled
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from billing.errors import FreeBudgetSpent
from billing.selectors import free_budget
from billing.tests.bank import (
    FREE_MODEL,
    checkpoint,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    run,
    settle,
)
from common.errors import ServiceUnavailable
from common.money import NUSD_PER_USD

# Rolled back, on days on which nothing else happens.
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def budget(db: None, settings: Settings) -> Iterator[None]:
    settings.FREE_DAILY_BUDGET_USD = 2
    at("2030-07-02T00:00:00Z")
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def charlie() -> User:
    return new_account(plan="free", balance=0)


def at(moment: str) -> None:
    run("SELECT set_config('platform.clock', %s, true)", moment)


def check() -> None:
    """As somebody with a verified address."""
    if refusal := free_budget.find_refusal(User(email_verified=True)):
        raise refusal


def is_spent() -> bool:
    """Read from the database each time."""
    cache.clear()
    try:
        check()
    except FreeBudgetSpent:
        return True
    return False


def test_a_message_counts_at_its_worst_while_it_runs_and_at_its_cost_then(charlie: User) -> None:
    owner = live_owner()
    _, charge = hold(charlie, 2 * NUSD_PER_USD, owner=owner, model=FREE_MODEL, free_window=True)
    assert is_spent()

    settle(charge, 2 * NUSD_PER_USD - 1)

    assert not is_spent()
    _, charge = hold(charlie, 5, owner=owner, model=FREE_MODEL, free_window=True)
    checkpoint(owner, charge, 1)
    expire(charge)
    assert is_spent()


def test_a_title_counts_and_what_was_given_back_does_not(charlie: User) -> None:
    owner = live_owner()
    release(hold(charlie, 2 * NUSD_PER_USD, owner=owner, funding="platform")[1])
    assert not is_spent()

    settle(hold(charlie, 2 * NUSD_PER_USD, owner=owner, funding="platform")[1], 2 * NUSD_PER_USD)

    assert is_spent()


def test_what_customers_pay_does_not_count() -> None:
    alice = new_account(balance=100 * NUSD_PER_USD)
    _, charge = hold(alice, 40 * NUSD_PER_USD, owner=live_owner())
    settle(charge, 40 * NUSD_PER_USD)

    assert not is_spent()


def test_each_utc_day_has_a_budget_of_its_own(charlie: User) -> None:
    at("2030-07-01T23:59:59.999Z")
    hold(charlie, 2 * NUSD_PER_USD, owner=live_owner(), funding="platform")
    assert is_spent()

    at("2030-07-02T00:00:00Z")

    assert not is_spent()


def test_who_comes_too_late_is_told_when_to_come_back(charlie: User) -> None:
    hold(charlie, 2 * NUSD_PER_USD, owner=live_owner(), funding="platform")

    with pytest.raises(FreeBudgetSpent) as refusal:
        check()

    assert (refusal.value.code, refusal.value.status) == ("free_budget_spent", 503)
    assert refusal.value.retry_after is not None
    assert 0 < refusal.value.retry_after <= 3600


def test_it_is_asked_once_in_a_while(
    charlie: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    check()
    with django_assert_num_queries(0):
        check()


def test_while_one_asks_the_others_go_by_what_was_known() -> None:
    _make_due()
    with ThreadPoolExecutor(1) as executor, _charges_held():
        asking = executor.submit(_check_elsewhere)
        _wait_for(1)
        with CaptureQueriesContext(connection) as asked:
            check()
        assert len(asked) == 0
    assert asking.result() is True


def test_who_asks_for_too_long_goes_by_what_was_known(caplog: pytest.LogCaptureFixture) -> None:
    _make_due()
    with ThreadPoolExecutor(1) as executor, _charges_held():
        assert executor.submit(_check_elsewhere).result() is True
    assert "free_budget.not_added_up" in caplog.text


def test_while_nothing_is_known_one_asks_and_the_others_wait_for_it() -> None:
    with ThreadPoolExecutor(4) as executor:
        with _charges_held():
            asking = [executor.submit(_check_elsewhere) for _ in range(4)]
            _wait_for(1)
            time.sleep(0.3)  # for those who would ask, too
            assert _waiting() == 1
        has_asked = [each.result() for each in asking]
    assert sorted(has_asked) == [False, False, False, True]


def test_nobody_waits_for_long() -> None:
    with ThreadPoolExecutor(4) as executor, _charges_held():
        asking = [executor.submit(_check_elsewhere) for _ in range(4)]
        failures = [each.exception() for each in asking]
    asked = [each for each in failures if isinstance(each, OperationalError)]
    waited = [each for each in failures if isinstance(each, ServiceUnavailable)]
    assert {type(each.__cause__) for each in asked} == {QueryCanceled}
    # Of those who wait, one may still get its turn when the first one gives up.
    assert (len(asked) + len(waited), len(waited) >= 2) == (4, True)
    check()


def _make_due() -> None:
    """What was spent is known, and whoever comes next adds it up again."""
    check()
    cache.delete(f"free_budget_due:{datetime.now(UTC).date()}")


@contextmanager
def _charges_held() -> Iterator[None]:
    """Until the end of the block nobody else can add up what was charged."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE billing_charge IN ACCESS EXCLUSIVE MODE")
        yield
        transaction.set_rollback(True)


def _check_elsewhere() -> bool:
    """In a thread of its own. Has it asked the database?"""
    try:
        with CaptureQueriesContext(connection) as asked:
            check()
        return len(asked) > 0
    finally:
        connection.close()


def _wait_for(waiting: int) -> None:
    while _waiting() < waiting:
        time.sleep(0.01)


def _waiting() -> int:
    """How many wait for the table of charges."""
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    return int(run(waiting, "billing_charge")[0])


def test_it_is_read_by_its_index() -> None:
    """As the function does: with no scan of a whole table, in any month."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        # What is cheapest in a table that small depends on the tests so far.
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false"
            " WHERE indrelid IN (SELECT relid FROM pg_partition_tree('billing_charge'))"
            " AND indexrelid NOT IN (SELECT relid FROM pg_partition_tree('charge_by_platform'))"
        )
        cursor.execute(
            "EXPLAIN (FORMAT JSON) SELECT sum(cost) FROM billing_charge WHERE funding = 'platform'"
            " AND admitted_at >= (SELECT money_now())"
        )
        [[plan]] = cursor.fetchall()
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'charge_by_platform'::regclass"
        )
        of_months = {name for (name,) in cursor.fetchall()}
    nodes = list(_nodes(plan[0]["Plan"]))
    assert of_months
    assert {node["Index Name"] for node in nodes if "Index Name" in node} == of_months
    assert "Seq Scan" not in {node["Node Type"] for node in nodes}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan and all below it."""
    yield plan
    for below in plan.get("Plans", []):
        yield from _nodes(below)
