"""POST /api/council/sessions/{id}/merge: what is asked and answered; test_merge.py has the rest."""

from typing import Any
from uuid import uuid4

import pytest

from billing.tests.bank import BALANCE_ONLY
from council.models import Session
from council.tests.council_client import (
    CARDS,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)
from council.types import MAX_CARDS

pytestmark = pytest.mark.usefixtures("committed", "providers")

SLOW = 'Be brief.\n@sim {"tokens": 1, "ttft_ms": 3000}'


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def merge(person: CouncilClient, session: Session, **body: Any) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/merge", **body)


def test_a_merge_begins_on_a_card_of_its_own(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.", "Wet.")
    named = [str(card.pk) for card in cards[:2]]

    answer = merge(
        alice,
        session,
        card_ids=named,
        model_key=BALANCE_ONLY,
        mode="guided",
        instructions=SLOW,
    )

    assert answer.status_code == 202
    card = answer.json()
    assert (card["kind"], card["model"], card["source"]) == ("merge", BALANCE_ONLY, "merge")
    assert card["status"] in UNDERWAY
    details = card["details"]
    assert (details["mode"], details["instructions"]) == ("guided", SLOW)
    assert sorted(source["card_id"] for source in details["sources"]) == sorted(named)
    assert alice.session(session.pk)["activity"] == "merging"
    assert merge(alice, session).status_code == 409


def test_fewer_than_two_answers_are_400(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")

    options: list[dict[str, Any]] = [{}, {"card_ids": [str(card.pk)]}, {"card_ids": []}]
    for option in options:
        answer = merge(alice, session, **option)
        assert answer.status_code == 400
        assert "two" in answer.json()["detail"]


def test_a_card_of_another_council_is_404(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")
    _, [elsewhere] = alice.council("Wet.")

    for other in (elsewhere.pk, uuid4()):
        answer = merge(alice, session, card_ids=[str(cards[0].pk), str(other)])
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert answer.json()["detail"] == "This council has no such card."


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"mode": "best"}, ["mode"]),
        ({"mode": None}, ["mode"]),
        ({"mode": "guided"}, ["instructions"]),
        ({"mode": "custom", "instructions": " "}, ["instructions"]),
        ({"instructions": "x" * 4_001}, ["instructions"]),
        ({"model_key": "no-such-model"}, ["model_key"]),
        ({"card_ids": "all"}, ["card_ids"]),
        ({"card_ids": None}, ["card_ids"]),
        ({"card_ids": ["no-id"]}, ["card_ids", 0]),
        ({"card_ids": [str(uuid4())] * (2 * MAX_CARDS + 1)}, ["card_ids"]),
        ({"card_ids": [str(uuid4())] * 2}, ["card_ids"]),
    ],
)
def test_what_is_no_merge_is_422_and_named(
    alice: CouncilClient, body: dict[str, Any], place: list[str | int]
) -> None:
    session, _ = alice.council("Deep.", "Blue.")

    answer = merge(alice, session, **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == place
    assert alice.session(session.pk)["status"] == "completed"


def test_a_merge_can_be_taken_off(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    card = merge(alice, session, mode="custom", instructions=SLOW).json()

    assert alice.client.delete(f"{CARDS}/{card['id']}").status_code == 204
    assert len(alice.session(session.pk)["cards"]) == 2
