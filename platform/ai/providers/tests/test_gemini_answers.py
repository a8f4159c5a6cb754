"""What comes back from Google: parts, cumulative usage, blocks and errors."""

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
    return wire_of("google")


def event(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\r\n\r\n"


def parts(*given: dict[str, Any], reason: str | None = None, **usage: int) -> bytes:
    candidate = {"content": {"parts": list(given), "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return event(candidates=[candidate], usageMetadata=usage)


def text(words: str, reason: str | None = None, **usage: int) -> bytes:
    return parts({"text": words}, reason=reason, **usage)


async def stream(upstream: Upstream, wire: ChatWire, *pieces: bytes) -> list[ChatEvent]:
    upstream.answer = Answer([*pieces])
    return await events_of(wire)


async def test_usage_counts_from_the_beginning_and_the_last_stands(
    upstream: Upstream, wire: ChatWire
) -> None:
    events = await stream(
        upstream,
        wire,
        text("Hel", promptTokenCount=9),
        text("lo", promptTokenCount=9, candidatesTokenCount=2),
        text("!", "STOP", promptTokenCount=9, candidatesTokenCount=3, totalTokenCount=12),
    )
    assert events[3:] == [Usage(9, 3), Finish("stop")]


async def test_thoughts_are_beside_the_candidates_and_cached_is_in_the_prompt(
    upstream: Upstream, wire: ChatWire
) -> None:
    thought = parts({"text": "Hm.", "thought": True}, promptTokenCount=9, thoughtsTokenCount=64)
    last = text(
        "Yes.",
        "STOP",
        promptTokenCount=9,
        cachedContentTokenCount=4,
        toolUsePromptTokenCount=2,
        candidatesTokenCount=6,
        thoughtsTokenCount=64,
    )
    assert await stream(upstream, wire, thought, last) == [
        ReasoningDelta("Hm."),
        TextDelta("Yes."),
        Usage(11, 70, cached_tokens=4, reasoning_tokens=64),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("count", "cached"), [(9, 9), (10, 9), (-4, 0), (None, 0), ("four", 0), ({}, 0)]
)
async def test_a_senseless_count_of_cached_tokens_leaves_the_others(
    upstream: Upstream, wire: ChatWire, count: Any, cached: int
) -> None:
    last = text(
        "!",
        "STOP",
        promptTokenCount=9,
        candidatesTokenCount=3,
        cachedContentTokenCount=count,
    )
    events = await stream(upstream, wire, last)
    assert events[1:] == [Usage(9, 3, cached_tokens=cached), Finish("stop")]


async def test_an_answer_of_thoughts_alone_is_billed(upstream: Upstream, wire: ChatWire) -> None:
    last = event(
        candidates=[{"finishReason": "MAX_TOKENS", "index": 0}],
        usageMetadata={"promptTokenCount": 9, "thoughtsTokenCount": 100},
    )
    assert await stream(upstream, wire, last) == [
        Usage(9, 100, reasoning_tokens=100),
        Finish("length"),
    ]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"promptTokenCount": -9, "candidatesTokenCount": 3},
        {"promptTokenCount": "nine", "candidatesTokenCount": 3},
        "many",
    ],
)
async def test_usage_that_is_missing_or_senseless_is_none(
    upstream: Upstream, wire: ChatWire, usage: object
) -> None:
    candidate = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
    events = await stream(upstream, wire, event(candidates=[candidate], usageMetadata=usage))
    assert events == [TextDelta("x"), Finish("stop")]


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"candidatesTokenCount": 3}, Usage(0, 3)),
        ({"promptTokenCount": 9}, Usage(9, 0)),
        ({"promptTokenCount": 9, "thoughtsTokenCount": 40}, Usage(9, 0, reasoning_tokens=40)),
        ({"promptTokenCount": 9.0, "candidatesTokenCount": 3.0}, Usage(9, 3)),
    ],
)
async def test_a_count_counts_without_the_others(
    upstream: Upstream, wire: ChatWire, usage: object, known: Usage
) -> None:
    """Thoughts alone are no count of an answer that has text."""
    candidate = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
    events = await stream(upstream, wire, event(candidates=[candidate], usageMetadata=usage))
    assert events == [TextDelta("x"), known, Finish("stop")]


