"""What comes back: text, reasoning, usage and finish, in every form that providers give them."""

from typing import Any

import pytest

from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.types import ChatEvent, Finish, ReasoningDelta, TextDelta, Usage
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_of, reasoning_of, request, text_of
from .chunks import DONE, delta, event, finish, text, usage
from .conftest import MakeWire


def usage_of(events: list[ChatEvent]) -> Usage | None:
    found = [event for event in events if isinstance(event, Usage)]
    assert len(found) <= 1
    return found[0] if found else None


async def stream(upstream: Upstream, wire: OpenAICompatible, *pieces: bytes) -> list[ChatEvent]:
    upstream.answer = Answer([*pieces, DONE])
    return await events_of(wire)


async def test_text_then_usage_then_finish(upstream: Upstream, wire: OpenAICompatible) -> None:
    events = await stream(
        upstream,
        wire,
        delta(role="assistant", content=""),
        text("Hel"),
        text("lo"),
        finish("stop"),
        event({"choices": [], "usage": usage(9, 3)}),
    )
    assert events == [TextDelta("Hel"), TextDelta("lo"), Usage(9, 3), Finish("stop")]


async def test_one_read_is_one_batch(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer([text("a") + text("b"), 0.1, text("c"), 0.1, finish() + DONE])
    batches = [batch async for batch in wire.stream(request(), AMPLE)]
    assert batches == [[TextDelta("a"), TextDelta("b")], [TextDelta("c")], [Finish("stop")]]


async def test_a_character_cut_by_the_network_is_whole_again(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    whole = '{"choices":[{"delta":{"content":"😀"}}]}'.encode()
    cut = whole.index("😀".encode()) + 2
    events = await stream(
        upstream, wire, b"data: " + whole[:cut], whole[cut:] + b"\r\n\r\n", finish()
    )
    assert text_of(events) == "😀"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_under_either_name(
    upstream: Upstream, wire: OpenAICompatible, name: str
) -> None:
    events = await stream(upstream, wire, delta(**{name: "Hm."}), text("Yes."), finish())
    assert events[:2] == [ReasoningDelta("Hm."), TextDelta("Yes.")]


async def test_content_as_an_array_of_parts(upstream: Upstream, wire: OpenAICompatible) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    events = await stream(
        upstream,
        wire,
        delta(content=[thinking]),
        delta(content=[{"type": "text", "text": "Yes."}]),
        finish(),
    )
    assert (reasoning_of(events), text_of(events)) == ("Hm.", "Yes.")


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "stop"),
        ("function_call", "stop"),
        ("something_new", "stop"),
    ],
)
async def test_finish_reasons(
    upstream: Upstream, wire: OpenAICompatible, given: str, ours: str
) -> None:
    events = await stream(upstream, wire, text("x"), finish(given))
    assert events[-1] == Finish(ours)  # type: ignore[arg-type]


async def test_a_refusal_is_text_that_ends_by_the_content_filter(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    events = await stream(upstream, wire, delta(refusal="I cannot help."), finish("stop"))
    assert events == [TextDelta("I cannot help."), Finish("content_filter")]


DETAILS: dict[str, Any] = {
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 64},
}


async def test_reasoning_is_part_of_the_output(upstream: Upstream, wire: OpenAICompatible) -> None:
    events = await stream(upstream, wire, finish(usage=usage(9, 70, **DETAILS)))
    assert usage_of(events) == Usage(9, 70, cached_tokens=4, reasoning_tokens=64)


