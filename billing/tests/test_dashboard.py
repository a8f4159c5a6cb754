"""The operators' dashboard: what its numbers are made of."""

from datetime import UTC, datetime

import msgspec
import pytest
from django.core.cache import cache
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from billing import dashboard
from billing.dashboard import Card, Chart, Dashboard
from billing.services import balance
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    release,
    settle,
)
from common.ids import uuid7
from common.money import NUSD_PER_USD
from tests.operators import new_operator

# Nothing else happens then. Rolled back, so that the numbers are these tests' alone.
NOW = datetime(2030, 6, 15, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def at(moment: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('platform.clock', %s, true)", (moment,))


def card(found: Dashboard, title: str) -> Card:
    return next(card for card in found.cards if card.title == title)


def chart(found: Dashboard, title: str) -> Chart:
    return next(chart for chart in found.charts if chart.title == title)


def points(found: Dashboard, title: str, label: str) -> dict[str, float]:
    """What a series shows, without zeros."""
    shown = chart(found, title)
    values = next(series.values for series in shown.series if series.label == label)
    return {name: value for name, value in zip(shown.labels, values, strict=True) if value}


def test_it_adds_up_what_happened_in_thirty_days() -> None:
    at("2030-05-16T23:59:59Z")
    alice = new_account(plan="max", balance=50 * NUSD_PER_USD)
    at("2030-05-17T00:00:00Z")
    balance.topup(operation_id=uuid7(), account=alice, amount=20 * NUSD_PER_USD)
    balance.adjust(operation_id=uuid7(), account=alice, delta=NUSD_PER_USD, reason="Sorry")
    at("2030-06-15T10:00:00Z")
    owner = live_owner()
    for cost in (NUSD_PER_USD // 2, NUSD_PER_USD // 4):
        _, charge = hold(alice, cost, owner=owner, model=IN_PLAN)
        settle(charge, cost)
    _, charge = hold(alice, NUSD_PER_USD, owner=owner, model=BALANCE_ONLY)
    settle(charge, NUSD_PER_USD)
    release(hold(alice, 5, owner=owner)[1])
    hold(alice, NUSD_PER_USD, owner=owner)

    found = dashboard.compute(NOW)

    assert points(found, "Top-ups per day", "Top-ups per day") == {"17 May": 20}
    assert points(found, "Billed usage per day", "Billed usage per day") == {"15 Jun": 2.75}
    assert points(found, "Errors per day", "Released") == {"15 Jun": 25}
    assert points(found, "Errors per day", "Expired") == {}
    assert points(found, "Calls per day", "Calls per day") == {"15 Jun": 3}
    assert points(found, "Accounts in use per day", "Accounts in use per day") == {"15 Jun": 1}
    assert points(found, "Calls by model", "Calls by model") == {IN_PLAN: 2, BALANCE_ONLY: 1}
    by_model = points(found, "Billed usage by model", "Billed usage by model")
    assert by_model == {BALANCE_ONLY: 2, IN_PLAN: 0.75}
    assert card(found, "Top-ups").value == "$20.00"
    assert card(found, "Billed usage") == Card("Billed usage", "$2.75", "30 days, 3 calls")
    assert card(found, "Accounts in use").value == "1"
    assert card(found, "Calls running").note == "$2.00 of balances held"


def test_a_free_message_is_a_call_of_its_user_and_a_title_is_not() -> None:
    at("2030-06-14T10:00:00Z")
    charlie, owner = new_account(plan="free", balance=0), live_owner()
    settle(hold(charlie, 5, owner=owner, model=FREE_MODEL, free_window=True)[1], 5)
    settle(hold(charlie, 5, owner=owner, model=FREE_MODEL, funding="platform")[1], 5)
    release(hold(charlie, 5, owner=owner, model=FREE_MODEL, funding="platform")[1])

    found = dashboard.compute(NOW)

    assert points(found, "Calls per day", "Calls per day") == {"14 Jun": 1}
    assert points(found, "Errors per day", "Released") == {}


def test_revenue_is_what_active_subscriptions_cost_each_month() -> None:
    before = revenue()
    new_account(plan="pro", balance=0)
    new_account(plan="enterprise", balance=0)
    suspended = new_account(plan="max", balance=0)
    suspended.status = "suspended"
    suspended.save()
    assert revenue() - before == 25


def test_plans_by_contract_are_counted_apart() -> None:
    noted = card(dashboard.compute(NOW), "Plans per month").note
    before = int(noted.split(", and ")[1].split()[0]) if "by contract" in noted else 0
    new_account(plan="enterprise", balance=0)
    noted = card(dashboard.compute(NOW), "Plans per month").note
    assert noted.endswith(f", and {before + 1} by contract")
    assert "Enterprise" not in noted


def revenue() -> float:
    return float(card(dashboard.compute(NOW), "Plans per month").value.strip("$").replace(",", ""))


def test_more_models_than_fit_are_one_bar() -> None:
    rows = [(f"model-{n:02}", n, 2 * n * NUSD_PER_USD, 1) for n in range(1, 15)]
    ranked = dashboard._ranked("Billed", rows, 2, "USD")
    assert ranked.labels[:2] == ["model-14", "model-13"]
    assert ranked.labels[-1] == "4 others"
    assert ranked.series[0].values[-1] == 2 * (1 + 2 + 3 + 4)


def test_days_without_anything_are_shown_as_such(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(5):
        found = dashboard.compute(datetime(2040, 1, 1, tzinfo=UTC))
    for shown in found.charts:
        data = msgspec.json.decode(shown.data)
        assert all(len(series["data"]) == len(data["labels"]) for series in data["datasets"])
    assert chart(found, "Top-ups per day").labels[-1] == "01 Jan"
    assert card(found, "Billed usage").value == "$0.00"


def test_it_is_computed_at_most_once_a_minute(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    cache.clear()
    first = dashboard.dashboard()
    with django_assert_num_queries(0):
        assert dashboard.dashboard() == first
    cache.clear()


def test_it_is_for_those_who_may_see_the_ledger() -> None:
    assert "Plans per month" in new_operator("billing.view_ledgerentry").get("")
    assert "Plans per month" not in new_operator("catalog.view_aimodel").get("")
