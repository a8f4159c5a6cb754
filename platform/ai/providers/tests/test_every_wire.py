"""What a network and a broken provider can do to a call, the same on every chat wire."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from ai.providers.chat_calls import MAX_ANSWER
from ai.providers.errors import UpstreamError
from ai.providers.types import ChatWire, Deadlines, Finish, Message, TextDelta, Tools
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_and_failure, events_of, request, text_of, within
from .conftest import WireOf
from .tool_calls import WEATHER, asking, calls_of


@dataclass(frozen=True)
class Dialect:
    """How a wire says a text, in JSON with the text left out, how it ends, and how it calls
    `weather` with some arguments."""

    provider: str
    before: bytes
    after: bytes
    end: bytes
    call: Callable[[dict[str, str]], bytes]

    def text(self, words: bytes) -> bytes:
        return b"data: " + self.before + words + self.after + b"\n\n"


def event_of(payload: object) -> bytes:
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def openai_call(arguments: dict[str, str]) -> bytes:
    function = {"name": "weather", "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return event_of({"choices": [{"delta": {"tool_calls": [call]}}]})


def anthropic_call(arguments: dict[str, str]) -> bytes:
    block = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    text = json.dumps(arguments, ensure_ascii=False)
    delta = {"type": "input_json_delta", "partial_json": text}
    return event_of({"type": "content_block_start", "content_block": block}) + event_of(
        {"type": "content_block_delta", "delta": delta}
    )


def google_call(arguments: dict[str, str]) -> bytes:
    part = {"functionCall": {"name": "weather", "args": arguments}}
    return event_of({"candidates": [{"content": {"parts": [part]}}]})


DIALECTS = [
    Dialect(
        "openai",
        b'{"choices":[{"delta":{"content":"',
        b'"}}]}',
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
        openai_call,
    ),
    Dialect(
        "anthropic",
        b'{"type":"content_block_delta","delta":{"type":"text_delta","text":"',
        b'"}}',
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
        anthropic_call,
    ),
    Dialect(
        "google",
        b'{"candidates":[{"content":{"parts":[{"text":"',
        b'"}]}}]}',
        b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
        google_call,
    ),
]


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.provider)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found = request.param
    assert isinstance(found, Dialect)
    return found


@pytest.fixture
def wire(dialect: Dialect, wire_of: WireOf) -> ChatWire:
    return wire_of(dialect.provider)


async def failure_of(wire: ChatWire, deadlines: Deadlines = AMPLE) -> UpstreamError:
    _, failure = await events_and_failure(wire, deadlines)
    assert isinstance(failure, UpstreamError)
    return failure


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (rb"half \ud83d of a pair", "half \ufffd of a pair"),
        (rb"a\u0000b", "ab"),
        (b"broken \xff byte", "broken \ufffd byte"),
        (rb"whole \ud83d\ude00 pair", "whole 😀 pair"),
    ],
)
async def test_what_is_no_character_is_made_harmless(
    upstream: Upstream, wire: ChatWire, dialect: Dialect, sent: bytes, text: str
) -> None:
    upstream.answer = Answer([dialect.text(sent), dialect.end])
    assert text_of(await events_of(wire)) == text


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ([rb"a\ud83c", rb"\udf89b"], "a🎉b"),
        ([rb"\ud83c", rb"\udf89", rb"\ud83c", rb"\udf89"], "🎉🎉"),
        ([rb"\udf89", rb"\ud83c\udf89"], "\ufffd🎉"),
        ([rb"\ud83c", rb"\ud83c\udf89"], "\ufffd🎉"),
        ([rb"\ud83c", b"x", rb"\udf89"], "\ufffdx\ufffd"),
        ([rb"x\ud83c"], "x\ufffd"),
    ],
)
async def test_halves_of_a_character_in_two_deltas_are_joined(
    upstream: Upstream, wire: ChatWire, dialect: Dialect, sent: list[bytes], text: str
) -> None:
    upstream.answer = Answer([*map(dialect.text, sent), dialect.end])
    events = await events_of(wire)
    assert text_of(events) == text
    assert TextDelta("") not in events
    assert isinstance(events[-1], Finish)


async def test_half_of_a_character_before_a_failure_is_told(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(rb"a\ud83c"), b"data: not json\n\n"])
    events, _ = await events_and_failure(wire)
    assert text_of(events) == "a\ufffd"


async def test_a_silence_within_a_character_keeps_what_came_before(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(rb"a\ud83c")], ending="hanging")
    events, _ = await events_and_failure(wire, within(idle=0.1))
    assert events == [TextDelta("a")]


async def test_a_character_cut_by_the_network_is_whole_again(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    whole = dialect.text("😀".encode()).replace(b"\n", b"\r\n")
    cut = whole.index("😀".encode()) + 2
    upstream.answer = Answer([whole[:cut], 0.05, whole[cut:-1], 0.05, whole[-1:], dialect.end])
    assert text_of(await events_of(wire)) == "😀"


async def test_a_call_cut_by_the_network_is_whole_again(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    """It is a call, too, where the provider says that the answer just stopped."""
    arguments = {"city": "Kýïv \\ \n 😀"}
    sent = dialect.call(arguments) + dialect.end
    upstream.answer = Answer([sent[at : at + 5] for at in range(0, len(sent), 5)])
    events = await events_of(wire, asking(tools=Tools((WEATHER,))))
    [call] = calls_of(events)
    assert (call.name, json.loads(call.arguments)) == ("weather", arguments)
    assert events[-1] == Finish("tool_calls")


async def test_what_was_sent_is_held_no_longer_than_until_the_answer_begins(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(b"Hello")], ending="hanging")
    call = request(Message("user", "word " * 180_000))
    tracemalloc.start()
    try:
        async with aclosing(wire.stream(call, AMPLE)) as batches:
            await anext(batches)
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The upstream, which is in this process, too, holds what it has received.
    [received] = upstream.calls
    assert 900_000 < len(received.body) < held < 1.3 * len(received.body)


async def test_a_call_before_a_failure_is_told(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.call({"city": "Kyiv"}), b"data: not json\n\n"])
    events, _ = await events_and_failure(wire, call=asking(tools=Tools((WEATHER,))))
    [call] = calls_of(events)
    assert json.loads(call.arguments) == {"city": "Kyiv"}


@pytest.mark.parametrize(
    "chunk", [b"data: not json\n\n", b"data: [1]\n\n", b"data: " + b"[" * 100_000 + b"\n\n"]
)
async def test_nonsense_is_a_failure(upstream: Upstream, wire: ChatWire, chunk: bytes) -> None:
    upstream.answer = Answer([chunk])
    assert (await failure_of(wire)).retryable


async def test_a_line_without_end_is_given_up(upstream: Upstream, wire: ChatWire) -> None:
    upstream.answer = Answer([b"data: ", *[b"x" * 100_000] * 100])
    assert not (await failure_of(wire)).retryable


async def test_an_answer_without_end_is_given_up(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    piece = dialect.text(b"x" * 500_000)
    upstream.answer = Answer([piece] * (MAX_ANSWER // len(piece) + 2))
    assert not (await failure_of(wire)).retryable


async def test_a_plain_answer_that_is_too_long_is_given_up(
    upstream: Upstream, wire: ChatWire
) -> None:
    upstream.answer = Answer([b"x" * 1_000_000] * 17, content_type=JSON)
    with pytest.raises(UpstreamError) as failure:
        await wire.complete(request(), AMPLE)
    assert not failure.value.retryable


async def test_silence_ends_in_time(upstream: Upstream, wire: ChatWire) -> None:
    upstream.answer = Answer(ending="hanging")
    assert not (await failure_of(wire, within(first_byte=0.1))).retryable


async def test_a_silence_in_the_middle_keeps_what_came(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(b"a")], ending="hanging")
    events, failure = await events_and_failure(wire, within(idle=0.1))
    assert events == [TextDelta("a")]
    assert str(failure) == "The provider did not answer in time."


async def test_a_drip_ends_in_time(upstream: Upstream, wire: ChatWire, dialect: Dialect) -> None:
    drip: list[bytes | float] = [dialect.text(b"a"), 0.05]
    upstream.answer = Answer(drip * 200)
    assert not (await failure_of(wire, within(total=0.3))).retryable


async def test_a_plain_call_has_a_total_alone(upstream: Upstream, wire: ChatWire) -> None:
    upstream.answer = Answer(ending="hanging", content_type=JSON)
    with pytest.raises(UpstreamError, match="in time"):
        await wire.complete(request(), within(first_byte=30.0, idle=30.0, total=0.1))


async def test_a_reset_is_a_failure_that_may_be_tried_again(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    for pieces in ([], [dialect.text(b"a")]):
        upstream.answer = Answer([*pieces], ending="broken")
        assert (await failure_of(wire)).retryable


async def test_a_reset_after_the_finish_spoils_nothing(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(b"a"), dialect.end], ending="broken")
    assert await events_of(wire) == [TextDelta("a"), Finish("stop")]


async def test_a_truncated_answer_is_a_failure_that_may_be_tried_again(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    for pieces in ([], [dialect.text(b"a")]):
        upstream.answer = Answer([*pieces])
        failure = await failure_of(wire)
        assert str(failure) == "The provider's answer broke off."
        assert failure.retryable


async def test_an_overloaded_provider_says_when_to_come_back(
    upstream: Upstream, wire: ChatWire
) -> None:
    upstream.answer = Answer([b"{}"], 529, JSON, headers={"Retry-After": "7"})
    for failure in (await failure_of(wire), await plain_failure_of(wire)):
        assert failure.retryable
        assert failure.retry_after == 7


async def plain_failure_of(wire: ChatWire) -> UpstreamError:
    with pytest.raises(UpstreamError) as failure:
        await wire.complete(request(), AMPLE)
    return failure.value


async def test_a_reader_who_leaves_takes_the_connection_along(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(b"a")], ending="hanging")
    async with aclosing(wire.stream(request(), AMPLE)) as stream:
        assert await anext(stream) == [TextDelta("a")]
    async with asyncio.timeout(2):
        await upstream.left.wait()


async def test_one_connection_serves_call_after_call(
    upstream: Upstream, wire: ChatWire, dialect: Dialect
) -> None:
    upstream.answer = Answer([dialect.text(b"a"), dialect.end])
    for _ in range(5):
        await events_of(wire)
    assert upstream.connections == 1
