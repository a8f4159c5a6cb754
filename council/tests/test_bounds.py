"""How many councils and cards an account may leave behind, whether or not they cost anything."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from billing.tests.bank import IN_PLAN
from common.ids import uuid7
from council.models import Card, Session
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)
from council.types import MAX_CARDS, MAX_CARDS_EVER, MAX_SESSIONS_PER_DAY

pytestmark = pytest.mark.usefixtures("committed", "providers")

BODY: dict[str, Any] = {"prompt": QUESTION, "models": [IN_PLAN]}


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def test_the_last_council_of_a_day_is_begun_and_one_more_is_429(alice: CouncilClient) -> None:
    _begin(alice, MAX_SESSIONS_PER_DAY - 1, hours_ago=23)
    assert alice.post(SESSIONS, key="the last", **BODY).status_code == 201

    for path in (SESSIONS, f"{SESSIONS}/estimate"):
        answer = alice.post(path, **BODY)
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_sessions")
        assert 3500 < int(answer.headers["Retry-After"]) <= 3600
    assert Session.objects.filter(account=alice.user).count() == MAX_SESSIONS_PER_DAY
    assert alice.post(SESSIONS, key="the last", **BODY).status_code == 201
    assert new_council_client("bob").post(SESSIONS, **BODY).status_code == 201


def test_councils_of_the_day_before_do_not_count(alice: CouncilClient) -> None:
    _begin(alice, 1, hours_ago=24)
    _begin(alice, MAX_SESSIONS_PER_DAY - 1, hours_ago=0)

    assert alice.post(SESSIONS, **BODY).status_code == 201
    assert alice.post(SESSIONS, **BODY).status_code == 429


def test_removed_cards_count_until_a_council_has_had_its_last_one(alice: CouncilClient) -> None:
    session, [first, _] = alice.council("Deep.", "Blue.")
    _remove(session, MAX_CARDS_EVER - 3)
    path = f"{SESSIONS}/{session.pk}"

    added = alice.post(f"{path}/cards", model_key=IN_PLAN)
    assert added.status_code == 201
    assert alice.client.delete(f"{CARDS}/{added.json()['id']}").status_code == 204

    for refused in ("/cards", "/merge", "/merge/estimate"):
        answer = alice.post(f"{path}{refused}", model_key=IN_PLAN)
        assert (answer.status_code, answer.json()["code"]) == (409, "too_many_cards")
        assert "Begin a new one." in answer.json()["detail"]
    assert session.cards.count() == MAX_CARDS_EVER
    # What is there goes on.
    again = alice.post(f"{CARDS}/{first.pk}/regenerate")
    assert again.json()["status"] in UNDERWAY


def test_a_merge_counts_as_a_card(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    _remove(session, MAX_CARDS_EVER - 3)

    assert alice.post(f"{SESSIONS}/{session.pk}/merge").status_code == 202
    assert alice.post(f"{SESSIONS}/{session.pk}/cards", model_key=IN_PLAN).status_code == 409


def test_a_council_that_is_full_says_how_to_make_room(alice: CouncilClient) -> None:
    session, _ = alice.council(*["Deep."] * MAX_CARDS)

    answer = alice.post(f"{SESSIONS}/{session.pk}/cards", model_key=IN_PLAN)

    assert "Remove one first." in answer.json()["detail"]


def _begin(person: CouncilClient, count: int, *, hours_ago: int) -> None:
    moment = datetime.now(UTC) - timedelta(hours=hours_ago)
    Session.objects.bulk_create(
        Session(
            id=uuid7(moment), account=person.user, title="", prompt=QUESTION, status="completed"
        )
        for _ in range(count)
    )


def _remove(session: Session, count: int) -> None:
    """So many cards have been there and were removed."""
    Card.objects.bulk_create(Card(session=session, removed_at=timezone.now()) for _ in range(count))
