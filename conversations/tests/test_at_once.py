"""Several things at the same moment, to one conversation."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from conversations.models import Conversation, Message
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import Speaker
from tests.locks import wait_until_blocked
from tests.service import database_url


def send(person: Speaker, conversation: str, content: str) -> tuple[int, str]:
    answer = person.ask("POST", f"/{conversation}/messages", content=content, stream=False)
    body = answer.json()
    return answer.status_code, "" if answer.is_success else body["code"]


def test_of_two_messages_at_once_the_second_has_to_wait(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(tokens=10, delay_ms=50)
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(2) as executor:
        holder.execute(
            "SELECT FROM conversations_conversation WHERE id = %s FOR UPDATE", (conversation,)
        )
        sent = [executor.submit(send, alice, conversation, content) for _ in range(2)]
        wait_until_blocked(holder, waiters=2)
        holder.rollback()
        answers = sorted(future.result() for future in sent)
    assert answers == [(200, ""), (409, "reply_running")]
    assert len(alice.calls()) == 1
    assert Message.objects.filter(conversation_id=conversation).count() == 2


def test_who_follows_the_branch_is_told_that_it_has_moved(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation)
    question = first.metadata["user_message_id"]
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as executor:
        holder.execute(
            "SELECT FROM conversations_conversation WHERE id = %s FOR UPDATE", (conversation,)
        )
        sent = executor.submit(send, alice, conversation, alice.words())
        wait_until_blocked(holder)
        holder.execute(
            "UPDATE conversations_conversation SET leaf_id = %s WHERE id = %s",
            (question, conversation),
        )
        holder.commit()
        assert sent.result() == (409, "reply_running")
    assert len(alice.calls()) == 1


def test_conversations_of_one_user_do_not_wait_for_each_other(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversations = [alice.begin() for _ in range(4)]
    content = alice.words(tokens=10, delay_ms=30)
    with ThreadPoolExecutor(4) as executor:
        answers = list(executor.map(lambda each: send(alice, each, content), conversations))
    assert answers == [(200, "")] * 4
    assert len(alice.calls()) == 4


def test_deleting_a_conversation_stops_its_reply(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(tokens=500, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        reply_id = stream.heard.reply_id
        with alice.stream("GET", f"/{conversation}/stream") as followed:
            followed.until("text-delta")
            alice.do("DELETE", f"/{conversation}")
            followed.to_the_end()
        heard = stream.to_the_end()
    assert heard.finish["messageMetadata"]["status"] == "cancelled"
    assert not Conversation.objects.filter(pk=conversation).exists()
    charge = alice.charge(reply_id)
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < 500
