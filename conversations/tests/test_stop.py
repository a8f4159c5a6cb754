"""`POST .../messages/{id}/stop`: what was produced is kept and billed, once."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from ai.providers.token_estimate import estimate_text
from billing.models import Charge
from common.money import NUSD_PER_USD
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import (
    BALANCE_ONLY,
    FREE_MODEL,
    THINKER,
    UNASKED_THINKER,
    UNSEEN_THINKER,
    Heard,
    Speaker,
)
from events.models import Event
from tests.stopwatch import Stopwatch
from work.jobs.models import Job


def stop(person: Speaker, conversation: str, reply_id: str) -> int:
    return person.ask("POST", f"/{conversation}/messages/{reply_id}/stop").status_code


@pytest.mark.parametrize("delta_tokens", [1, 10])
def test_a_reply_that_is_stopped_keeps_its_text_and_is_billed(
    speaker: NewSpeaker, delta_tokens: int
) -> None:
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(tokens=400, delay_ms=20, delta_tokens=delta_tokens)
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
    assert charge.tokens_out == estimate_text(heard.text)
    assert len(heard.text.split()) <= charge.tokens_out <= call["bytes_emitted"] // 3
    assert heard.usage == reply["usage"]
    assert heard.usage["paid_by_balance_usd"] == 2 * heard.usage["listed_usd"] > 0


def stop_before_any_output(person: Speaker, conversation: str, **named: str) -> Heard:
    """A message whose reply is stopped, two seconds before its first words."""
    content = person.words(tokens=400, ttft_ms=2000, delay_ms=20)
    path = f"/{conversation}/messages"
    with person.stream("POST", path, named, content=content) as stream:
        stream.until("start")
        with Stopwatch() as watch:
            assert stop(person, conversation, stream.heard.reply_id) == 202
            heard = stream.to_the_end()
    assert watch.seconds < 1.5
    return heard


def resolved(person: Speaker, reply_id: str) -> Charge:
    """The charge of a reply, when it is held no longer."""
    deadline = time.monotonic() + 10
    while (charge := person.charge(reply_id)).status == Charge.Status.HELD:
        assert time.monotonic() < deadline, "It is still held."
        time.sleep(0.05)
    return charge


def settled(person: Speaker, reply_id: str) -> Charge:
    """The charge of a reply, when it has been billed."""
    charge = resolved(person, reply_id)
    assert charge.status == Charge.Status.SETTLED
    return charge


def test_before_any_output_its_user_does_not_wait(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    heard = stop_before_any_output(alice, conversation)
    assert heard.types == ["start", "finish", "[DONE]"]
    assert heard.finish["finishReason"] == "other"
    assert heard.finish["messageMetadata"] == {"status": "cancelled", "usage": None}
    assert heard.usage is None
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["content"], reply["usage"]) == ("cancelled", "", None)
    assert reply["ended_at"] is not None
    assert alice.charge(heard.reply_id).status == "held"
    assert stop(alice, conversation, heard.reply_id) == 200
    assert alice.ask("GET", f"/{conversation}/messages/{heard.reply_id}/stream").status_code == 204
    again = alice.send(conversation, alice.words("And now?"))
    assert again.finish["finishReason"] == "stop"
    settled(alice, heard.reply_id)


def test_what_came_first_after_that_is_billed_and_changes_nothing_else(
    speaker: NewSpeaker,
) -> None:
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    heard = stop_before_any_output(alice, conversation)
    before = alice.message(conversation, heard.reply_id)
    charge = settled(alice, heard.reply_id)
    assert charge.tokens_in > 0
    assert 0 < charge.tokens_out < 100
    after = alice.message(conversation, heard.reply_id)
    assert after["usage"]["paid_by_balance_usd"] == charge.charge_balance / NUSD_PER_USD > 0
    assert after | {"usage": None} == before
    assert Job.objects.get(pk=heard.reply_id).status == Job.Status.CANCELLED
    log = Event.objects.filter(stream_id=heard.reply_id).order_by("seq")
    assert list(log.values_list("type", flat=True)) == ["reply.ended"]


def test_who_follows_it_is_released_too(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    path, content = f"/{conversation}/messages", alice.words(tokens=400, ttft_ms=2000)
    with alice.stream("POST", path, content=content) as first:
        first.until("start")
        with alice.stream("GET", f"/{conversation}/stream") as second:
            second.until("start")
            with Stopwatch() as watch:
                assert stop(alice, conversation, first.heard.reply_id) == 202
                heard = second.to_the_end()
    assert watch.seconds < 1.5
    assert heard.finish["messageMetadata"] == {"status": "cancelled", "usage": None}
    settled(alice, heard.reply_id)


def test_one_json_too(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    content = alice.words(ttft_ms=2000)
    with ThreadPoolExecutor(1) as executor:
        path = f"/{conversation}/messages"
        asked = executor.submit(alice.ask, "POST", path, content=content, stream=False)
        while (running := alice.detail(conversation)["running_message_id"]) is None:
            time.sleep(0.02)
        assert stop(alice, conversation, running) == 202
        made = asked.result().json()
    assert (made["message"]["status"], made["message"]["content"]) == ("cancelled", "")
    assert made["usage"] is None
    assert made["message"] == alice.message(conversation, running)
    settled(alice, running)


def test_what_is_read_before_a_stop_takes_effect_is_kept(speaker: NewSpeaker) -> None:
    """The first output comes while the stop is on its way."""
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    for ttft_ms in range(0, 120, 10):
        content = alice.words(tokens=400, ttft_ms=ttft_ms, delay_ms=5)
        with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
            stream.until("start")
            stop(alice, conversation, stream.heard.reply_id)
            heard = stream.to_the_end()
        assert alice.message(conversation, heard.reply_id)["content"] == heard.text
        settled(alice, heard.reply_id)


def test_no_provider_is_asked_again_for_what_nobody_wants(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    content = alice.words(status=503, retry_after=1, times=1)
    with alice.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("start")
        while not alice.calls():
            time.sleep(0.02)
        stop(alice, conversation, stream.heard.reply_id)
        heard = stream.to_the_end()
    assert heard.finish["messageMetadata"] == {"status": "cancelled", "usage": None}
    assert resolved(alice, heard.reply_id).status == Charge.Status.RELEASED
    assert [call["outcome"] for call in alice.calls()] == ["refused"]


@pytest.mark.parametrize(
    ("model", "asked"), [(UNSEEN_THINKER, {"reasoning_effort": "high"}), (UNASKED_THINKER, {})]
)
def test_thinking_that_is_not_shown_is_billed(
    speaker: NewSpeaker, model: str, asked: dict[str, Any]
) -> None:
    """Its provider tells only at the end how much that was."""
    alice = speaker()
    conversation = alice.begin(model=model)
    content = alice.words(tokens=100, reasoning_tokens=500, delay_ms=20)
    with alice.stream("POST", f"/{conversation}/messages", content=content, **asked) as stream:
        stream.until("text-delta")
        with Stopwatch() as watch:
            assert stop(alice, conversation, stream.heard.reply_id) == 202
            heard = stream.to_the_end()
    assert watch.seconds < 1.5
    reply = alice.message(conversation, heard.reply_id)
    assert (reply["status"], reply["content"]) == ("cancelled", heard.text)
    assert heard.usage is None
    charge = settled(alice, heard.reply_id)
    assert (charge.tokens_out, charge.reasoning_tokens) == (600, 500)
    after = alice.message(conversation, heard.reply_id)
    assert after["usage"]["reasoning_tokens"] == 500
    assert after | {"usage": None} == reply


def test_thinking_that_is_shown_is_broken_off(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin(model=THINKER)
    content = alice.words(tokens=100, reasoning_tokens=500, delay_ms=20)
    path, effort = f"/{conversation}/messages", "high"
    with alice.stream("POST", path, content=content, reasoning_effort=effort) as stream:
        stream.until("reasoning-delta")
        assert stop(alice, conversation, stream.heard.reply_id) == 202
        heard = stream.to_the_end()
    assert 0 < settled(alice, heard.reply_id).tokens_out < 100
    [call] = alice.calls()
    assert call["outcome"] == "client_gone"


def test_a_free_message_that_is_stopped_before_any_output_is_taken(speaker: NewSpeaker) -> None:
    alice = speaker(plan="free", balance_usd=0)
    heard = stop_before_any_output(alice, alice.begin())
    assert settled(alice, heard.reply_id).cost > 0
    models = alice.http.get("/api/users/me/entitlements", headers=alice.headers).json()["models"]
    assert [each["free"]["used"] for each in models if each["model"] == FREE_MODEL] == [1]


def test_what_is_stopped_before_any_output_is_sent_once(speaker: NewSpeaker) -> None:
    alice, named = speaker(), {"Idempotency-Key": uuid4().hex}
    conversation = alice.begin()
    heard = stop_before_any_output(alice, conversation, **named)
    settling = [alice.charge(heard.reply_id).status]
    for _ in range(2):
        content = alice.words(tokens=400, ttft_ms=2000, delay_ms=20)
        path = f"/{conversation}/messages"
        with alice.stream("POST", path, named, content=content) as stream:
            again = stream.to_the_end()
            assert stream.response.headers["idempotency-replayed"] == "true"
        assert (again.reply_id, again.types) == (heard.reply_id, heard.types)
        settling.append(settled(alice, heard.reply_id).status)
    assert settling == ["held", "settled", "settled"]
    assert again.usage["listed_usd"] > 0
    assert len(alice.calls()) == 1


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
    charge = settled(alice, reply_id)
    reply = alice.message(conversation, reply_id)
    assert reply["status"] == "cancelled"
    assert reply["content"].startswith(stream.heard.text)
    assert 0 < charge.tokens_out < 2000


def titles_made(person: Speaker) -> int:
    return sum(charge.funding == Charge.Funding.PLATFORM for charge in person.charges())


def test_a_conversation_is_named_once_whatever_is_stopped(speaker: NewSpeaker) -> None:
    """The platform pays for titles, so none is made of a reply that has brought nothing, nor
    another one when the same message is answered again."""
    alice = speaker()
    conversation = alice.begin(model=BALANCE_ONLY)
    reply_id = stop_before_any_output(alice, conversation).reply_id
    settled(alice, reply_id)
    assert titles_made(alice) == 0
    for _ in range(2):
        path = f"/{conversation}/messages/{reply_id}/regenerate"
        with alice.stream("POST", path) as stream:
            stream.until("text-delta")
            reply_id = stream.heard.reply_id
            stop(alice, conversation, reply_id)
            stream.to_the_end()
    assert titles_made(alice) == 1
