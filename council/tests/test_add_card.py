"""POST /api/council/sessions/{id}/cards: add a model's card."""

from typing import Any

import pytest

from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from council.models import Card, Generation
from council.selectors.prompts import messages_for
from council.tests import log
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def test_it_answers_the_same_question_blind(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")

    answer = alice.post(f"{SESSIONS}/{session.pk}/cards", model_key=BALANCE_ONLY)

    assert answer.status_code == 201
    card = answer.json()
    assert (card["model"], card["kind"], card["current_version"]) == (BALANCE_ONLY, "answer", 1)
    assert card["status"] in UNDERWAY
    assert alice.session(session.pk)["cards"][-1]["id"] == card["id"]
    added = Card.objects.get(pk=card["id"])
    [message] = messages_for(session, added, added.versions.get())
    assert (message.role, message.text) == ("user", QUESTION)


def test_it_may_answer_a_question_of_its_own(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    body = {"model_key": IN_PLAN, "prompt": f"Another one?\n{QUESTION}"}

    card = alice.post(f"{SESSIONS}/{session.pk}/cards", **body).json()

    assert card["prompt"] == body["prompt"]
    prompts = [each["prompt"] for each in alice.session(session.pk)["cards"]]
    assert prompts == [None, body["prompt"]]
    created = log.data_of(session.pk, "card.created")
    assert [each["card"]["prompt"] for each in created] == prompts
    [question, _] = alice.get(f"{CARDS}/{card['id']}/messages").json()
    assert question["content"] == body["prompt"]
    assert alice.session(session.pk)["prompt"] == QUESTION


def test_a_ninth_card_is_409_until_one_is_removed(alice: CouncilClient) -> None:
    session, cards = alice.council(*["Deep."] * 8)
    path = f"{SESSIONS}/{session.pk}/cards"

    assert alice.post(path, model_key=IN_PLAN).status_code == 409
    alice.client.delete(f"{CARDS}/{cards[0].pk}")
    assert alice.post(path, model_key=IN_PLAN).status_code == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "model_key"),
        ({"model_key": "no-such-model"}, "model_key"),
        ({"model_key": "text-embedding-3-small"}, "model_key"),
        ({"model_key": None}, "model_key"),
        ({"model_key": IN_PLAN, "prompt": 7}, "prompt"),
        ({"model_key": IN_PLAN, "prompt": "x" * 100_001}, "prompt"),
    ],
)
def test_what_is_no_card_is_422_and_named(
    alice: CouncilClient, body: dict[str, Any], field: str
) -> None:
    session, _ = alice.council("Deep.")

    answer = alice.post(f"{SESSIONS}/{session.pk}/cards", **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]
    assert Generation.objects.filter(session=session).count() == 1
