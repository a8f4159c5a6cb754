"""`POST .../messages/{id}/regenerate`: another reply beside the one that there is."""

from typing import Any
from uuid import uuid4

from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import FREE_MODEL, Heard, Speaker


def again(person: Speaker, conversation: str, message_id: str, **body: Any) -> Heard:
    path = f"/{conversation}/messages/{message_id}/regenerate"
    with person.stream("POST", path, **body) as stream:
        return stream.to_the_end()


def test_a_new_reply_stands_beside_the_old_one(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation, alice.words(text="Deep."))
    second = again(alice, conversation, first.reply_id)
    shown = alice.detail(conversation)
    question, *replies = shown["messages"]
    assert [reply["id"] for reply in replies] == [first.reply_id, second.reply_id]
    assert {reply["parent_id"] for reply in replies} == {question["id"]}
    assert [reply["content"] for reply in replies] == ["Deep.", "Deep."]
    assert shown["active_leaf_id"] == second.reply_id
    assert second.metadata["user_message_id"] == question["id"]
    assert second.usage["listed_usd"] > 0
    assert len(alice.calls()) == 2


def test_its_own_model_answers_unless_another_one_is_named(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation, model="claude-haiku-5-5")
    assert again(alice, conversation, first.reply_id).metadata["model"] == "claude-haiku-5-5"
    other = again(alice, conversation, first.reply_id, model=FREE_MODEL)
    assert other.metadata["model"] == FREE_MODEL


def test_a_message_of_the_users_is_answered(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = talk(alice.user, alice.words(text="Deep."))
    question = str(conversation.leaf_id)
    heard = again(alice, str(conversation.pk), question)
    assert heard.text == "Deep."
    assert alice.message(str(conversation.pk), heard.reply_id)["parent_id"] == question


def test_it_is_asked_what_had_been_asked_then(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation, alice.words("First?"))
    second = alice.send(conversation, alice.words("Second?"))
    alice.send(conversation, alice.words("Third?"))
    heard = again(alice, conversation, second.reply_id)
    assert heard.metadata["context"] == second.metadata["context"]
    assert heard.metadata["context"]["messages"] == 3


def test_no_title_is_made_of_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation)
    assert again(alice, conversation, first.reply_id).of("data-title") == []


def test_without_a_stream_the_question_comes_with_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation)
    path = f"/{conversation}/messages/{first.reply_id}/regenerate"
    body = alice.do("POST", path, stream=False)
    question, _, reply = alice.detail(conversation)["messages"]
    assert body == {"user_message": question, "message": reply, "usage": reply["usage"]}


def test_an_unknown_message_is_not_found(speaker: NewSpeaker) -> None:
    alice = speaker()
    elsewhere = talk(alice.user, "Hello", "Hi").leaf_id
    for message_id in (uuid4(), elsewhere):
        path = f"/{alice.begin()}/messages/{message_id}/regenerate"
        assert alice.ask("POST", path, model=7).status_code == 404


def test_one_reply_is_written_at_a_time(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation)
    content = alice.words(tokens=50, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        path = f"/{conversation}/messages/{first.reply_id}/regenerate"
        answer = alice.ask("POST", path)
        assert (answer.status_code, answer.json()["code"]) == (409, "reply_running")
        alice.do("POST", f"/{conversation}/messages/{stream.heard.reply_id}/stop")
        stream.to_the_end()
