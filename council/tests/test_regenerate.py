"""POST /api/council/cards/{id}/regenerate: write a card's answer again."""

from typing import Any

import pytest
from django.db import transaction

from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from council.models import Card
from council.selectors.prompts import messages_for
from council.services import sessions
from council.tests import manual
from council.tests.council_client import CARDS, UNDERWAY, CouncilClient, new_council_client

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


@pytest.fixture
def card(alice: CouncilClient) -> Card:
    _, [card] = alice.council("Deep.")
    return card


def regenerate(person: CouncilClient, card: Card, **body: Any) -> Any:
    return person.post(f"{CARDS}/{card.pk}/regenerate", **body)


def test_the_next_version_begins_and_the_older_ones_stay(alice: CouncilClient, card: Card) -> None:
    answer = regenerate(alice, card)

    assert answer.status_code == 202
    state = answer.json()
    assert (state["id"], state["model"]) == (str(card.pk), IN_PLAN)
    assert (state["current_version"], state["source"]) == (2, "regenerate")
    assert state["status"] in UNDERWAY
    rows = alice.get(f"{CARDS}/{card.pk}/versions").json()
    assert [row["version"] for row in rows] == [2, 1]


def test_another_model_may_write_it_and_heed_instructions(alice: CouncilClient, card: Card) -> None:
    body = {"model_key": BALANCE_ONLY, "instructions": "In French."}

    state = regenerate(alice, card, **body).json()

    assert state["model"] == BALANCE_ONLY
    version = card.versions.get(number=2)
    [message] = messages_for(card.session, card, version)
    assert message.text.endswith("In French.")


def test_a_card_that_is_being_written_is_409(alice: CouncilClient, card: Card) -> None:
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)

    answer = regenerate(alice, card)

    assert answer.status_code == 409
    assert "written" in answer.json()["detail"]
    call.settle("Very deep.")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model_key", "no-such-model"),
        ("model_key", "gpt-image-2.5-flare"),
        ("model_key", ""),
        ("model_key", 5),
        ("instructions", "x" * 4_001),
        ("instructions", {}),
    ],
)
def test_what_cannot_be_heeded_is_422_and_named(
    alice: CouncilClient, card: Card, field: str, value: Any
) -> None:
    answer = regenerate(alice, card, **{field: value})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]
    assert card.versions.count() == 1
