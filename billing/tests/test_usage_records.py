"""GET /api/users/me/usage: usage records."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from billing.services.endings import RESOLVE
from billing.tests.bank import (
    FREE_MODEL,
    IN_PLAN,
    checkpoint,
    ended,
    expire,
    hold,
    live_owner,
    new_account,
    release,
    run,
    settle,
)
from billing.tests.web_app import client_of, clock
from common.ids import uuid7

URL = "/api/users/me/usage"
pytestmark = pytest.mark.usefixtures("committed")


def usage(user: User, query: str = "") -> list[dict[str, Any]]:
    response = client_of(user).get(f"{URL}?{query}")
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()
    return rows


def ids(rows: list[dict[str, Any]]) -> list[UUID]:
    return [UUID(row["id"]) for row in rows]


def call(user: User) -> UUID:
    """A call that was made and settled. Returns its charge."""
    _, charge = hold(user, 1_000, owner=live_owner())
    settle(charge, 1_000)
    return charge


def call_at(user: User, moment: str) -> UUID:
    """The same, at another time."""
    with clock(moment):
        charge = uuid7(datetime.fromisoformat(moment))
        hold(user, 1, owner=live_owner(), charge=charge)
        settle(charge, 1)
    return charge


def test_a_record_says_what_was_used_and_who_paid_how_much() -> None:
    alice = new_account(plan="max")
    _, charge = hold(alice, 1_600_000_000, owner=live_owner(), model=IN_PLAN)
    settle(charge, 1_550_000_000, tokens_out=700)

    [record] = usage(alice)

    assert datetime.fromisoformat(record.pop("created_at")).tzinfo == UTC
    assert record == {
        "id": str(charge),
        "source": "api",
        "model": IN_PLAN,
        "status": "settled",
        "input_tokens": 5,
        "cached_tokens": 0,
        "output_tokens": 700,
        "images": 0,
        "seconds": 0,
        "assets": 0,
        "listed_usd": 1.55,
        "paid_by_plan_usd": 1.5,
        "paid_by_balance_usd": 0.1,
    }


def test_a_picture_is_counted_by_the_piece() -> None:
    alice = new_account(plan="max")
    _, charge = hold(alice, 50_000_000, owner=live_owner(), model="gpt-image-2.5-flare")
    run(RESOLVE, ended(charge, "settled", 46_000_000, {"images": 2}))

    [record] = usage(alice)

    assert (record["images"], record["listed_usd"], record["paid_by_plan_usd"]) == (2, 0.046, 0.046)


def test_a_film_is_counted_by_the_second_and_an_asset_by_the_piece() -> None:
    alice = new_account(plan="max", balance=10**10)
    _, film = hold(alice, 3_280_000_000, owner=live_owner(), model="veo-3.1")
    run(RESOLVE, ended(film, "settled", 3_280_000_000, {"seconds": 8}))
    _, asset = hold(alice, 420_000_000, owner=live_owner(), model="meshy-6")
    run(RESOLVE, ended(asset, "settled", 420_000_000, {"assets": 1}))

    by_model = {record["model"]: record for record in usage(alice)}

    assert (by_model["veo-3.1"]["seconds"], by_model["veo-3.1"]["paid_by_balance_usd"]) == (8, 6.56)
    assert (by_model["meshy-6"]["assets"], by_model["meshy-6"]["paid_by_balance_usd"]) == (1, 0.84)


def test_audio_is_counted_by_the_second() -> None:
    alice = new_account(plan="max", balance=10**9)
    _, charge = hold(alice, 1_192_000, owner=live_owner(), model="nova-3")
    run(RESOLVE, ended(charge, "settled", 1_192_000, {"seconds": 13}))

    [record] = usage(alice)

    assert (record["seconds"], record["paid_by_plan_usd"], record["paid_by_balance_usd"]) == (
        13,
        0,
        0.002384,
    )


def test_every_status_is_shown_and_what_runs_as_far_as_it_has_come() -> None:
    alice = new_account()
    owner = live_owner()
    running, crashed, failed = (hold(alice, 1_000, owner=owner)[1] for _ in range(3))
    checkpoint(owner, running, 40)
    checkpoint(owner, crashed, 60)
    expire(crashed)
    release(failed)

    rows = {UUID(row["id"]): row for row in usage(alice)}

    assert {charge: (row["status"], row["listed_usd"]) for charge, row in rows.items()} == {
        running: ("held", 0.00000004),
        crashed: ("expired", 0.00000006),
        failed: ("released", 0),
    }
    assert rows[running]["paid_by_balance_usd"] == 0
    assert rows[crashed]["paid_by_balance_usd"] == 0.00000012
    release(running)


def test_the_newest_comes_first_and_pages_link_to_the_next() -> None:
    alice = new_account()
    charges = [call(alice) for _ in range(3)]
    client = client_of(alice)

    first = client.get(f"{URL}?limit=2&from=2026-01-01")
    assert ids(first.json()) == sorted(charges, reverse=True)[:2]
    link, _, relation = first["Link"].partition("; ")
    assert relation == 'rel="next"'
    assert "from=2026-01-01" in link
    second = client.get(link.strip("<>"))
    assert ids(second.json()) == sorted(charges)[:1]
    assert "Link" not in second


def test_a_free_message_is_the_users_and_costs_nothing_but_a_title_is_the_platforms() -> None:
    charlie = new_account(plan="free", balance=0)
    owner = live_owner()
    verdict, message = hold(charlie, 1_000, owner=owner, model=FREE_MODEL, free_window=True)
    assert verdict == "held"
    settle(message, 900)
    _, title = hold(charlie, 1_000, owner=owner, model=FREE_MODEL, funding="platform")
    settle(title, 100)

    [record] = usage(charlie)

    assert record["id"] == str(message)
    assert record["listed_usd"] == 0.0000009
    assert (record["paid_by_plan_usd"], record["paid_by_balance_usd"]) == (0, 0)


def test_it_can_be_narrowed_to_utc_days_which_are_both_included() -> None:
    alice = new_account()
    moments = ["2026-10-22T23:59:59.999+00:00", "2026-10-23T00:00:00+00:00"]
    moments += ["2026-10-24T23:59:59.999+00:00", "2026-10-25T00:00:00+00:00"]
    eve, first, last, after = [call_at(alice, moment) for moment in moments]

    assert ids(usage(alice, "from=2026-10-23&to=2026-10-24")) == [last, first]
    assert ids(usage(alice, "to=2026-10-22")) == [eve]
    assert ids(usage(alice, "from=2026-10-25")) == [after]
    assert len(usage(alice, "from=0001-01-01&to=9999-12-31")) == 4


def test_other_peoples_calls_are_not_shown() -> None:
    alice, bob = new_account(), new_account()
    foreign = call(bob)

    assert usage(alice) == []
    assert usage(alice, f"before={foreign}") == []


def test_it_takes_two_queries_however_much_there_is(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    alice = new_account()
    for _ in range(3):
        call(alice)
    client = client_of(alice)

    with django_assert_num_queries(2):  # who is it, and what did they call
        client.get(URL)


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-02-30",
        "from=yesterday",
        "to=2026-10",
        "to=2026-10-23T12:00:00Z",
        "to=2026-10-22&from=2026-10-23",
        "limit=0",
        "before=x",
    ],
)
def test_a_wrong_query_value_is_422(query: str) -> None:
    response = client_of(new_account()).get(f"{URL}?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [query.partition("=")[0]]


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
