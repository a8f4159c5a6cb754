"""POST /api/council/sessions/{id}/debate: what is asked and answered."""

from typing import Any
from uuid import uuid4

import pytest

from council.models import Session
from council.tests.council_client import SESSIONS, UNDERWAY, CouncilClient, new_council_client

pytestmark = pytest.mark.usefixtures("committed", "providers")

SLOW = 'Be brief.\n@sim {"tokens": 1, "ttft_ms": 3000}'


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def debate(person: CouncilClient, session: Session, **body: Any) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/debate", **body)


def test_a_debate_begins_between_the_named_cards(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.", "Wet.")
    named = [str(card.pk) for card in cards[:2]]

    answer = debate(alice, session, rounds=3, card_ids=named, focus=SLOW)

    assert answer.status_code == 202
    begun = answer.json()
    assert set(begun) == {"turn_id", "rounds", "cards"}
    assert begun["rounds"] == 3
    assert [card["id"] for card in begun["cards"]] == named
    for card in begun["cards"]:
        assert (card["current_version"], card["source"]) == (2, "debate")
        assert card["status"] in UNDERWAY
    found = alice.session(session.pk)
    assert (found["activity"], found["rounds"]) == ("debating", 3)
    assert debate(alice, session).status_code == 409


def test_it_has_one_round_between_all_unless_it_is_said(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")

    begun = debate(alice, session, focus=SLOW).json()

    assert (begun["rounds"], len(begun["cards"])) == (1, len(cards))


def test_fewer_than_two_answers_are_400(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")

    assert debate(alice, session).status_code == 400
    assert debate(alice, session, card_ids=[str(card.pk)]).status_code == 400


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"rounds": 0}, ["rounds"]),
        ({"rounds": 4}, ["rounds"]),
        ({"rounds": -1}, ["rounds"]),
        ({"rounds": 10**99}, ["rounds"]),
        ({"rounds": "2"}, ["rounds"]),
        ({"rounds": 2.0}, ["rounds"]),
        ({"rounds": True}, ["rounds"]),
        ({"rounds": None}, ["rounds"]),
        ({"focus": "x" * 4_001}, ["focus"]),
        ({"focus": 7}, ["focus"]),
        ({"card_ids": {}}, ["card_ids"]),
        ({"card_ids": [None]}, ["card_ids", 0]),
        ({"card_ids": [7]}, ["card_ids", 0]),
        ({"card_ids": [str(uuid4())] * 2}, ["card_ids"]),
    ],
)
def test_what_is_no_debate_is_422_and_named(
    alice: CouncilClient, body: dict[str, Any], place: list[str | int]
) -> None:
    session, _ = alice.council("Deep.", "Blue.")

    answer = debate(alice, session, **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == place
    assert alice.session(session.pk)["status"] == "completed"
