"""`Idempotency-Key` on messages: what was billed is sent again, and not made again."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from accounts.models import User
from ai.inference.errors import UpstreamFailed
from billing.errors import IdempotencyInProgress
from billing.models import Subscription
from billing.tests.bank import live_owner, release
from billing.types import RequestKey
from conversations.errors import ReplyRunning
from conversations.selectors.conversations import get_conversation
from conversations.services import sending
from conversations.services.preparation import prepare_message, prepare_repeat
from conversations.services.sending import StartedReply
from conversations.tests import manual
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import FREE_MODEL, THINKER, Heard, Speaker
from tests.personas import new_user

REPLAYED = "idempotency-replayed"


@pytest.fixture
def user(committed: None, providers: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


def send(person: Speaker, conversation: str, key: str, **body: Any) -> tuple[httpx.Headers, Heard]:
    """A message with a name, and all that comes of it."""
    path = f"/{conversation}/messages"
    with person.stream("POST", path, {"Idempotency-Key": key}, **body) as stream:
        return stream.response.headers, stream.to_the_end()


def test_what_is_sent_again_brings_the_same_reply(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin(model=THINKER)
    content = alice.words(text="Deep 🌊.", reasoning_tokens=4)
    first_headers, first = send(alice, conversation, key, content=content)
    headers, again = send(alice, conversation, key, content=content)
    assert REPLAYED not in first_headers
    assert headers[REPLAYED] == "true"
    assert headers["content-type"] == first_headers["content-type"]
    assert headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert again.frames[0] == first.frames[0]
    assert again.frames[-2:] == first.frames[-2:]
    assert (again.text, again.reasoning) == (first.text, first.reasoning)
    assert len(alice.calls()) == 1
    assert len(alice.detail(conversation)["messages"]) == 2


def test_without_a_stream_too(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    path = f"/{alice.begin()}/messages"
    body = {"content": alice.words(), "stream": False}
    first = alice.ask("POST", path, {"Idempotency-Key": key}, **body)
    again = alice.ask("POST", path, {"Idempotency-Key": key}, **body)
    assert again.json() == first.json()
    assert (REPLAYED in first.headers, again.headers[REPLAYED]) == (False, "true")


@pytest.mark.parametrize("first_streams", [True, False])
def test_the_reply_comes_in_the_form_that_is_asked_for_now(
    speaker: NewSpeaker, first_streams: bool
) -> None:
    alice, named = speaker(), {"Idempotency-Key": uuid4().hex}
    path, content = f"/{alice.begin()}/messages", alice.words("Deep.")

    def send_for(is_stream: bool) -> httpx.Response:
        return alice.ask("POST", path, named, content=content, stream=is_stream)

    first, again = send_for(first_streams), send_for(not first_streams)

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers[REPLAYED] == "true"
    whole, stream = (again, first) if first_streams else (first, again)
    assert whole.json()["message"]["id"] in stream.text
    assert len(alice.calls()) == 1


def test_a_new_reply_has_a_name_of_its_own(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin()
    first = alice.send(conversation)
    path = f"/{conversation}/messages/{first.reply_id}/regenerate"
    named = {"Idempotency-Key": key}
    made = [alice.ask("POST", path, named, stream=False).json() for _ in range(2)]
    assert made[0] == made[1]
    assert len(alice.detail(conversation)["messages"]) == 3


def test_another_body_under_the_same_name_is_refused(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin()
    send(alice, conversation, key, content=alice.words())
    answer = alice.ask(
        "POST", f"/{conversation}/messages", {"Idempotency-Key": key}, content="Another"
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_what_was_billed_is_sent_again_though_it_would_now_be_refused(
    speaker: NewSpeaker,
) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin(model=FREE_MODEL)
    content = alice.words("sea " * 10_000)
    _, first = send(alice, conversation, key, content=content)
    Subscription.objects.filter(account=alice.user).update(plan="free")
    assert alice.ask("POST", f"/{conversation}/messages", content=content).status_code == 422
    headers, again = send(alice, conversation, key, content=content)
    assert (headers[REPLAYED], again.reply_id) == ("true", first.reply_id)
    assert len(alice.calls()) == 1


def test_while_it_runs_it_is_in_progress_though_it_would_now_be_refused(
    speaker: NewSpeaker,
) -> None:
    alice, named = speaker(), {"Idempotency-Key": uuid4().hex}
    path = f"/{alice.begin(model=FREE_MODEL)}/messages"
    content = alice.words("sea " * 10_000, tokens=20, delay_ms=50)
    with alice.stream("POST", path, named, content=content) as stream:
        stream.until("start")
        Subscription.objects.filter(account=alice.user).update(plan="free")
        answer = alice.ask("POST", path, named, content=content)
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
        assert answer.headers["retry-after"] == "1"
        stream.to_the_end()


def test_while_it_runs_a_client_is_asked_to_wait(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    path = f"/{alice.begin()}/messages"
    content, named = alice.words(tokens=20, delay_ms=50), {"Idempotency-Key": key}
    with alice.stream("POST", path, named, content=content) as stream:
        stream.until("start")
        answer = alice.ask("POST", path, named, content=content)
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
        assert answer.headers["retry-after"] == "1"
        other = alice.ask("POST", path, named, content="Another")
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
        heard = stream.to_the_end()
    with alice.stream("POST", path, named, content=content) as stream:
        assert stream.to_the_end().text == heard.text


def test_what_was_not_billed_is_carried_out_anew(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin()
    content = alice.words(status=400, times=1)
    _, failed = send(alice, conversation, key, content=content)
    headers, heard = send(alice, conversation, key, content=content)
    assert failed.finish["finishReason"] == "error"
    assert (heard.finish["finishReason"], REPLAYED in headers) == ("stop", False)
    assert len(alice.calls()) == 2
    asked, *replies = alice.detail(conversation)["messages"]
    assert [(each["role"], each["parent_id"]) for each in replies] == [
        ("assistant", asked["id"])
    ] * 2
    assert [each["id"] for each in replies] == [failed.reply_id, heard.reply_id]
    assert heard.metadata["context"]["messages"] == 1


def test_it_is_not_carried_out_anew_before_newer_messages(speaker: NewSpeaker) -> None:
    alice, named = speaker(), {"Idempotency-Key": uuid4().hex}
    conversation = alice.begin()
    content = alice.words(status=400, times=1)
    alice.ask("POST", f"/{conversation}/messages", named, content=content)
    alice.send(conversation)
    before = alice.detail(conversation)
    answer = alice.ask("POST", f"/{conversation}/messages", named, content=content)
    assert (answer.status_code, answer.json()["code"]) == (409, "reply_running")
    assert alice.detail(conversation) == before
    assert len(alice.calls()) == 2


def test_nor_where_one_has_come_at_the_same_moment(user: User) -> None:
    request_key = RequestKey("/", uuid4().hex, b"")
    conversation = talk(user)
    failed = manual.begin(user, conversation, request_key=request_key)
    failed.release(UpstreamFailed())
    prepared = prepare_repeat(user, get_conversation(user, conversation.pk), failed.reply)
    manual.begin(user, conversation).settle("Hello.")
    with pytest.raises(ReplyRunning):
        sending.start(
            prepared=prepared,
            request_key=request_key,
            owner_id=failed.owner,
            request_id="req_test",
        )
    assert conversation.messages.count() == 4


def test_one_that_failed_while_it_was_sent_again_is_sent_once_more(user: User) -> None:
    request_key = RequestKey("/", uuid4().hex, b"")
    conversation = talk(user)
    prepared = prepare_message(user, conversation, content="Hi")
    call = manual.begin(user, conversation, request_key=request_key)
    call.release(UpstreamFailed())
    with pytest.raises(IdempotencyInProgress):
        sending.start(
            prepared=prepared, request_key=request_key, owner_id=call.owner, request_id="req_test"
        )
    assert conversation.messages.count() == 2


@pytest.mark.parametrize(("plan", "cost"), [("max", 40), ("free", 0)])
def test_one_whose_process_died_is_told_again_where_anything_was_paid_for_it(
    committed: None, providers: None, plan: str, cost: int
) -> None:
    """Be it one of the free plan's messages."""
    alice, request_key = (
        new_user("alice", plan=plan, balance_usd=5),
        RequestKey("/", uuid4().hex, b""),
    )
    conversation = talk(alice, model=FREE_MODEL)
    call = manual.begin(alice, conversation, request_key=request_key)
    call.save(cost)
    call.die()

    prepared = prepare_repeat(alice, get_conversation(alice, conversation.pk), call.reply)
    replayed = sending.start(
        prepared=prepared, request_key=request_key, owner_id=call.owner, request_id="req_test"
    )

    assert replayed == call.reply
    assert (call.reply.status, conversation.messages.count()) == ("failed", 2)