async def test_a_later_zero_does_not_replace_a_count(upstream: Upstream, wire: ChatWire) -> None:
    counted = {"promptTokenCount": 9, "candidatesTokenCount": 3}
    parts = {"content": {"parts": [{"text": "x"}]}}
    early = event(candidates=[parts], usageMetadata=counted)
    zeros = dict.fromkeys(counted, 0)
    late = event(candidates=[{"finishReason": "STOP"}], usageMetadata=zeros)
    assert await stream(upstream, wire, early + late) == [
        TextDelta("x"),
        Usage(9, 3),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("LANGUAGE", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("OTHER", "stop"),
        ("MALFORMED_FUNCTION_CALL", "stop"),
        ("SOMETHING_NEW", "stop"),
    ],
)
async def test_finish_reasons(upstream: Upstream, wire: ChatWire, given: str, ours: str) -> None:
    events = await stream(upstream, wire, text("x", given))
    assert events == [TextDelta("x"), Finish(ours)]  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", ["OTHER", "MALFORMED_FUNCTION_CALL", "SOMETHING_NEW"])
async def test_giving_up_without_a_word_is_a_failure(
    upstream: Upstream, wire: ChatWire, reason: str
) -> None:
    upstream.answer = Answer([text("", reason, promptTokenCount=9)])
    events, failure = await events_and_failure(wire)
    assert events == [Usage(9, 0)]
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


async def test_what_was_counted_is_known_when_the_answer_breaks_off(
    upstream: Upstream, wire: ChatWire
) -> None:
    counted = text("x", promptTokenCount=9, candidatesTokenCount=30, thoughtsTokenCount=200)
    upstream.answer = Answer([counted], ending="broken")
    events, _ = await events_and_failure(wire)
    assert events == [TextDelta("x"), Usage(9, 230, reasoning_tokens=200)]


async def test_a_blocked_prompt_is_refused_and_not_counted_as_an_answer(
    upstream: Upstream, wire: ChatWire
) -> None:
    blocked = event(
        promptFeedback={"blockReason": "PROHIBITED_CONTENT"},
        usageMetadata={"promptTokenCount": 9, "totalTokenCount": 9},
    )
    upstream.answer = Answer([blocked])
    events, failure = await events_and_failure(wire)
    assert not any(isinstance(event, Finish) for event in events)
    assert isinstance(failure, RequestRefused)
    assert failure.blocked


async def test_parts_without_text_are_skipped(upstream: Upstream, wire: ChatWire) -> None:
    others: list[dict[str, Any]] = [
        {"functionCall": {"name": "f", "args": {}}},
        {"inlineData": {"mimeType": "image/png", "data": ""}},
        {"text": None},
        {"text": "", "thoughtSignature": "c2ln"},
    ]
    events = await stream(upstream, wire, parts(*others), event(), text("x", "STOP"))
    assert events == [TextDelta("x"), Finish("stop")]


async def test_an_end_without_a_finish_is_a_failure(upstream: Upstream, wire: ChatWire) -> None:
    for pieces in ([text("a", promptTokenCount=9)], [event()], []):
        upstream.answer = Answer([*pieces])
        _, failure = await events_and_failure(wire)
        assert str(failure) == "The provider's answer broke off."


async def test_an_error_in_the_middle_keeps_what_came_before(
    upstream: Upstream, wire: ChatWire
) -> None:
    error = event(error={"code": 503, "message": "Busy.", "status": "UNAVAILABLE"})
    upstream.answer = Answer([text("a") + error])
    events, failure = await events_and_failure(wire)
    assert events == [TextDelta("a")]
    assert isinstance(failure, UpstreamError)


async def test_an_error_that_comes_with_200_has_its_own_status(
    upstream: Upstream, wire: ChatWire
) -> None:
    body = b'{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}'
    upstream.answer = Answer([body], content_type=JSON)
    assert isinstance((await events_and_failure(wire))[1], ProviderUnavailable)


async def test_a_plain_answer(upstream: Upstream, wire: ChatWire) -> None:
    answer = {
        "candidates": [
            {
                "content": {"parts": [{"text": "Hm.", "thought": True}, {"text": "Hi"}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 9,
            "candidatesTokenCount": 1,
            "thoughtsTokenCount": 3,
        },
    }
    upstream.answer = Answer([json.dumps(answer).encode()], content_type=JSON)
    expected = [
        ReasoningDelta("Hm."),
        TextDelta("Hi"),
        Usage(9, 4, reasoning_tokens=3),
        Finish("stop"),
    ]
    assert await wire.complete(request(), AMPLE) == expected
    assert await events_of(wire) == expected
