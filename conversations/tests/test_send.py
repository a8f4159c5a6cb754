"""`POST /api/conversations/{id}/messages`: saying something, and hearing the reply."""

from itertools import pairwise

import pytest

from conversations.frames import HEADERS
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import FREE_MODEL, THINKER

SEA = "Deep 🌊 indeed, 深い。"


def test_a_reply_is_streamed_and_kept(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(text=SEA)
    heard = alice.send(conversation, content)
    assert heard.text == SEA
    assert heard.types[0] == "start"
    assert heard.types[-2:] == ["finish", "[DONE]"]
    shown = alice.detail(conversation)
    question, reply = shown["messages"]
    assert (question["role"], question["content"], question["parent_id"]) == ("user", content, None)
    assert (reply["id"], reply["content"], reply["parent_id"]) == (
        heard.reply_id,
        SEA,
        question["id"],
    )
    assert (reply["status"], reply["finish_reason"]) == ("completed", "stop")
    assert shown["active_leaf_id"] == reply["id"]
    assert shown["running_message_id"] is None
    assert reply["usage"] == heard.usage == heard.finish["messageMetadata"]["usage"]


def test_the_start_says_where_the_reply_belongs(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, model="gpt-4o-mini")
    question, reply = alice.detail(conversation)["messages"]
    assert heard.metadata == {
        "conversation_id": conversation,
        "user_message_id": question["id"],
        "model": FREE_MODEL,
        "context": reply["context"],
    }
    assert reply["context"]["messages"] == 1


def test_every_frame_says_how_many_code_points_have_come(speaker: NewSpeaker) -> None:
    alice = speaker()
    content = alice.words(text=SEA, reasoning_tokens=5, delay_ms=5)
    heard = alice.send(alice.begin(model=THINKER), content)
    counted = 0
    for frame in heard.frames:
        if frame.type in ("text-delta", "reasoning-delta"):
            assert frame.data is not None
            counted += len(frame.data["delta"])
        assert frame.id == counted
    assert counted == len(SEA) + len(heard.reasoning)


def test_thought_comes_in_parts_of_its_own(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=THINKER)
    heard = alice.send(conversation, alice.words(text=SEA, reasoning_tokens=5))
    kinds = [kind for kind in heard.types if kind.startswith(("text", "reasoning"))]
    bounds = [kind for kind in kinds if not kind.endswith("-delta")]
    assert bounds == ["reasoning-start", "reasoning-end", "text-start", "text-end"]
    assert {part["id"] for part in heard.of("reasoning-delta")} == {"1"}
    assert {part["id"] for part in heard.of("text-delta")} == {"2"}
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["reasoning"], reply["content"]) == (heard.reasoning, SEA)
    assert heard.usage["reasoning_tokens"] > 0


def test_it_is_sent_as_it_comes(speaker: NewSpeaker) -> None:
    alice = speaker()
    content = alice.words(tokens=20, delay_ms=20)
    with alice.stream("POST", f"/{alice.begin()}/messages", content=content) as stream:
        stream.until("text-delta")
        running = alice.detail(stream.heard.metadata["conversation_id"])
        assert running["running_message_id"] == stream.heard.reply_id
        assert running["messages"][-1]["status"] == "running"
        heard = stream.to_the_end()
    assert len(heard.of("text-delta")) > 5


def test_nothing_on_the_way_may_keep_a_stream_back(speaker: NewSpeaker) -> None:
    alice = speaker()
    path = f"/{alice.begin()}/messages"
    with alice.stream("POST", path, {"Accept-Encoding": "gzip"}, content=alice.words()) as stream:
        headers = stream.response.headers
        for name, value in HEADERS.items():
            assert headers[name] == value
        assert "content-encoding" not in headers
        assert "content-length" not in headers
        assert headers["x-request-id"]
        stream.to_the_end()


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream", "application/json", "text/html"])
def test_what_a_client_accepts_is_not_looked_at(speaker: NewSpeaker, accept: str) -> None:
    alice = speaker()
    path = f"/{alice.begin()}/messages"
    with alice.stream("POST", path, {"Accept": accept}, content=alice.words()) as stream:
        assert stream.to_the_end().text


def test_without_a_stream_one_json_comes_at_the_end(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=THINKER)
    content = alice.words(text=SEA, reasoning_tokens=4)
    answer = alice.ask("POST", f"/{conversation}/messages", content=content, stream=False)
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    question, reply = alice.detail(conversation)["messages"]
    assert body == {"user_message": question, "message": reply, "usage": reply["usage"]}
    assert reply["content"] == SEA


