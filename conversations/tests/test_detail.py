"""GET /api/conversations/{id}: a conversation with its messages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.fields import empty

from accounts.models import User
from billing.tests import bank
from billing.tests.web_app import client_of
from common.ids import uuid7
from conftest import Persona
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.messages import state_of
from conversations.serializers.messages import MessageInEventSerializer, MessageSerializer
from conversations.tests.rows import ASSISTANT, MODEL, USER, add, talk
from events.services import append, open_stream
from events.types import NewEvent
from media.files.models import Upload
from media.files.selectors.uploads import download_url

CONVERSATIONS = "/api/conversations"


def detail(client: Any, conversation: Conversation) -> dict[str, Any]:
    answer = client.get(f"{CONVERSATIONS}/{conversation.pk}")
    assert answer.status_code == 200, answer.content
    shown: dict[str, Any] = answer.json()
    return shown


def attached(message: Message, user: User, name: str) -> Upload:
    upload = Upload.objects.create(
        account=user, name=name, media_type="text/plain", is_text=True, size=7
    )
    Attachment.objects.create(message=message, upload=upload)
    return upload


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Between a conversation's row and its messages that happens, in another request."""
    waiting = [act]

    def look(execute: Any, sql: str, *asked: Any) -> Any:
        if "FROM conversations_message" in sql and waiting:
            waiting.pop()()
        return execute(sql, *asked)

    with connection.execute_wrapper(look):
        yield
    assert not waiting


def running_reply(conversation: Conversation, *pieces: tuple[str, str]) -> Message:
    """A reply that has said so much; its events say other things as well."""
    reply = add(conversation, "", role=ASSISTANT, status=Message.Status.RUNNING)
    open_stream(stream_id=reply.pk, kind="reply", account=conversation.account)
    deltas = [
        NewEvent("reply.delta", {"offset": 0, "kind": kind, "text": text}) for kind, text in pieces
    ]
    with transaction.atomic():
        append(stream_id=reply.pk, events=[*deltas, NewEvent("reply.title", {"title": "The sea"})])
    return reply


