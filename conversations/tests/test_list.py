"""GET /api/conversations: list conversations."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.ids import uuid7
from conftest import Persona
from conversations.models import Conversation, Message, Space
from conversations.tests.rows import ASSISTANT, add, talk

CONVERSATIONS = "/api/conversations"


def rows(persona: Persona, **query: Any) -> list[dict[str, Any]]:
    answer = persona.client.get(CONVERSATIONS, query)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()
    return found


def ids(persona: Persona, **query: Any) -> list[str]:
    return [row["id"] for row in rows(persona, **query)]


def test_the_one_in_which_something_was_said_last_comes_first(alice: Persona) -> None:
    first, second = (talk(alice.user, "How deep?") for _ in range(2))
    assert ids(alice) == [str(second.pk), str(first.pk)]

    Conversation.objects.filter(pk=first.pk).update(activity=uuid7())

    assert ids(alice) == [str(first.pk), str(second.pk)]


def test_a_row_has_no_messages_and_no_instructions(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    sea = talk(
        alice.user, "How deep?", title="The sea", model="gpt-6-luna", space=space, system="Brief."
    )

    [row] = rows(alice)

    shown = alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()
    assert (shown.pop("system"), len(shown.pop("messages"))) == ("Brief.", 1)
    assert row == {**shown, "match": None}
    assert row["id"] == str(sea.pk)
    assert (row["title"], row["model"], row["space_id"]) == ("The sea", "gpt-6-luna", str(space.pk))


def test_a_row_tells_which_reply_is_being_written(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    reply = add(sea, "", role=ASSISTANT, status=Message.Status.RUNNING)
    talk(alice.user, "How high?", "Very.")

    idle, running = rows(alice)

    assert (running["running_message_id"], idle["running_message_id"]) == (str(reply.pk), None)


def test_a_page_leads_to_the_next(alice: Persona) -> None:
    talks = [talk(alice.user, "How deep?") for _ in range(3)]
    # The order is that of activity, not that of the ids.
    Conversation.objects.filter(pk=talks[0].pk).update(activity=uuid7())

    page = alice.client.get(CONVERSATIONS, {"limit": 2})
    rest = alice.client.get(page.headers["Link"].partition(">")[0].strip("<"))

    assert [len(page.json()), len(rest.json())] == [2, 1]
    assert "Link" not in rest.headers
    assert [row["id"] for row in page.json() + rest.json()] == ids(alice)
    assert ids(alice)[0] == str(talks[0].pk)


def test_a_page_leads_on_when_its_last_row_is_gone_or_has_moved_to_the_front(
    alice: Persona,
) -> None:
    oldest, last, *_ = [talk(alice.user, "How deep?") for _ in range(4)]
    page = alice.client.get(CONVERSATIONS, {"limit": 3})
    way_on = page.headers["Link"].partition(">")[0].strip("<")
    assert page.json()[-1]["id"] == str(last.pk)

    Conversation.objects.filter(pk=last.pk).update(activity=uuid7())
    assert [row["id"] for row in alice.client.get(way_on).json()] == [str(oldest.pk)]

    last.delete()
    assert [row["id"] for row in alice.client.get(way_on).json()] == [str(oldest.pk)]


def test_one_space_can_be_listed_alone(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    inside = talk(alice.user, "How deep?", space=space)
    talk(alice.user, "How high?")

    assert ids(alice, space_id=str(space.pk)) == [str(inside.pk)]


def test_a_space_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    space = Space.objects.create(account=bob.user, name="Sea")

    for space_id in (space.pk, uuid4()):
        answer = alice.client.get(CONVERSATIONS, {"space_id": str(space_id)})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_longer_list_takes_no_more_queries(alice: Persona) -> None:
    talk(alice.user, "How deep?")
    with CaptureQueriesContext(connection) as few:
        rows(alice)
    for _ in range(3):
        talk(alice.user, "How deep?", "Very.")
    with CaptureQueriesContext(connection) as many:
        rows(alice)

    assert len(many) == len(few) == 3  # who asks, their place, the rows


def test_without_conversations_it_is_empty(alice: Persona, bob: Persona) -> None:
    talk(bob.user, "How deep?")

    assert rows(alice) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "ten"),
        ("before", "7"),
        ("before", str(UUID(int=7))),
        ("place", "7"),
        ("space_id", "7"),
    ],
)
def test_a_query_that_is_none_is_422(alice: Persona, name: str, value: str) -> None:
    answer = alice.client.get(CONVERSATIONS, {name: value})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [name]


def test_it_needs_a_token(visitor: Any) -> None:
    assert visitor.get(CONVERSATIONS).status_code == 401
