"""POST /api/conversations/delete: several conversations at once."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conftest import Persona
from conversations.models import Conversation, Feedback, Message, Share
from conversations.tests.rows import ASSISTANT, USER, talk
from conversations.tests.test_delete import attach, new_upload

PATH = "/api/conversations/delete"
RATING = {"rating": "up"}


def delete(persona: Persona, *ids: object) -> Any:
    return persona.client.post(PATH, {"ids": [str(each) for each in ids]}, format="json")


def test_they_are_gone_with_what_was_said(alice: Persona) -> None:
    first, second, kept = (talk(alice.user, "How deep?", "Very.") for _ in range(3))
    own, shared = new_upload(alice), new_upload(alice)
    attach(first.messages.order_by("id")[0], own, shared)
    attach(kept.messages.order_by("id")[0], shared)

    answer = delete(alice, first.pk, second.pk)

    assert answer.status_code == 200
    assert set(answer.json()["deleted"]) == {str(first.pk), str(second.pk)}
    assert list(Conversation.objects.all()) == [kept]
    assert Message.objects.count() == 2
    own.refresh_from_db()
    shared.refresh_from_db()
    assert own.expires_at is not None
    assert shared.expires_at is None


def test_others_and_those_that_are_gone_are_left_out_without_a_word(
    alice: Persona, bob: Persona
) -> None:
    mine, foreign = talk(alice.user, "How deep?"), talk(bob.user, "How far?")

    answer = delete(alice, foreign.pk, mine.pk, uuid4(), mine.pk)

    assert (answer.status_code, answer.json()) == (200, {"deleted": [str(mine.pk)]})
    assert delete(alice, foreign.pk, uuid4()).json() == {"deleted": []}
    assert Conversation.objects.get() == foreign


def test_more_of_them_take_no_more_queries(alice: Persona) -> None:
    def queries(count: int) -> int:
        talks = [talk(alice.user, "How deep?", "Very.") for _ in range(count)]
        with CaptureQueriesContext(connection) as made:
            assert len(delete(alice, *(each.pk for each in talks)).json()["deleted"]) == count
        return len(made)

    assert queries(2) == queries(20)


def test_more_messages_take_no_more_queries_and_none_reads_them(alice: Persona) -> None:
    def made(count: int) -> CaptureQueriesContext:
        sea = talk(alice.user, "How deep?", "Very.")
        reply = sea.messages.get(role=ASSISTANT)
        alice.client.put(f"/api/conversations/{sea.pk}/messages/{reply.pk}/feedback", RATING)
        alice.client.post(f"/api/conversations/{sea.pk}/share")
        Message.objects.bulk_create(
            Message(conversation=sea, account_id=alice.user.pk, role=USER, parent=reply)
            for _ in range(count)
        )
        with CaptureQueriesContext(connection) as queries:
            assert delete(alice, sea.pk).status_code == 200
        return queries

    few, many = made(1), made(1_000)

    assert len(few) == len(many)
    assert max(len(query["sql"]) for query in many) < 2_000
    assert not any(rows.objects.exists() for rows in (Message, Feedback, Share))


@pytest.mark.parametrize(
    "body",
    [{}, {"ids": []}, {"ids": "x"}, {"ids": ["x"]}, {"ids": [7]}, {"ids": [str(uuid4())] * 101}],
)
def test_what_is_no_list_of_ids_is_422(alice: Persona, body: dict[str, Any]) -> None:
    answer = alice.client.post(PATH, body, format="json")

    assert (answer.status_code, answer.json()["errors"][0]["loc"][0]) == (422, "ids")


def test_it_needs_a_token(visitor: Any) -> None:
    assert visitor.post(PATH, {"ids": [str(uuid4())]}, format="json").status_code == 401
