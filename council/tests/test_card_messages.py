"""POST and GET /api/council/cards/{id}/messages: the conversation with one card."""

from typing import Any

import pytest
from django.db import transaction

from ai.inference.errors import UpstreamFailed
from billing.tests.bank import IN_PLAN
from council.models import Card, Message
from council.services import conversation, sessions
from council.tests import manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


@pytest.fixture
def card(alice: CouncilClient) -> Card:
    _, [card] = alice.council("Deep.")
    return card


def say(person: CouncilClient, card: Card, content: Any) -> Any:
    return person.post(f"{CARDS}/{card.pk}/messages", content=content)


def thread(person: CouncilClient, card: Card, **query: Any) -> list[dict[str, Any]]:
    answer = person.get(f"{CARDS}/{card.pk}/messages", **query)
    assert answer.status_code == 200
    said: list[dict[str, Any]] = answer.json()
    return said


def exchange(person: CouncilClient, card: Card, content: str, reply: str) -> None:
    with transaction.atomic():
        conversation.message_card(user=person.user, card_id=card.pk, content=content)
        manual.answer(card, reply)


def test_a_message_is_taken_and_its_reply_begins(alice: CouncilClient, card: Card) -> None:
    answer = say(alice, card, QUESTION)

    assert answer.status_code == 202
    begun = answer.json()
    assert set(begun) == {"message", "card"}
    message, answering = begun["message"], begun["card"]
    assert set(message) == {"id", "card_id", "turn_id", "role", "content", "created_at"}
    assert (message["card_id"], message["role"]) == (str(card.pk), "user")
    assert message["content"] == QUESTION
    *_, asked, reply = thread(alice, card)
    assert (asked["id"], asked["turn_id"]) == (message["id"], message["turn_id"])
    assert (reply["turn_id"], reply["version"]) == (message["turn_id"], 2)
    [shown] = alice.session(card.session_id)["cards"]
    assert set(answering) == set(shown)
    for state in (answering, shown):
        assert (state["id"], state["current_version"]) == (str(card.pk), 2)
        assert state["source"] == "message"
        assert state["status"] in UNDERWAY


def test_the_conversation_is_listed_oldest_first(alice: CouncilClient, card: Card) -> None:
    exchange(alice, card, "How blue?", "Blue.")

    said = thread(alice, card)

    assert [(each["role"], each["content"], each["version"]) for each in said] == [
        ("user", QUESTION, None),
        ("assistant", "Deep.", 1),
        ("user", "How blue?", None),
        ("assistant", "Blue.", 2),
    ]
    assert [each["model"] for each in said] == [None, IN_PLAN, None, IN_PLAN]
    assert {each["card_id"] for each in said} == {str(card.pk)}


def test_a_limit_keeps_the_newest(alice: CouncilClient, card: Card) -> None:
    exchange(alice, card, "How blue?", "Blue.")

    newest = thread(alice, card, limit=2)

    assert [each["content"] for each in newest] == ["How blue?", "Blue."]
    assert len(thread(alice, card, limit=1_000_000)) == 4


@pytest.mark.parametrize("limit", ["0", "-1", "two", "1.5", ""])
def test_a_limit_that_is_none_is_422(alice: CouncilClient, card: Card, limit: str) -> None:
    answer = alice.get(f"{CARDS}/{card.pk}/messages", limit=limit)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["limit"]


@pytest.mark.parametrize("content", ["", " ", None, 7, "x" * 100_001, ["hello"]])
def test_what_is_no_message_is_422(alice: CouncilClient, card: Card, content: Any) -> None:
    answer = say(alice, card, content)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["content"]
    assert not Message.objects.filter(session=card.session_id).exists()


def test_a_card_that_is_being_written_is_409(alice: CouncilClient, card: Card) -> None:
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)

    assert say(alice, card, QUESTION).status_code == 409
    call.settle("Very deep.")


def test_a_card_without_a_finished_answer_is_409(alice: CouncilClient, card: Card) -> None:
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        manual.begin(card).release(UpstreamFailed())

    answer = say(alice, card, QUESTION)

    assert answer.status_code == 409
    assert "Regenerate" in answer.json()["detail"]
