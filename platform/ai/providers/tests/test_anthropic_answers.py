"""What comes back from Anthropic: blocks, cumulative usage, refusals and errors."""

import json
from typing import Any

import pytest

from ai.providers.errors import ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.types import ChatEvent, ChatWire, Finish, ReasoningDelta, TextDelta, Usage
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_and_failure, events_of, request
from .conftest import WireOf


@pytest.fixture
def wire(wire_of: WireOf) -> ChatWire:
    return wire_of("anthropic")


def event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(**usage: Any) -> bytes:
    return event("message_start", message={"id": "msg_1", "content": [], "usage": usage})


def text(words: str) -> bytes:
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": words})


def end(reason: str | None = "end_turn", **usage: Any) -> bytes:
    return event("message_delta", delta={"stop_reason": reason}, usage=usage)


STOP = event("message_stop")


async def stream(upstream: Upstream, wire: ChatWire, *pieces: bytes) -> list[ChatEvent]:
    upstream.answer = Answer([*pieces])
    return await events_of(wire)


async def test_text_then_usage_then_finish(upstream: Upstream, wire: ChatWire) -> None:
    pieces = [start(input_tokens=9, output_tokens=1), text("Hel"), text("lo")]
    assert await stream(upstream, wire, *pieces, end(output_tokens=3), STOP) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        Usage(9, 3),
        Finish("stop"),
    ]


async def test_what_a_cache_gave_or_took_is_input(upstream: Upstream, wire: ChatWire) -> None:
    opening = start(
        input_tokens=5, cache_creation_input_tokens=20, cache_read_input_tokens=300, output_tokens=1
    )
    events = await stream(upstream, wire, opening, end(output_tokens=2), STOP)
    assert events[0] == Usage(325, 2, cached_tokens=300)


@pytest.mark.parametrize("senseless", [-300, 300.5, "many", [], 10**30, None])
async def test_a_senseless_count_of_a_cache_leaves_the_others(
    upstream: Upstream, wire: ChatWire, senseless: object
) -> None:
    opening = start(
        input_tokens=5,
        cache_creation_input_tokens=senseless,
        cache_read_input_tokens=senseless,
        output_tokens=1,
    )
    events = await stream(upstream, wire, opening, end(output_tokens=2), STOP)
    assert events[0] == Usage(5, 2)


async def test_each_count_is_the_last_that_was_told(upstream: Upstream, wire: ChatWire) -> None:
    opening = start(input_tokens=43, cache_read_input_tokens=7, output_tokens=1)
    restated = end(input_tokens=61, cache_read_input_tokens=None, output_tokens=90)
    assert (await stream(upstream, wire, opening, restated, STOP))[0] == Usage(
        68, 90, cached_tokens=7
    )


async def test_thinking_is_part_of_the_output(upstream: Upstream, wire: ChatWire) -> None:
    usage = end(output_tokens=90, output_tokens_details={"thinking_tokens": 80})
    events = await stream(upstream, wire, start(input_tokens=9), usage, STOP)
    assert events == [Usage(9, 90, reasoning_tokens=80), Finish("stop")]


async def test_the_input_counts_as_soon_as_it_is_told(upstream: Upstream, wire: ChatWire) -> None:
    """The output that the first event tells is a placeholder, and counts for nothing."""
    upstream.answer = Answer([start(input_tokens=9, output_tokens=1), text("x")])
    events, _ = await events_and_failure(wire)
    assert events == [TextDelta("x"), Usage(9, 0)]


async def test_a_later_zero_does_not_replace_a_count(upstream: Upstream, wire: ChatWire) -> None:
    restated = end(input_tokens=0, cache_read_input_tokens=0, output_tokens=3)
    opening = start(input_tokens=50, cache_read_input_tokens=7)
    events = await stream(upstream, wire, opening, text("x"), restated, STOP)
    assert Usage(57, 3, cached_tokens=7) in events


async def test_counts_may_be_floats(upstream: Upstream, wire: ChatWire) -> None:
    events = await stream(upstream, wire, start(input_tokens=9.0), end(output_tokens=3.0), STOP)
    assert events[0] == Usage(9, 3)


@pytest.mark.parametrize(
    ("pieces", "known"),
    [
        ([start(), text("x"), end()], []),
        ([start(input_tokens=9, output_tokens=1), text("x"), end()], [Usage(9, 0)]),
        ([start(), text("x"), end(output_tokens=3)], [Usage(0, 3)]),
        ([start(input_tokens=-9), text("x"), end(output_tokens=3)], [Usage(0, 3)]),
        ([start(input_tokens=9), text("x"), end(output_tokens="three")], [Usage(9, 0)]),
        ([start(input_tokens=9), text("x"), end(output_tokens=10**30)], [Usage(9, 0)]),
    ],
)
async def test_a_count_that_is_missing_or_senseless_leaves_the_others(
    upstream: Upstream, wire: ChatWire, pieces: list[bytes], known: list[Usage]
) -> None:
    events = await stream(upstream, wire, *pieces, STOP)
    assert sorted(events, key=repr) == sorted([TextDelta("x"), *known, Finish("stop")], key=repr)