def test_null_is_as_if_it_were_not_said(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=FREE_MODEL)
    nothing = {"model": None, "reasoning_effort": None}
    heard = alice.send(conversation, upload_ids=None, **nothing)
    assert heard.metadata["model"] == FREE_MODEL
    path = f"/{conversation}/messages/{heard.reply_id}/regenerate"
    assert alice.do("POST", path, stream=False, **nothing)["message"]["model"] == FREE_MODEL


def test_a_conversation_goes_on(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation, alice.words("First?", text="One."))
    heard = alice.send(conversation, alice.words("Second?", text="Two."))
    messages = alice.detail(conversation)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2
    for earlier, later in pairwise(messages):
        assert later["parent_id"] == earlier["id"]
    assert heard.metadata["context"]["messages"] == 3


def test_messages_sort_by_their_ids_as_they_were_said(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    for content in ("First?", "Second?"):
        alice.send(conversation, alice.words(content, text="Well."))
    ids = [message["id"] for message in alice.detail(conversation)["messages"]]
    assert ids == sorted(ids)


def test_a_message_beside_another_one_begins_a_branch(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    first = alice.send(conversation, alice.words("First?", text="One."))
    second = alice.send(conversation, alice.words("Second?", text="Two."))
    edited = alice.send(
        conversation, alice.words("Edited?", text="Three."), parent_id=first.reply_id
    )
    shown = alice.detail(conversation)
    messages = {message["id"]: message for message in shown["messages"]}
    assert len(messages) == 6
    question = messages[messages[edited.reply_id]["parent_id"]]
    assert question["parent_id"] == first.reply_id
    assert shown["active_leaf_id"] == edited.reply_id
    assert second.reply_id in messages
    assert edited.metadata["context"]["messages"] == 3


def test_a_message_without_a_parent_begins_anew(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    alice.send(conversation)
    again = alice.send(conversation, alice.words("Again?"), parent_id=None)
    question = alice.message(conversation, again.metadata["user_message_id"])
    assert question["parent_id"] is None
    assert again.metadata["context"]["messages"] == 1


def test_the_first_message_gives_the_title_until_a_model_has(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words("How deep is the sea?"))
    [title] = heard.of("data-title")
    assert title["data"]["title"] == alice.detail(conversation)["title"]
    assert heard.types.index("data-title") < heard.types.index("finish")
    again = alice.send(conversation, alice.words("And how wide?"))
    assert again.of("data-title") == []


def test_a_title_is_made_only_when_something_has_come(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    failed = alice.send(conversation, alice.words(status=400, times=1))
    assert failed.of("data-title") == []
    assert [str(charge.pk) for charge in alice.charges()] == [failed.reply_id]
    path = f"/{conversation}/messages/{failed.metadata['user_message_id']}/regenerate"
    with alice.stream("POST", path) as stream:
        answered = stream.to_the_end()
    [title] = answered.of("data-title")
    assert title["data"]["title"] == alice.detail(conversation)["title"]
    assert [charge.status for charge in alice.charges()] == ["released", "settled", "settled"]


def test_a_conversation_that_has_a_title_keeps_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(title="Mine")
    heard = alice.send(conversation)
    assert heard.of("data-title") == []
    assert alice.detail(conversation)["title"] == "Mine"


def test_a_title_is_not_waited_for_for_long(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    slow = '\n@sim {"title": true, "ttft_ms": 6000}'
    heard = alice.send(conversation, alice.words("How deep is the sea?") + slow)
    assert heard.of("data-title") == []
    assert heard.finish["messageMetadata"]["status"] == "completed"
    assert alice.detail(conversation)["title"] == "How deep is the sea?"


def test_the_longest_message_is_taken(speaker: NewSpeaker) -> None:
    alice = speaker()
    words = alice.words("é")
    content = "é" * (100_000 - len(words)) + words
    conversation = alice.begin()
    heard = alice.send(conversation, content)
    assert alice.message(conversation, heard.metadata["user_message_id"])["content"] == content


def test_white_space_of_a_message_stays(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = f"  def f():\n{alice.words()}\n\n"
    heard = alice.send(conversation, content)
    assert alice.message(conversation, heard.metadata["user_message_id"])["content"] == content


def test_an_answer_that_had_to_end_says_so(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation, alice.words(finish="length"))
    assert heard.finish["finishReason"] == "length"
    assert alice.message(conversation, heard.reply_id)["finish_reason"] == "length"


def test_a_filtered_answer_says_so(speaker: NewSpeaker) -> None:
    alice = speaker()
    heard = alice.send(alice.begin(), alice.words(finish="content_filter"))
    assert heard.finish["finishReason"] == "content-filter"
