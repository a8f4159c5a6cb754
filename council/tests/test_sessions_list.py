"""GET /api/council/sessions: list councils."""

import tracemalloc
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from council.tests.council_client import CARDS, SESSIONS, CouncilClient, new_council_client

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def rows(person: CouncilClient, **query: Any) -> list[dict[str, Any]]:
    answer = person.get(SESSIONS, **query)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()
    return found


def test_councils_are_listed_newest_first_with_their_models_and_costs(alice: CouncilClient) -> None:
    first, _ = alice.council("Deep.", "Blue.")
    second, _ = alice.council("Wet.", model=BALANCE_ONLY)

    newest, oldest = rows(alice)

    assert (newest["id"], oldest["id"]) == (str(second.pk), str(first.pk))
    assert (newest["models"], oldest["models"]) == ([BALANCE_ONLY], [IN_PLAN, IN_PLAN])
    for row in (newest, oldest):
        assert row["cost_usd"] == alice.session(row["id"])["cost_usd"] > 0
    assert set(newest) == {
        "id",
        "title",
        "status",
        "activity",
        "round",
        "rounds",
        "models",
        "cost_usd",
        "created_at",
    }


def test_a_page_leads_to_the_next(alice: CouncilClient) -> None:
    for _ in range(3):
        alice.council("Deep.")

    page = alice.get(SESSIONS, limit=2)
    rest = alice.client.get(page.headers["Link"].partition(">")[0].strip("<"))

    assert [len(page.json()), len(rest.json())] == [2, 1]
    assert "Link" not in rest.headers
    assert [row["id"] for row in page.json() + rest.json()] == [row["id"] for row in rows(alice)]


def test_a_longer_list_takes_no_more_queries(alice: CouncilClient) -> None:
    alice.council("Deep.")
    with CaptureQueriesContext(
        connection,
    ) as few:
        rows(alice)
    for _ in range(3):
        alice.council("Deep.", "Blue.")
    with CaptureQueriesContext(connection) as many:
        rows(alice)

    assert len(many) == len(few) <= 6


def test_a_list_brings_no_texts_and_no_single_calls(alice: CouncilClient) -> None:
    """A council may have had ten thousand."""
    session, _ = alice.council("Deep.")
    rows(alice)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE council_generation SET content = repeat('Deep. ', 200000)"
            " WHERE session_id = %s",
            (session.pk,),
        )
        cursor.execute(
            "INSERT INTO council_generation (id, session_id, card_id, turn_id, model, status,"
            " content, finish_reason)"
            " SELECT gen_random_uuid(), session_id, card_id, turn_id, model, status, '',"
            " finish_reason FROM council_generation, generate_series(1, 9999)"
            " WHERE session_id = %s",
            (session.pk,),
        )

    tracemalloc.start()
    [row] = rows(alice)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert row["cost_usd"] > 0
    assert peak < 300_000


def test_without_councils_it_is_empty(alice: CouncilClient) -> None:
    assert rows(alice) == []


def test_a_council_whose_cards_were_removed_stays(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    alice.client.delete(f"{CARDS}/{card.pk}")

    [row] = rows(alice)

    assert (row["models"], row["status"]) == ([], "cancelled")


@pytest.mark.parametrize(
    ("name", "value"), [("limit", "0"), ("limit", "ten"), ("limit", "-1"), ("before", "7")]
)
def test_a_page_that_is_none_is_422(alice: CouncilClient, name: str, value: str) -> None:
    answer = alice.get(SESSIONS, **{name: value})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [name]


def test_a_search_finds_titles(alice: CouncilClient) -> None:
    sea, _ = alice.council("Deep.")
    alice.client.patch(f"{SESSIONS}/{sea.pk}", {"title": "100% Blue_sea"}, format="json")
    alice.council("Wet.")
    for words in ("blue", "SEA", "% b", "e_s", ""):
        found = [row["id"] for row in rows(alice, q=words)]
        assert str(sea.pk) in found
        assert (len(found) == 2) is (words in ("SEA", ""))
    assert rows(alice, q="100_") == []


def test_councils_are_listed_by_status(alice: CouncilClient) -> None:
    done, _ = alice.council("Deep.")
    removed, [card] = alice.council("Deep.")
    alice.client.delete(f"{CARDS}/{card.pk}")
    for status, found in {"completed": [done], "cancelled": [removed], "failed": []}.items():
        assert [row["id"] for row in rows(alice, status=status)] == [str(s.pk) for s in found]


def test_filters_hold_on_the_next_page(alice: CouncilClient) -> None:
    for _ in range(3):
        alice.council("Deep.")
    page = alice.get(SESSIONS, limit=2, q="deep", status="completed")
    assert "q=deep" in page.headers["Link"]
    assert "status=completed" in page.headers["Link"]


@pytest.mark.parametrize("query", [{"status": "queued"}, {"status": ""}, {"q": "x" * 201}])
def test_an_unknown_status_and_a_long_search_are_422(
    alice: CouncilClient, query: dict[str, str]
) -> None:
    answer = alice.get(SESSIONS, **query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == list(query)