async def test_zero_is_data(upstream: Upstream, wire: ChatWire) -> None:
    events = await stream(upstream, wire, start(input_tokens=0), end(output_tokens=0), STOP)
    assert events == [Usage(0, 0), Finish("stop")]


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("tool_use", "stop"),
        ("something_new", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ],
)
async def test_stop_reasons(upstream: Upstream, wire: ChatWire, given: str, ours: str) -> None:
    events = await stream(upstream, wire, text("x"), end(given), STOP)
    assert events[-1] == Finish(ours)  # type: ignore[arg-type]


async def test_a_refusal_without_a_word_is_billed_by_its_usage(
    upstream: Upstream, wire: ChatWire
) -> None:
    refusal = event(
        "message_delta",
        delta={"stop_reason": "refusal", "stop_details": {"category": "cyber"}},
        usage={"output_tokens": 1},
    )
    assert await stream(upstream, wire, start(input_tokens=9), refusal, STOP) == [
        Usage(9, 1),
        Finish("content_filter"),
    ]


async def test_what_is_not_known_is_skipped(upstream: Upstream, wire: ChatWire) -> None:
    unknown = [
        event("ping"),
        event("weather_report", delta="sunny", message=7, usage="none", content={}),
        event("content_block_start", content_block={"type": "server_tool_use", "input": {}}),
        event("content_block_delta", delta={"type": "input_json_delta", "partial_json": "{"}),
        event("content_block_delta", delta={"type": "signature_delta", "signature": "c2ln"}),
        event("content_block_stop", index=0),
    ]
    assert await stream(upstream, wire, *unknown, text("x"), end(), STOP) == [
        TextDelta("x"),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("kind", "failure", "retryable"),
    [
        ("overloaded_error", UpstreamError, True),
        ("api_error", UpstreamError, True),
        ("timeout_error", UpstreamError, True),
        ("rate_limit_error", UpstreamError, True),
        ("authentication_error", ProviderUnavailable, None),
        ("billing_error", ProviderUnavailable, None),
        ("invalid_request_error", RequestRefused, None),
    ],
)
async def test_an_error_as_the_first_event(
    upstream: Upstream, wire: ChatWire, kind: str, failure: type, retryable: bool | None
) -> None:
    upstream.answer = Answer([event("error", error={"type": kind, "message": "No."})])
    events, raised = await events_and_failure(wire)
    assert events == []
    assert type(raised) is failure
    assert getattr(raised, "retryable", None) is retryable


async def test_an_error_in_the_middle_keeps_what_came_before(
    upstream: Upstream, wire: ChatWire
) -> None:
    error = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    upstream.answer = Answer([start(input_tokens=9) + text("a") + error])
    events, failure = await events_and_failure(wire)
    assert events == [TextDelta("a"), Usage(9, 0)]
    assert str(failure) == "The provider failed (overloaded_error)."


async def test_an_end_without_a_stop_reason_is_a_failure(
    upstream: Upstream, wire: ChatWire
) -> None:
    for pieces in ([text("a")], [text("a"), STOP], [start(), end(None), STOP]):
        upstream.answer = Answer([*pieces])
        _, failure = await events_and_failure(wire)
        assert str(failure) == "The provider's answer broke off."


async def test_a_stop_reason_without_the_last_event_is_an_end(
    upstream: Upstream, wire: ChatWire
) -> None:
    pieces = [start(input_tokens=9), text("a"), end(output_tokens=1)]
    assert (await stream(upstream, wire, *pieces))[-2:] == [Usage(9, 1), Finish("stop")]


async def test_a_whole_message_instead_of_a_stream_is_an_answer(
    upstream: Upstream, wire: ChatWire
) -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "Hi"},
        ],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    upstream.answer = Answer([json.dumps(message).encode()], content_type=JSON)
    expected = [ReasoningDelta("Hm."), TextDelta("Hi"), Usage(9, 3), Finish("length")]
    assert await events_of(wire) == expected
    assert await wire.complete(request(), AMPLE) == expected


@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        b'{"error":{"message":"A gateway lost its way."}}',
    ],
)
async def test_an_error_that_comes_with_200_is_an_error(
    upstream: Upstream, wire: ChatWire, body: bytes
) -> None:
    upstream.answer = Answer([body], content_type=JSON)
    events, failure = await events_and_failure(wire)
    assert events == []
    assert isinstance(failure, UpstreamError)
    assert failure.retryable
    assert str(failure).startswith("The provider failed")
