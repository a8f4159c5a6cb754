"""PUT and DELETE …/messages/{message_id}/feedback: what the user thinks of a reply."""

from typing import Any

import pytest

from conftest import Persona
from conversations.models import Conversation, Feedback
from conversations.selectors.messages import get_message, state_of
from conversations.tests.rows import talk
from tests.operators import new_operator

CONVERSATIONS = "/api/conversations"


@pytest.fixture
def sea(alice: Persona) -> Conversation:
    return talk(alice.user, "How deep is the sea?", "Very.")


def path(conversation: Conversation, message: object = None) -> str:
    return f"{CONVERSATIONS}/{conversation.pk}/messages/{message or conversation.leaf_id}"


def rate(persona: Persona, conversation: Conversation, **body: Any) -> Any:
    return persona.client.put(f"{path(conversation)}/feedback", body, format="json")


def test_it_is_shown_in_the_message(alice: Persona, sea: Conversation) -> None:
    answer = rate(alice, sea, rating="down", comment="Too short.")

    feedback = {"rating": "down", "comment": "Too short."}
    assert (answer.status_code, answer.json()) == (200, feedback)
    assert alice.client.get(path(sea)).json()["feedback"] == feedback
    question, reply = alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()["messages"]
    assert (question["feedback"], reply["feedback"]) == (None, feedback)
    assert alice.client.get(f"{CONVERSATIONS}/{sea.pk}/messages").json()[0]["feedback"] == feedback


def test_it_replaces_what_was_said_before(alice: Persona, sea: Conversation) -> None:
    rate(alice, sea, rating="down", comment="Too short.")

    rate(alice, sea, rating="up")

    assert alice.client.get(path(sea)).json()["feedback"] == {"rating": "up", "comment": None}
    assert Feedback.objects.count() == 1


def test_it_can_be_taken_back(alice: Persona, sea: Conversation) -> None:
    rate(alice, sea, rating="up")

    assert alice.client.delete(f"{path(sea)}/feedback").status_code == 204

    assert alice.client.get(path(sea)).json()["feedback"] is None
    assert alice.client.delete(f"{path(sea)}/feedback").status_code == 404


def test_replies_alone_are_rated(alice: Persona, sea: Conversation) -> None:
    question = path(sea, sea.messages.order_by("id")[0].pk)

    for method in (alice.client.put, alice.client.delete):
        answer = method(f"{question}/feedback", {"rating": "up"}, format="json")
        assert answer.status_code == 404
    assert not Feedback.objects.exists()


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, "rating"),
        ({"rating": "great"}, "rating"),
        ({"rating": 1}, "rating"),
        ({"rating": "up", "comment": "x" * 2001}, "comment"),
        ({"rating": "up", "comment": 7}, "comment"),
    ],
)
def test_what_is_no_feedback_is_422(
    alice: Persona, sea: Conversation, body: dict[str, Any], loc: str
) -> None:
    answer = rate(alice, sea, **body)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, [loc])


def test_it_goes_with_the_conversation(alice: Persona, sea: Conversation) -> None:
    rate(alice, sea, rating="up")

    alice.client.delete(f"{CONVERSATIONS}/{sea.pk}")

    assert not Feedback.objects.exists()


def test_reading_it_takes_no_query_of_its_own(
    alice: Persona, sea: Conversation, django_assert_num_queries: Any
) -> None:
    rate(alice, sea, rating="up")
    reply = sea.messages.order_by("id")[1].pk

    with django_assert_num_queries(2):
        state = state_of(alice.user, get_message(alice.user, sea.pk, reply))

    assert state.feedback == {"rating": "up", "comment": None}


def test_operators_read_it_and_not_what_was_said(alice: Persona, sea: Conversation) -> None:
    rate(alice, sea, rating="down", comment="It is deeper.")
    operator = new_operator()

    for page in ("conversations/feedback/", f"conversations/feedback/{sea.leaf_id}/change/"):
        shown = operator.get(page)
        for word in ("It is deeper.", "gpt-6-luna", alice.user.email):
            assert word in shown
        assert "How deep" not in shown
        assert "Very." not in shown
    assert "It is deeper." not in operator.get("conversations/feedback/?rating__exact=up")
