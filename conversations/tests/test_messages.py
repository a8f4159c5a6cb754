"""GET /api/conversations/{id}/messages and …/messages/{message_id}: messages in pages, and one."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.ids import uuid7
from conftest import Persona
from conversations.models import Conversation
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.test_detail import attached, running_reply

CONVERSATIONS = "/api/conversations"


def path(conversation: Conversation, message: object = None) -> str:
    base = f"{CONVERSATIONS}/{conversation.pk}/messages"
    return base if message is None else f"{base}/{message}"


def page(persona: Persona, conversation: Conversation, **query: Any) -> list[str]:
    """The texts of a page."""
    answer = persona.client.get(path(conversation), query)
    assert answer.status_code == 200, answer.content
    return [message["content"] for message in answer.json()]


def links(answer: Any) -> dict[str, str]:
    parts = answer.headers.get("Link", "").split(", ")
    named = (part.rpartition("; rel=") for part in parts if part)
    return {name.strip('"'): url.strip("<>") for url, _, name in named}


def test_they_come_newest_first_and_as_the_detail_has_them(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.", "And how blue?")
    attached(sea.messages.order_by("id")[0], alice.user, "a.txt")

    messages = alice.client.get(path(sea)).json()

    whole = alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()["messages"]
    assert messages == whole[::-1]
    assert messages[2]["attachments"][0]["url"]


def test_pages_lead_to_older_ones_and_back(alice: Persona) -> None:
    sea = talk(alice.user, *"abcde")

    first = alice.client.get(path(sea), {"limit": 2})
    second = alice.client.get(links(first)["next"])
    third = alice.client.get(links(second)["next"])
    back = alice.client.get(links(third)["prev"])
    front = alice.client.get(links(back)["prev"])

    pages = [[m["content"] for m in each.json()] for each in (first, second, third, back, front)]
    assert pages == [["e", "d"], ["c", "b"], ["a"], ["c", "b"], ["e", "d"]]
    assert [sorted(links(each)) for each in (first, second, third, back, front)] == [
        ["next"],
        ["next", "prev"],
        ["prev"],
        ["next", "prev"],
        ["next"],
    ]


def test_what_has_come_since_a_message_can_be_asked_for(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    last = sea.leaf_id
    assert page(alice, sea, after=last) == []

    add(sea, "Very.", role=ASSISTANT)
    add(sea, "Why?")

    assert page(alice, sea, after=last) == ["Why?", "Very."]
    assert page(alice, sea, after=last, limit=1) == ["Very."]


def test_a_link_is_good_when_its_message_is_gone(alice: Persona) -> None:
    sea = talk(alice.user, *"abcd")
    first = alice.client.get(path(sea), {"limit": 2})
    sea.messages.update(parent=None)
    sea.messages.filter(pk=first.json()[-1]["id"]).delete()

    assert [m["content"] for m in alice.client.get(links(first)["next"]).json()] == ["b", "a"]


def test_one_branch_can_be_read_alone(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.", "Why?")
    question, first, why = sea.messages.order_by("id")
    add(sea, "Eleven kilometres.", role=ASSISTANT, parent=question)

    assert page(alice, sea, branch="active") == ["Eleven kilometres.", "How deep?"]
    assert page(alice, sea, branch=why.pk) == ["Why?", "Very.", "How deep?"]
    assert page(alice, sea, branch=why.pk, before=why.pk, limit=1) == ["Very."]
    assert page(alice, sea, branch=first.pk) == ["Very.", "How deep?"]
    assert page(alice, talk(alice.user), branch="active") == []
    assert len(page(alice, sea)) == 4


def test_a_branch_ends_with_a_message_of_the_conversation(alice: Persona, bob: Persona) -> None:
    sea, other = talk(alice.user, "How deep?"), talk(alice.user, "How high?")
    foreign = talk(bob.user, "How far?")

    refusals = [
        alice.client.get(path(sea), {"branch": str(branch)})
        for branch in (uuid4(), other.leaf_id, foreign.leaf_id)
    ]

    assert {(each.status_code, each.content) for each in refusals} == {
        (404, refusals[0].content),
    }
    assert "`branch`" in refusals[0].json()["detail"]


def test_a_place_in_another_conversation_shows_nothing_of_it(alice: Persona, bob: Persona) -> None:
    sea, foreign = talk(alice.user, "How deep?"), talk(bob.user, "How far?", "Far.")

    assert page(alice, sea, before=foreign.leaf_id) == ["How deep?"]
    assert page(alice, sea, after=foreign.leaf_id) == []


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"before": "7"},
        {"after": "7"},
        {"branch": "7"},
        {"after": str(uuid7()), "before": str(uuid7())},
    ],
)
def test_a_query_that_is_none_is_422(alice: Persona, query: dict[str, str]) -> None:
    answer = alice.client.get(path(talk(alice.user, "How deep?")), query)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [next(iter(query))]


def test_a_page_takes_as_many_queries_however_long_it_is(alice: Persona) -> None:
    def queries(conversation: Conversation) -> int:
        with CaptureQueriesContext(connection) as made:
            page(alice, conversation)
        return len(made)

    short, long = talk(alice.user, "a", "b"), talk(alice.user, *"abcdefghij")
    for message in long.messages.filter(role="user"):
        attached(message, alice.user, "a.txt")

    assert queries(short) == queries(long) == 6


def test_one_message_is_as_the_detail_has_it(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.")
    question, reply = sea.messages.order_by("id")
    attached(question, alice.user, "a.txt")

    shown = [alice.client.get(path(sea, message.pk)).json() for message in (question, reply)]

    assert shown == alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()["messages"]


def test_a_running_one_has_the_text_that_has_come(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    reply = running_reply(sea, ("text", "Ve"), ("text", "ry"))

    shown = alice.client.get(path(sea, reply.pk)).json()

    assert (shown["status"], shown["content"]) == ("running", "Very")
    assert page(alice, sea) == ["Very", "How deep?"]


def test_a_conversation_can_be_read_without_its_messages(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", system="Be brief.")
    reply = running_reply(sea)
    whole = alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()

    with CaptureQueriesContext(connection) as made:
        alone = alice.client.get(f"{CONVERSATIONS}/{sea.pk}", {"messages": "none"}).json()

    assert alone == {**whole, "messages": None}
    assert alone["running_message_id"] == str(reply.pk)
    assert len(made) == 2
    answer = alice.client.get(f"{CONVERSATIONS}/{sea.pk}", {"messages": "some"})
    assert answer.status_code == 422


def test_the_link_to_a_file_is_the_same_as_among_the_files_of_the_message(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    upload = attached(sea.messages.get(), alice.user, "a.txt")

    [file] = alice.client.get(path(sea, sea.leaf_id)).json()["attachments"]

    assert [file] == alice.client.get(f"/api/files/{sea.leaf_id}").json()
    assert file["id"] == str(upload.pk)
