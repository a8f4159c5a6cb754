"""`GET .../stream`: coming back to a reply that is being written."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest

from accounts.services.users import revoke_sessions
from conversations.tests.conftest import NewSpeaker
from conversations.tests.rows import talk
from conversations.tests.speaker import THINKER, EndOfStream, Speaker, Stream

SEA = "Deep 🌊 indeed, 深い。 " * 12


@contextmanager
def running(person: Speaker, **steering: Any) -> Iterator[tuple[str, Stream]]:
    """A conversation and the stream of a reply that is being written in it."""
    conversation = person.begin(model=THINKER)
    steering = {"text": SEA, "reasoning_tokens": 20, "delay_ms": 25, **steering}
    content = person.words(**steering)
    with person.stream("POST", f"/{conversation}/messages", content=content) as stream:
        stream.until("start")
        yield conversation, stream


def test_it_begins_with_the_start_and_ends_with_the_end(speaker: NewSpeaker) -> None:
    alice = speaker()
    with running(alice) as (conversation, stream):
        stream.until("text-delta")
        with alice.stream("GET", f"/{conversation}/stream") as resumed:
            again = resumed.to_the_end()
        heard = stream.to_the_end()
    reply = alice.message(conversation, heard.reply_id)
    assert (again.text, again.reasoning) == (heard.text, heard.reasoning)
    assert (again.text, again.reasoning) == (reply["content"], reply["reasoning"])
    assert again.frames[0] == heard.frames[0]
    assert again.finish == heard.finish
    assert again.of("data-title") == heard.of("data-title")


@pytest.mark.parametrize("of", ["reasoning-delta", "text-delta"])
def test_it_goes_on_after_the_frame_that_came_last(speaker: NewSpeaker, of: str) -> None:
    alice = speaker()
    with running(alice) as (conversation, stream):
        stream.until(of)
        seen = stream.until(of)
        so_far = stream.heard.reasoning + stream.heard.text
        path = f"/{conversation}/messages/{stream.heard.reply_id}/stream"
        with alice.stream("GET", path, {"Last-Event-ID": str(seen.id)}) as resumed:
            rest = resumed.to_the_end()
        heard = stream.to_the_end()
    rest.frames = [frame for frame in rest.frames if frame.type != "data-title"]
    assert seen.id == len(so_far)
    assert so_far + rest.reasoning + rest.text == heard.reasoning + heard.text
    assert rest.of("start") == []
    for frame in rest.frames:
        assert frame.id >= seen.id
    # Readers that know nothing of ids take no delta of a part that was not opened.
    assert rest.frames[0].type == of.replace("delta", "start")
    assert rest.finish == heard.finish


def test_it_goes_on_inside_an_event_too(speaker: NewSpeaker) -> None:
    alice = speaker()
    with running(alice) as (conversation, stream):
        last = stream.until("text-delta")
        with alice.stream("GET", f"/{conversation}/stream", {"Last-Event-ID": "3"}) as resumed:
            rest = resumed.to_the_end()
        heard = stream.to_the_end()
    assert last.id > 3
    assert rest.reasoning + rest.text == (heard.reasoning + heard.text)[3:]


def test_many_follow_at_once(speaker: NewSpeaker) -> None:
    alice = speaker()
    with (
        running(alice) as (conversation, stream),
        alice.stream("GET", f"/{conversation}/stream") as first,
        alice.stream("GET", f"/{conversation}/stream") as second,
    ):
        heard = stream.to_the_end()
        assert first.to_the_end().text == second.to_the_end().text == heard.text


def test_the_title_comes_here_too(speaker: NewSpeaker) -> None:
    alice = speaker()
    with running(alice, delay_ms=50) as (conversation, stream):
        stream.until("data-title")
        with alice.stream("GET", f"/{conversation}/stream") as resumed:
            again = resumed.to_the_end()
        heard = stream.to_the_end()
    assert again.of("data-title") == heard.of("data-title") != []


def test_a_title_that_the_user_has_replaced_does_not_come(speaker: NewSpeaker) -> None:
    alice = speaker()
    with running(alice, delay_ms=50) as (conversation, stream):
        stream.until("data-title")
        alice.do("PATCH", f"/{conversation}", title="Mine")
        with alice.stream("GET", f"/{conversation}/stream") as resumed:
            again = resumed.to_the_end()
        stream.to_the_end()
    assert again.of("data-title") == []
    assert again.text == SEA


def test_where_nothing_runs_nothing_comes(speaker: NewSpeaker) -> None:
    alice = speaker()
    conversation = alice.begin()
    assert alice.ask("GET", f"/{conversation}/stream").status_code == 204
    heard = alice.send(conversation)
    question = heard.metadata["user_message_id"]
    paths = ["stream", f"messages/{heard.reply_id}/stream", f"messages/{question}/stream"]
    for path in paths:
        answer = alice.ask("GET", f"/{conversation}/{path}")
        assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize("sent", ["x", "-1", "1.5", "1 2", "9" * 19, "٣"])
def test_an_id_that_is_none_is_refused(speaker: NewSpeaker, sent: str) -> None:
    alice = speaker()
    headers = {"Last-Event-ID": sent.encode()}
    answer = alice.ask("GET", f"/{alice.begin()}/stream", headers)  # type: ignore[arg-type]
    assert answer.status_code == 422


def test_nobody_follows_replies_of_others(speaker: NewSpeaker) -> None:
    alice, bob = speaker(), speaker(name="bob")
    with running(alice) as (conversation, stream):
        reply_id = stream.heard.reply_id
        for path in ("stream", f"messages/{reply_id}/stream"):
            assert bob.ask("GET", f"/{conversation}/{path}").status_code == 404
        mine = str(talk(bob.user, "Hello").pk)
        assert bob.ask("GET", f"/{mine}/messages/{reply_id}/stream").status_code == 404
        assert alice.ask("GET", f"/{conversation}/messages/{uuid4()}/stream").status_code == 404
        stream.to_the_end()


def test_a_client_that_hangs_up_ends_nothing(speaker: NewSpeaker) -> None:
    alice = speaker()
    with running(alice) as (conversation, stream):
        stream.until("text-delta")
        reply_id = stream.heard.reply_id
    with alice.stream("GET", f"/{conversation}/stream") as resumed:
        assert resumed.next().type == "start"
    with alice.stream("GET", f"/{conversation}/stream") as resumed:
        heard = resumed.to_the_end()
    reply = alice.message(conversation, reply_id)
    assert (reply["status"], reply["content"]) == ("completed", SEA)
    assert heard.text == SEA
    assert len(alice.calls()) == 1


def test_its_head_alone_keeps_no_connection(speaker: NewSpeaker) -> None:
    alice = speaker()
    with (
        running(alice, delay_ms=50) as (conversation, stream),
        httpx.Client(
            base_url=alice.http.base_url,
            headers=alice.headers,
            limits=httpx.Limits(max_connections=1),
        ) as connection,
    ):
        path = f"/api/conversations/{conversation}"
        head = connection.head(f"{path}/stream")
        running_id = connection.get(path).json()["running_message_id"]
        stream.to_the_end()
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"].startswith("text/event-stream")
    assert running_id == stream.heard.reply_id


def test_any_web_process_knows_the_reply(speaker: NewSpeaker, other_web: httpx.Client) -> None:
    alice = speaker()
    elsewhere = replace(alice, http=other_web)
    with running(alice) as (conversation, stream):
        seen = stream.until("text-delta")
        so_far = stream.heard.reasoning + stream.heard.text
        headers = {"Last-Event-ID": str(seen.id)}
        with elsewhere.stream("GET", f"/{conversation}/stream", headers) as resumed:
            rest = resumed.to_the_end()
        heard = stream.to_the_end()
    assert so_far + rest.reasoning + rest.text == heard.reasoning + heard.text
    assert rest.finish == heard.finish


def test_one_reader_too_many_is_told_when_to_come_back(
    speaker: NewSpeaker, other_web: httpx.Client
) -> None:
    alice = speaker()
    elsewhere = replace(alice, http=other_web)
    with running(alice, delay_ms=50) as (conversation, stream):
        path = f"/{conversation}/stream"
        with elsewhere.stream("GET", path) as first, elsewhere.stream("GET", path) as second:
            first.until("reasoning-delta")
            second.until("reasoning-delta")
            refused = elsewhere.ask("GET", path)
        stream.to_the_end()
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")


def test_of_readers_who_come_at_once_those_too_many_are_told_so(
    speaker: NewSpeaker, other_web: httpx.Client
) -> None:
    alice = speaker()
    headers = alice.headers

    def follow(_: int) -> tuple[int, str, bytes]:
        path = f"/api/conversations/{conversation}/stream"
        with other_web.stream("GET", path, headers=headers) as answer:
            retry_after = answer.headers.get("retry-after", "")
            return answer.status_code, retry_after, answer.read()

    with running(alice, delay_ms=50) as (conversation, stream), ThreadPoolExecutor(12) as executor:
        answers = list(executor.map(follow, range(12)))
        stream.to_the_end()

    read = [body for status, _, body in answers if status == 200]
    refusals = [(status, after) for status, after, _ in answers if status != 200]
    assert len(read) == 2
    assert all(body.endswith(b"data: [DONE]\n\n") for body in read)
    assert set(refusals) == {(429, "5")}


def test_a_token_that_was_revoked_follows_no_longer(
    speaker: NewSpeaker, other_web: httpx.Client
) -> None:
    alice = speaker()
    elsewhere = replace(alice, http=other_web)
    with running(alice, delay_ms=60) as (conversation, stream):
        with elsewhere.stream("GET", f"/{conversation}/stream") as resumed:
            resumed.until("reasoning-delta")
            revoke_sessions(user=alice.user)
            with pytest.raises(EndOfStream):
                resumed.to_the_end()
        with pytest.raises(EndOfStream):
            stream.to_the_end()
