"""DELETE /api/conversations/{id}/messages/{message_id}: a message goes with what follows it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from billing.models import Charge
from billing.tests import bank
from billing.types import RequestKey
from common.errors import NotFound
from conftest import Persona
from conversations.errors import ReplyDeleted
from conversations.models import Conversation, Message
from conversations.selectors.conversations import get_conversation
from conversations.selectors.messages import find_earlier, get_message
from conversations.services import messages, sending
from conversations.services.preparation import prepare_message, prepare_regeneration
from conversations.tests import manual
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.speaker import BALANCE_ONLY
from conversations.tests.test_delete import attach, ended, new_upload
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url
from work.jobs.models import Job

CONVERSATIONS = "/api/conversations"


def delete(persona: Persona, message: Message) -> Any:
    path = f"{CONVERSATIONS}/{message.conversation_id}/messages/{message.pk}"
    return persona.client.delete(path)


def left(conversation: Conversation) -> list[str]:
    return [message.content for message in conversation.messages.order_by("id")]


def test_it_goes_with_all_that_follows_it(alice: Persona) -> None:
    sea = talk(alice.user, "a", "b", "c 🌊", "d")
    a, b, c, _ = sea.messages.order_by("id")
    add(sea, "d2", role=ASSISTANT, parent=c, reasoning="Hm.")
    add(sea, "b2", role=ASSISTANT, parent=a)
    other = talk(alice.user, "a")

    answer = delete(alice, c)

    assert (answer.status_code, answer.content) == (204, b"")
    assert left(sea) == ["a", "b", "b2"]
    assert left(other) == ["a"]
    sea.refresh_from_db()
    assert (sea.messages_count, sea.characters) == (3, 4)
    assert delete(alice, c).status_code == 404
    assert delete(alice, b).status_code == 204


def test_the_branch_that_is_shown_stays_where_it_is_not_of_it(alice: Persona) -> None:
    sea = talk(alice.user, "a", "b")
    a, b = sea.messages.order_by("id")
    again = add(sea, "b2", role=ASSISTANT, parent=a)

    delete(alice, b)

    sea.refresh_from_db()
    assert sea.leaf == again


def test_else_the_newest_message_that_is_left_of_it_is_shown(alice: Persona) -> None:
    sea = talk(alice.user, "a", "b", "c")
    a, b, _ = sea.messages.order_by("id")
    again = add(sea, "b2", role=ASSISTANT, parent=a)
    other = add(sea, "other", parent=None)
    more = add(sea, "more", parent=b)

    for message, leaf in ((more, "c"), (b, "b2"), (again, "a"), (a, "other"), (other, None)):
        Conversation.objects.filter(pk=sea.pk).update(leaf=message)
        assert delete(alice, message).status_code == 204
        sea.refresh_from_db()
        assert (sea.leaf and sea.leaf.content) == leaf
    shown = alice.client.get(f"{CONVERSATIONS}/{sea.pk}").json()
    assert (shown["messages"], shown["active_leaf_id"]) == ([], None)


def test_a_title_that_was_made_of_it_is_made_anew(alice: Persona) -> None:
    first, second = (talk(alice.user, "How deep?", title="How deep?") for _ in range(2))
    add(first, "How blue?", parent=None)
    Conversation.objects.filter(pk=second.pk).update(title="Mine", title_source="user")

    for sea in (first, second):
        delete(alice, sea.messages.order_by("id")[0])

    shown = [alice.client.get(f"{CONVERSATIONS}/{each.pk}").json() for each in (first, second)]
    titles = [each["title"] for each in shown]
    assert titles == ["How blue?", "Mine"]


def test_its_place_in_the_list_stays(alice: Persona) -> None:
    sea, other = talk(alice.user, "a", "b"), talk(alice.user, "c")
    before = Conversation.objects.get(pk=sea.pk)

    delete(alice, sea.messages.order_by("id")[1])

    sea.refresh_from_db()
    assert (sea.activity, sea.updated_at) == (before.activity, before.updated_at)
    assert alice.client.get(CONVERSATIONS).json()[0]["id"] == str(other.pk)


def test_files_that_nothing_else_has_may_be_purged(alice: Persona) -> None:
    sea = talk(alice.user, "a", "b", "c")
    first, _, second = sea.messages.order_by("id")
    own, shared = new_upload(alice), new_upload(alice)
    attach(second, own, shared)
    attach(first, shared)

    delete(alice, second)

    own.refresh_from_db()
    shared.refresh_from_db()
    assert own.expires_at is not None
    assert shared.expires_at is None


def test_what_was_shared_stays_shared(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.")
    link = alice.client.post(f"{CONVERSATIONS}/{sea.pk}/share").json()["share_token"]
    shared = alice.client.get(f"{CONVERSATIONS}/shared/{link}").json()

    delete(alice, sea.messages.order_by("id")[0])

    assert alice.client.get(f"{CONVERSATIONS}/shared/{link}").json() == shared
    assert alice.client.post(f"{CONVERSATIONS}/{sea.pk}/share").status_code == 409


def test_it_is_not_found_by_its_words_any_more(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Abyssal.")
    assert len(alice.client.get(CONVERSATIONS, {"q": "abyssal"}).json()) == 1

    delete(alice, sea.messages.order_by("id")[1])

    assert alice.client.get(CONVERSATIONS, {"q": "abyssal"}).json() == []


def test_a_long_branch_goes_in_few_queries(
    alice: Persona, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sea = talk(alice.user, "a")
    first = parent = sea.messages.get()
    rows = []
    for _ in range(2_000):
        parent = Message(
            conversation=sea,
            account_id=alice.user.pk,
            role=ASSISTANT,
            content="Deep.",
            parent=parent,
        )
        rows.append(parent)
    Message.objects.bulk_create(rows)
    Conversation.objects.update(leaf=parent, messages_count=2_001, characters=10_001)

    with django_assert_max_num_queries(60):
        assert delete(alice, rows[0]).status_code == 204

    assert list(Message.objects.all()) == [first]
    sea.refresh_from_db()
    assert (sea.leaf, sea.messages_count, sea.characters) == (first, 1, 1)


def test_one_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    sea = talk(alice.user, "How deep?")

    assert delete(bob, sea.messages.get()).status_code == 404
    path = f"{CONVERSATIONS}/{talk(bob.user).pk}/messages/{sea.leaf_id}"
    assert bob.client.delete(path).status_code == 404
    assert alice.client.delete(f"{CONVERSATIONS}/{sea.pk}/messages/{uuid4()}").status_code == 404
    assert Message.objects.count() == 1


# --- Replies that run ---------------------------------------------------------------------------


def test_a_reply_that_runs_is_stopped_and_billed_for_what_has_come(speaker: NewSpeaker) -> None:
    alice = speaker(plan="max")
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(tokens=2_000, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        [question, _] = alice.ask("GET", f"/{conversation}").json()["messages"]
        answer = alice.ask("DELETE", f"/{conversation}/messages/{question['id']}")
        heard = stream.to_the_end()

    assert answer.status_code == 204
    assert heard.types[-2:] == ["finish", "[DONE]"]
    charge = ended(alice, heard.reply_id)
    assert charge.status == Charge.Status.SETTLED
    assert 0 < charge.tokens_out < 2_000
    assert Job.objects.get(pk=heard.reply_id).status == Job.Status.CANCELLED
    shown = alice.ask("GET", f"/{conversation}").json()
    assert (shown["messages"], shown["running_message_id"]) == ([], None)
    assert alice.send(conversation, alice.words(tokens=5)).finish["usage"]


@pytest.fixture
def user(committed: None, providers: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_what_was_prepared_after_it_is_refused_when_it_is_gone(user: User) -> None:
    sea = talk(user, "How deep?", "Very.")
    question, reply = sea.messages.order_by("id")
    conversation = get_conversation(user, sea.pk)
    prepared_replies = [
        prepare_regeneration(user, conversation, get_message(user, sea.pk, reply.pk)),
        prepare_message(user, conversation, content="Why?", parent_id=reply.pk),
    ]
    add(sea, "Other.", parent=None)
    messages.delete(user=user, conversation_id=sea.pk, message_id=question.pk)

    for prepared in prepared_replies:
        with pytest.raises(NotFound):
            sending.start(
                prepared=prepared,
                request_key=None,
                owner_id=bank.live_owner(),
                request_id="req_test",
            )

    assert left(sea) == ["Other."]
    assert not Charge.objects.filter(account=user).exists()


def test_the_end_of_a_reply_that_is_gone_bills_it_and_writes_nothing(user: User) -> None:
    sea = talk(user)
    call = manual.begin(user, sea)
    messages.delete(user=user, conversation_id=sea.pk, message_id=call.started.question.pk)

    call.settle("Very.")

    assert bank.charge_of(call.id).status == Charge.Status.SETTLED
    sea.refresh_from_db()
    assert (sea.messages_count, sea.characters, left(sea)) == (0, 0, [])


def test_it_may_go_just_before_the_reply_ends(user: User) -> None:
    """Who waits for the conversation had seen the reply, which is gone when its turn comes."""
    call = manual.begin(user, talk(user))
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as other:
        holder.execute("SELECT FROM conversations_conversation FOR UPDATE")
        ending = other.submit(in_thread, call.settle, "Very.")
        wait_until_blocked(holder)
        holder.execute(
            "UPDATE conversations_conversation SET leaf_id = NULL, messages_count = 0,"
            " characters = 0 WHERE id = %s",
            (call.started.reply.conversation_id,),
        )
        holder.execute("DELETE FROM conversations_message WHERE id = %s", (call.id,))
        holder.commit()
        assert ending.result().view is None

    assert bank.charge_of(call.id).status == Charge.Status.SETTLED


def test_a_request_whose_reply_was_deleted_is_not_carried_out_again(user: User) -> None:
    sea, request_key = talk(user), RequestKey("/", uuid4().hex, b"")
    call = manual.begin(user, sea, request_key=request_key)
    call.settle("Very.")
    add(sea, "Other.", parent=None)
    messages.delete(user=user, conversation_id=sea.pk, message_id=call.id)

    with pytest.raises(ReplyDeleted):
        find_earlier(user, request_key)
    with pytest.raises(ReplyDeleted):
        manual.begin(user, sea, request_key=request_key)

    assert Charge.objects.filter(account=user).count() == 1


def in_thread(act: Any, *arguments: Any) -> Any:
    try:
        return act(*arguments)
    finally:
        connection.close()
