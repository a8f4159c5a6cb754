"""POST /api/council/cards/{id}/continue: from a card's answer into a conversation."""

from typing import Any

import pytest
from django.db import transaction

from ai.inference.errors import UpstreamFailed
from billing.models import Charge
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from conversations.models import Conversation
from council.models import Card, Session
from council.services import conversation, merges, sessions
from council.tests import manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)
from council.types import MergeMode
from events.tests.streams import user_events

pytestmark = pytest.mark.usefixtures("committed", "providers")

CONVERSATIONS = "/api/conversations"


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def go_on(person: CouncilClient, card: Card, key: str | None = None) -> Any:
    return person.post(f"{CARDS}/{card.pk}/continue", key=key)


def said(detail: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(each["role"], each["content"], each["model"]) for each in detail["messages"]]


def test_it_begins_with_the_question_and_the_answer(alice: CouncilClient) -> None:
    _, [card, _] = alice.council("Deep.", "Blue.", model=BALANCE_ONLY)

    answer = go_on(alice, card)

    assert answer.status_code == 201
    made = answer.json()
    assert said(made) == [("user", QUESTION, None), ("assistant", "Deep.", BALANCE_ONLY)]
    assert (made["title"], made["model"]) == ("How deep is the sea?", BALANCE_ONLY)
    question, reply = made["messages"]
    assert (question["parent_id"], reply["parent_id"]) == (None, question["id"])
    assert made["active_leaf_id"] == reply["id"]
    assert (reply["status"], reply["finish_reason"], reply["usage"]) == ("completed", "stop", None)
    assert alice.get(f"{CONVERSATIONS}/{made['id']}").json() == made
    assert [row["id"] for row in alice.get(CONVERSATIONS).json()] == [made["id"]]


def test_it_costs_nothing(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    charges = Charge.objects.filter(account=alice.user).count()
    go_on(alice, card)
    assert Charge.objects.filter(account=alice.user).count() == charges


def test_it_goes_on_from_the_version_that_is_shown(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk, model=BALANCE_ONLY)
        manual.answer(card, "Very deep.")
    assert said(go_on(alice, card).json())[1] == ("assistant", "Very deep.", BALANCE_ONLY)
    sessions.restore(user=alice.user, card_id=card.pk, number=1)
    assert said(go_on(alice, card).json())[1] == ("assistant", "Deep.", IN_PLAN)


def test_a_title_that_its_user_gave_stays_whatever_is_deleted(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    path = f"{SESSIONS}/{session.pk}"
    assert alice.client.patch(path, {"title": "Budget"}, format="json").status_code == 200
    named = go_on(alice, card).json()
    alice.client.patch(path, {"title": ""}, format="json")
    unnamed = go_on(alice, card).json()

    for made in (named, unnamed):
        for message in reversed(made["messages"]):
            gone = alice.client.delete(f"{CONVERSATIONS}/{made['id']}/messages/{message['id']}")
            assert gone.status_code == 204

    titles = [
        alice.get(f"{CONVERSATIONS}/{made['id']}").json()["title"] for made in (named, unnamed)
    ]
    assert (named["title"], unnamed["title"]) == ("Budget", "How deep is the sea?")
    assert titles == ["Budget", ""]


def test_what_was_said_to_the_card_since_is_there(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    with transaction.atomic():
        conversation.message_card(user=alice.user, card_id=card.pk, content="How blue?")
        manual.answer(card, "Blue.")
    assert [text for _, text, _ in said(go_on(alice, card).json())] == [
        QUESTION,
        "Deep.",
        "How blue?",
        "Blue.",
    ]


def test_so_it_does_from_a_merge_and_with_the_councils_system(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    Session.objects.filter(pk=session.pk).update(system="Be brief.")
    with transaction.atomic():
        card = merges.merge(user=alice.user, session_id=session.pk, mode=MergeMode.FUSE)
        manual.answer(card, "Deep blue.")
    made = go_on(alice, card).json()
    assert [text for _, text, _ in said(made)] == [QUESTION, "Deep blue."]
    assert made["system"] == "Be brief."


def test_a_double_click_begins_one(alice: CouncilClient) -> None:
    _, [card, other] = alice.council("Deep.", "Blue.")
    answers = [go_on(alice, card, "one") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    replays = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert replays == [None, "true"]
    assert go_on(alice, other, "one").status_code == 201  # a name is of its address
    assert Conversation.objects.filter(account=alice.user).count() == 2


def test_the_lists_of_all_devices_have_it(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    go_on(alice, card)
    [row] = alice.get(CONVERSATIONS).json()
    del row["match"]
    assert user_events(alice.user)[-1] == ("conversation.created", {"conversation": row})


def test_without_a_finished_answer_there_is_nothing_to_go_on_from(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)
    running = go_on(alice, card)
    call.release(UpstreamFailed())
    failed = go_on(alice, card)
    for answer in (running, failed):
        assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_answer")
    assert not Conversation.objects.filter(account=alice.user).exists()


def test_others_cards_and_removed_ones_are_404(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    assert go_on(new_council_client("bob"), card).status_code == 404
    alice.client.delete(f"{CARDS}/{card.pk}")
    assert go_on(alice, card).status_code == 404


def test_one_that_was_begun_and_deleted_since_is_404(alice: CouncilClient) -> None:
    _, [card] = alice.council("Deep.")
    made = go_on(alice, card, "one").json()
    alice.client.delete(f"{CONVERSATIONS}/{made['id']}")
    answer = go_on(alice, card, "one")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "What this request began has been deleted."
