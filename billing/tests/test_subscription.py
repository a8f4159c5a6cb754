"""GET /api/billing/subscription: current subscription."""

from datetime import UTC, date, datetime

import pytest
from rest_framework.test import APIClient

from billing.selectors.subscriptions import CurrentSubscription
from billing.services.balance import change_plan
from conftest import Persona

URL = "/api/billing/subscription"
pytestmark = pytest.mark.django_db


def test_an_account_begins_on_the_free_plan(alice: Persona) -> None:
    response = alice.client.get(URL)

    assert response.status_code == 200
    assert response.json().keys() == {
        "plan",
        "status",
        "current_period_start",
        "current_period_end",
    }
    assert (response.json()["plan"], response.json()["status"]) == ("free", "active")


def test_the_period_is_this_utc_month(alice: Persona) -> None:
    before = datetime.now(UTC)
    shown = alice.client.get(URL).json()

    start = datetime.fromisoformat(shown["current_period_start"])
    end = datetime.fromisoformat(shown["current_period_end"])
    assert start <= before < end or start <= datetime.now(UTC) < end
    assert (start.day, start.hour, start.utcoffset()) == (1, 0, before.utcoffset())
    assert (end.day, end.hour) == (1, 0)
    assert shown["current_period_start"].endswith("-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    ("month", "end"),
    [
        (date(2026, 2, 1), datetime(2026, 3, 1, tzinfo=UTC)),
        (date(2026, 11, 1), datetime(2026, 12, 1, tzinfo=UTC)),
        (date(2026, 12, 1), datetime(2027, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_period_ends_where_the_next_begins(month: date, end: datetime) -> None:
    assert CurrentSubscription("max", "active", month).current_period_end == end


def test_it_shows_the_plan_at_once(alice: Persona, bob: Persona) -> None:
    change_plan(account=alice.user, plan="pro")

    assert alice.client.get(URL).json()["plan"] == "pro"
    assert bob.client.get(URL).json()["plan"] == "free"


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