async def test_reasoning_is_added_where_the_provider_leaves_it_out(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    wire = make_wire(reasoning_added_to_completion=True)
    events = await stream(upstream, wire, finish(usage=usage(9, 6, **DETAILS)))
    assert usage_of(events) == Usage(9, 70, cached_tokens=4, reasoning_tokens=64)


@pytest.mark.parametrize("name", ["cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens"])
async def test_cached_tokens_under_other_names(
    upstream: Upstream, wire: OpenAICompatible, name: str
) -> None:
    events = await stream(upstream, wire, finish(usage=usage(9, 3, **{name: 5})))
    assert usage_of(events) == Usage(9, 3, cached_tokens=5)


@pytest.mark.parametrize(
    "senseless", [{"cached_tokens": -5}, {"cached_tokens": "five"}, "none", [], 5, None]
)
async def test_a_senseless_count_of_cached_tokens_leaves_the_others(
    upstream: Upstream, wire: OpenAICompatible, senseless: object
) -> None:
    events = await stream(
        upstream, wire, finish(usage=usage(9, 3, prompt_tokens_details=senseless))
    )
    assert usage_of(events) == Usage(9, 3)


async def test_no_more_is_cached_than_was_read(upstream: Upstream, wire: OpenAICompatible) -> None:
    events = await stream(upstream, wire, finish(usage=usage(9, 3, cached_tokens=10)))
    assert usage_of(events) == Usage(9, 3, cached_tokens=9)


async def test_usage_inside_the_choice(upstream: Upstream, wire: OpenAICompatible) -> None:
    choice = {"delta": {}, "finish_reason": "stop", "usage": usage(9, 3)}
    assert usage_of(await stream(upstream, wire, event({"choices": [choice]}))) == Usage(9, 3)


async def test_usage_under_x_groq(upstream: Upstream, wire: OpenAICompatible) -> None:
    events = await stream(upstream, wire, finish(x_groq={"id": "r", "usage": usage(9, 3)}))
    assert usage_of(events) == Usage(9, 3)


async def test_restated_usage_counts_once_and_last(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    events = await stream(
        upstream, wire, finish(usage=usage(9, 1)), event({"choices": [], "usage": usage(9, 3)})
    )
    assert usage_of(events) == Usage(9, 3)


async def test_a_later_zero_does_not_replace_a_count(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    early, late = finish(usage=usage(9, 3)), event({"choices": [], "usage": usage(0, 0)})
    assert usage_of(await stream(upstream, wire, early, late)) == Usage(9, 3)


async def test_the_input_counts_without_the_output(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    events = await stream(upstream, wire, finish(usage={"prompt_tokens": 9}))
    assert usage_of(events) == Usage(9, 0)


async def test_counts_may_be_floats(upstream: Upstream, wire: OpenAICompatible) -> None:
    given = {
        "prompt_tokens": 11.0,
        "completion_tokens": 3.0,
        "prompt_tokens_details": {"cached_tokens": 7.0},
    }
    events = await stream(upstream, wire, finish(usage=given))
    assert usage_of(events) == Usage(11, 3, cached_tokens=7)


async def test_zero_is_data(upstream: Upstream, wire: OpenAICompatible) -> None:
    assert usage_of(await stream(upstream, wire, finish(usage=usage(0, 0)))) == Usage(0, 0)


@pytest.mark.parametrize(
    "given",
    [None, {}, {"total_tokens": 9}, usage(-1, 3), usage(9, 10**30), usage(9, 1.5), "many"],  # type: ignore[arg-type]
)
async def test_usage_that_is_missing_or_senseless_is_none(
    upstream: Upstream, wire: OpenAICompatible, given: object
) -> None:
    assert usage_of(await stream(upstream, wire, text("x"), finish(usage=given))) is None


async def test_an_answer_of_reasoning_alone_is_an_answer(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    events = await stream(upstream, wire, finish("length", usage=usage(9, 100)))
    assert events == [Usage(9, 100), Finish("length")]


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (rb"half \ud83d of a pair", "half \ufffd of a pair"),
        (rb"\udc00", "\ufffd"),
        (rb"a\u0000b", "ab"),
        (b"broken \xff byte", "broken \ufffd byte"),
        (rb"whole \ud83d\ude00 pair", "whole 😀 pair"),
    ],
)
async def test_what_is_no_character_is_made_harmless(
    upstream: Upstream, wire: OpenAICompatible, sent: bytes, text: str
) -> None:
    chunk = b'data: {"choices":[{"delta":{"content":"' + sent + b'"}}]}\n\n'
    assert text_of(await stream(upstream, wire, chunk, finish())) == text


async def test_halves_are_joined_within_the_text_and_within_the_reasoning(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    thought, said = delta(reasoning_content="\ud83c"), delta(content="\udf89")
    more = [delta(content="\ud83c"), delta(content=[{"type": "text", "text": "\udf89"}])]
    events = await stream(upstream, wire, thought, said, *more, finish())
    assert (reasoning_of(events), text_of(events)) == ("\ufffd", "\ufffd🎉")


async def test_a_stream_may_end_without_done(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer([text("x"), finish().rstrip()])
    assert await events_of(wire) == [TextDelta("x"), Finish("stop")]


PLAIN = (
    b'{"choices":[{"message":{"content":"Hi","reasoning_content":"Hm."},"finish_reason":"length"}],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":3}}'
)
PLAIN_EVENTS = [ReasoningDelta("Hm."), TextDelta("Hi"), Usage(9, 3), Finish("length")]


async def test_a_plain_answer(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer([PLAIN[:20], PLAIN[20:]], content_type=JSON)
    assert await wire.complete(request(), AMPLE) == PLAIN_EVENTS


async def test_a_plain_answer_to_a_streamed_call_is_an_answer(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([PLAIN], content_type=JSON)
    assert await events_of(wire) == PLAIN_EVENTS


async def test_a_call_that_is_always_streamed_is_collected(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = Answer([text("a"), text("b"), finish(usage=usage(9, 2)), DONE])
    events = await make_wire(always_stream=True).complete(request(), AMPLE)
    assert events == [TextDelta("a"), TextDelta("b"), Usage(9, 2), Finish("stop")]
