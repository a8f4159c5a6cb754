"""POST /api/council/sessions/{id}/chat: message the whole council."""

from typing import Any

import pytest
from django.db import transaction

from ai.inference.errors import UpstreamFailed
from council.models import Generation, Session
from council.services import merges, sessions
from council.tests import manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)
from council.types import MergeMode

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def chat(person: CouncilClient, session: Session, content: Any = QUESTION) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/chat", content=content)


def test_every_card_that_answers_is_asked(alice: CouncilClient) -> None:
    with transaction.atomic():
        session, cards = alice.council("Deep.", "Blue.")
        merge = merges.merge(user=alice.user, session_id=session.pk, mode=MergeMode.FUSE)
        manual.answer(merge, "Deep blue.")

    answer = chat(alice, session)

    assert answer.status_code == 202
    begun = answer.json()
    assert set(begun) == {"turn_id", "message", "cards"}
    assert begun["message"]["turn_id"] == begun["turn_id"]
    assert (begun["message"]["card_id"], begun["message"]["content"]) == (None, QUESTION)
    assert [card["id"] for card in begun["cards"]] == [str(card.pk) for card in cards]
    for card in begun["cards"]:
        assert (card["current_version"], card["source"]) == (2, "message")
        assert card["status"] in UNDERWAY
        *_, asked, reply = alice.get(f"{CARDS}/{card['id']}/messages").json()
        assert asked["turn_id"] == reply["turn_id"] == begun["turn_id"]
    assert alice.session(session.pk)["activity"] == "chatting"


def test_a_card_without_a_finished_answer_is_passed_over(alice: CouncilClient) -> None:
    session, [failed, other] = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=failed.pk)
        manual.begin(failed).release(UpstreamFailed())

    begun = chat(alice, session).json()

    assert [card["id"] for card in begun["cards"]] == [str(other.pk)]


def test_where_no_card_has_an_answer_it_is_409(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        manual.begin(card).release(UpstreamFailed())

    assert chat(alice, session).status_code == 409


def test_a_card_that_is_being_written_is_passed_over(alice: CouncilClient) -> None:
    session, [slow, other] = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=slow.pk)
        call = manual.begin(slow)

    begun = chat(alice, session).json()

    assert [card["id"] for card in begun["cards"]] == [str(other.pk)]
    call.settle("Deep.")


def test_where_all_are_being_written_it_is_409(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)

    answer = chat(alice, session)

    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_answer")
    call.settle("Deep.")


def test_while_a_chat_goes_on_it_is_409(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    assert chat(alice, session).status_code == 202

    answer = chat(alice, session)

    assert (answer.status_code, answer.json()["code"]) == (409, "session_busy")


@pytest.mark.parametrize("content", ["", "\n", None, 0, "x" * 100_001])
def test_what_is_no_message_is_422(alice: CouncilClient, content: Any) -> None:
    session, _ = alice.council("Deep.")

    answer = chat(alice, session, content)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["content"]
    assert Generation.objects.filter(session=session).count() == 1