def test_messages_of_all_branches_are_there_the_oldest_first(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.")
    question, first = sea.messages.order_by("id")
    again = add(sea, "Eleven kilometres.", role=ASSISTANT, parent=question)
    edited = add(sea, "How blue?", parent=None)

    shown = detail(alice.client, sea)

    assert [(m["id"], m["parent_id"]) for m in shown["messages"]] == [
        (str(question.pk), None),
        (str(first.pk), str(question.pk)),
        (str(again.pk), str(question.pk)),
        (str(edited.pk), None),
    ]
    assert shown["active_leaf_id"] == str(edited.pk)


def test_a_message_comes_after_the_one_that_it_follows_whatever_its_id(alice: Persona) -> None:
    sea = talk(alice.user)
    ids = sorted((uuid7() for _ in range(4)), reverse=True)
    for number, message_id in enumerate(ids):
        add(sea, "Sea.", role=ASSISTANT if number % 2 else USER, id=message_id)
    add(sea, "And how blue?", parent=None)

    messages = detail(alice.client, sea)["messages"]

    assert [m["id"] for m in messages[:4]] == [str(message_id) for message_id in ids]
    assert all(m["parent_id"] == before["id"] for before, m in pairwise(messages[:4]))


def test_what_the_user_said_has_text_and_files(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    question = sea.messages.get()
    files = [attached(question, alice.user, name) for name in ("b.txt", "a.txt")]

    [message] = detail(alice.client, sea)["messages"]

    assert message["attachments"] == [
        {
            "id": str(file.pk),
            "name": file.name,
            "mime": "text/plain",
            "size": 7,
            "url": download_url(file),
        }
        for file in files
    ]
    assert {key: message[key] for key in message if key not in ("id", "attachments")} == {
        "role": "user",
        "content": "How deep?",
        "reasoning": None,
        "model": None,
        "reasoning_effort": None,
        "status": "completed",
        "parent_id": None,
        "finish_reason": None,
        "usage": None,
        "error": None,
        "context": None,
        "feedback": None,
        "created_at": message["created_at"],
        "ended_at": None,
        "client_id": None,
        "author_id": str(alice.user.pk),
    }


@pytest.mark.parametrize("path", ["", "/export?format=md", "/export?format=json"])
def test_one_that_is_deleted_just_now_is_not_shown_without_its_messages(
    alice: Persona, path: str
) -> None:
    sea = talk(alice.user, "How deep?", "Very.")
    with meanwhile(sea.delete):
        answer = alice.client.get(f"{CONVERSATIONS}/{sea.pk}{path}")
    assert answer.status_code == 404


def test_a_reply_that_has_begun_just_now_is_named_as_the_one_that_runs(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    with meanwhile(lambda: running_reply(sea, ("text", "Ve"))):
        shown = detail(alice.client, sea)
    [_, reply] = shown["messages"]
    assert (reply["status"], shown["running_message_id"]) == ("running", reply["id"])


def test_a_failed_reply_says_why(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    error = {"code": "upstream_error", "message": "The provider failed."}
    add(sea, "", role=ASSISTANT, status=Message.Status.FAILED, error=error)

    _, reply = detail(alice.client, sea)["messages"]

    assert (reply["status"], reply["error"], reply["usage"]) == ("failed", error, None)


@pytest.mark.usefixtures("committed")
def test_a_reply_that_was_billed_tells_what_it_used() -> None:
    user = bank.new_account()
    sea = talk(user, "How deep?", "Very.")
    settle(user, sea.leaf_id)

    _, reply = detail(client_of(user), sea)["messages"]

    assert reply["usage"] == {
        "input_tokens": 5,
        "output_tokens": 10,
        "reasoning_tokens": 0,
        "cached_tokens": 0,
        "total_tokens": 15,
        "listed_usd": 0.001,
        "paid_by_plan_usd": 0.0,
        "paid_by_balance_usd": 0.002,
    }


def settle(user: User, reply_id: UUID | None) -> None:
    owner = bank.live_owner()
    bank.hold(user, 10_000_000, owner=owner, charge=reply_id)
    assert reply_id is not None
    bank.settle(reply_id, 1_000_000)


def test_a_running_reply_is_shown_as_far_as_it_has_come(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")
    reply = running_reply(sea, ("reasoning", "Hm. "), ("text", "Ve"), ("text", "ry"))

    shown = detail(alice.client, sea)

    message = shown["messages"][1]
    assert (message["content"], message["reasoning"]) == ("Very", "Hm. ")
    assert (message["status"], message["ended_at"]) == ("running", None)
    assert shown["running_message_id"] == str(reply.pk)


def test_its_answer_is_what_the_fields_of_the_document_say(alice: Persona) -> None:
    """Messages are written without the fields that describe them, which would take ten times as
    long."""
    sea = talk(alice.user, "How deep?")
    attached(sea.messages.get(), alice.user, "a.txt")
    add(
        sea,
        "Very.",
        role=ASSISTANT,
        reasoning="Hm.",
        reasoning_effort="low",
        finish_reason="stop",
        error={"code": "interrupted", "message": "Cut off."},
        context={"messages": 1, "omitted": 0, "input_tokens": 5, "attachments": 1},
        ended_at="2026-11-21T12:00:00Z",
    )
    for message in sea.messages.all():
        message.refresh_from_db()
        state = state_of(alice.user, message)
        for serializer in (MessageSerializer(), MessageInEventSerializer()):
            described = {
                name: None
                if (value := field.get_attribute(state)) is None
                else field.to_representation(value)
                for name, field in serializer.fields.items()
            }
            written = msgspec.json.encode(serializer.to_representation(state))
            assert msgspec.json.decode(written) == described
            assert empty not in described.values()


@pytest.mark.usefixtures("committed")
def test_usage_is_written_as_its_fields_say() -> None:
    user = bank.new_account()
    sea = talk(user, "How deep?", "Very.")
    settle(user, sea.leaf_id)
    state = state_of(user, sea.messages.get(role=ASSISTANT))

    field = MessageSerializer().fields["usage"]
    written = MessageSerializer().to_representation(state)["usage"]

    assert written == field.to_representation(state.usage)


def test_more_messages_take_no_more_queries(alice: Persona) -> None:
    few_said = talk(alice.user, "How deep?", "Very.")
    many_said = talk(alice.user, *["How deep?", "Very."] * 20)
    for message in many_said.messages.filter(role=USER):
        attached(message, alice.user, "a.txt")
    with CaptureQueriesContext(connection) as few:
        detail(alice.client, few_said)
    with CaptureQueriesContext(connection) as many:
        detail(alice.client, many_said)

    assert len(many) == len(few) == 5


def test_one_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    sea = talk(alice.user, "How deep?")

    for conversation_id in (sea.pk, uuid4()):
        answer = bob.client.get(f"{CONVERSATIONS}/{conversation_id}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_the_model_is_the_one_that_answered(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.", model="kimi-k3")

    assert [m["model"] for m in detail(alice.client, sea)["messages"]] == [None, MODEL]
