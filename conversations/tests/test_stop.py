"""`POST .../messages/{id}/stop`: what was produced is kept and billed, once."""

import time
from uuid import uuid4

from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import BALANCE_ONLY, Speaker


def stop(person: Speaker, conversation: str, reply_id: str) -> int:
    return person.ask("POST", f"/{conversation}/messages/{reply_id}/stop").status_code


def test_a_reply_that_is_stopped_keeps_its_text_and_is_billed(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(tokens=400, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        assert stop(alice, conversation, stream.heard.reply_id) == 202
        heard = stream.to_the_end()
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["content"]) == ("cancelled", heard.text)
    assert (reply["error"], reply["finish_reason"]) == (None, None)
    assert reply["ended_at"] is not None
    assert heard.finish["finishReason"] == "other"
    assert heard.finish["messageMetadata"]["status"] == "cancelled"
    assert heard.of("error") == []
    charge = alice.charge(heard.reply_id)
    assert charge.status == "settled"
    [call] = alice.calls()
    assert call["outcome"] == "client_gone"
    assert 0 < charge.tokens_out <= call["tokens_emitted"]
    assert heard.usage == reply["usage"]
    assert heard.usage["balance_usd"] == 2 * heard.usage["cost_usd"] > 0


def test_before_any_output_it_waits_for_the_first(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(tokens=400, ttft_ms=1500, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("start")
        assert stop(alice, conversation, stream.heard.reply_id) == 202
        heard = stream.to_the_end()
    reply = alice.message(conversation, heard.reply_id)
    assert reply["status"] == "cancelled"
    assert reply["content"]
    assert heard.usage["cost_usd"] > 0


def test_what_brings_nothing_for_ten_seconds_is_cut_and_costs_nothing(
    speaker: NewSpeaker,
) -> None:
    alice = speaker(plan="free", balance_usd=0)
    conversation = alice.begin()
    content = alice.words(ttft_ms=60_000)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("start")
        began = time.monotonic()
        assert stop(alice, conversation, stream.heard.reply_id) == 202
        heard = stream.to_the_end()
    assert 9 < time.monotonic() - began < 15
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["content"], reply["usage"]) == ("cancelled", "", None)
    assert set(heard.usage.values()) == {0}
    assert alice.charge(heard.reply_id).status == "released"


def test_the_conversation_goes_on_after_it(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(tokens=400, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        stop(alice, conversation, stream.heard.reply_id)
        stream.to_the_end()
    heard = alice.send(conversation, alice.words("And now?"))
    assert heard.metadata["context"]["messages"] == 3
    assert heard.finish["finishReason"] == "stop"


def test_one_that_has_ended_stays_as_it_is(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    heard = alice.send(conversation)
    before = alice.message(conversation, heard.reply_id)
    answer = alice.ask("POST", f"/{conversation}/messages/{heard.reply_id}/stop")
    assert answer.status_code == 200
    assert answer.json() == before == alice.message(conversation, heard.reply_id)


def test_only_replies_are_stopped(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = talk(alice.user, "Hello")
    for message_id in (conversation.leaf_id, uuid4()):
        assert stop(alice, str(conversation.pk), str(message_id)) == 404


def test_one_that_nobody_reads_is_stopped_all_the_same(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(tokens=2000, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("text-delta")
        reply_id = stream.heard.reply_id
    assert stop(alice, conversation, reply_id) == 202
    with alice.stream("GET", f"/{conversation}/stream") as stream:
        heard = stream.to_the_end()
    assert heard.finish["messageMetadata"]["status"] == "cancelled"
    assert alice.message(conversation, reply_id)["content"] == heard.text