def test_one_whose_process_died_before_it_had_cost_anything_is_carried_out_anew(
    user: User,
) -> None:
    request_key, conversation = RequestKey("/", uuid4().hex, b""), talk(user)
    call = manual.begin(user, conversation, request_key=request_key)
    call.save(0)
    call.die()

    prepared = prepare_repeat(user, get_conversation(user, conversation.pk), call.reply)
    started = sending.start(
        prepared=prepared, request_key=request_key, owner_id=live_owner(), request_id="req_test"
    )

    assert isinstance(started, StartedReply)
    release(started.reply.pk)


def test_what_failed_but_was_billed_is_not(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin()
    content = alice.words(tokens=9, fail="after", after_tokens=4)
    _, first = send(alice, conversation, key, content=content)
    headers, again = send(alice, conversation, key, content=content)
    assert headers[REPLAYED] == "true"
    assert first.of("error") == again.of("error") != []
    assert (again.text, again.finish) == (first.text, first.finish)
    assert len(alice.calls()) == 1


def test_a_free_message_counts_once(speaker: NewSpeaker) -> None:
    alice, key = speaker(plan="free", balance_usd=0), uuid4().hex
    conversation = alice.begin()
    content = alice.words()
    for _ in range(3):
        send(alice, conversation, key, content=content)
    models = alice.http.get("/api/users/me/entitlements", headers=alice.headers).json()["models"]
    assert [model["free"]["used"] for model in models if model["model"] == "gpt-6-luna"] == [1]


def test_a_double_click_is_one_message(speaker: NewSpeaker) -> None:
    alice, key = speaker(), uuid4().hex
    conversation = alice.begin()
    content = alice.words(tokens=5, delay_ms=50)

    def click(_: int) -> int:
        path, named = f"/{conversation}/messages", {"Idempotency-Key": key}
        return alice.ask("POST", path, named, content=content).status_code

    with ThreadPoolExecutor(6) as executor:
        statuses = sorted(executor.map(click, range(6)))
    assert statuses[0] == 200
    assert set(statuses) <= {200, 409}
    assert len(alice.calls()) == 1
    assert len(alice.detail(conversation)["messages"]) == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "é"])
def test_a_malformed_name_is_refused(speaker: NewSpeaker, key: str) -> None:
    alice = speaker()
    headers = {"Idempotency-Key": key.encode()}
    answer = alice.ask("POST", f"/{alice.begin()}/messages", headers, content=alice.words())  # type: ignore[arg-type]
    assert answer.status_code == 422
