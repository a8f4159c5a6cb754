"""A call ends in time, and a reader who leaves takes the connection along."""

import asyncio
from contextlib import aclosing

import pytest

from ai.providers.errors import UpstreamError
from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.types import ChatEvent, Deadlines, Finish, TextDelta
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_and_failure, events_of, request, within
from .chunks import DONE, finish, text
from .conftest import MakeWire


async def failed_in_time(wire: OpenAICompatible, deadlines: Deadlines) -> list[ChatEvent]:
    events, failure = await events_and_failure(wire, deadlines)
    assert str(failure) == "The provider did not answer in time."
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    return events


async def test_headers_that_never_come(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer(delay=30.0)
    await failed_in_time(wire, within(first_byte=0.1))


async def test_a_first_byte_that_never_comes(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer(ending="hanging")
    await failed_in_time(wire, within(first_byte=0.1))


async def test_a_silence_in_the_middle(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = Answer([text("a")], ending="hanging")
    assert await failed_in_time(wire, within(idle=0.1)) == [TextDelta("a")]


async def test_comments_keep_a_waiting_call_alive(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    waiting: list[bytes | float] = [b": keep-alive\n\n", 0.2]
    upstream.answer = Answer([*waiting * 9, text("a"), finish(), DONE])
    events = await events_of(wire, deadlines=within(first_byte=1.5, idle=1.5))
    assert events == [TextDelta("a"), Finish("stop")]


async def test_a_stream_that_never_ends(upstream: Upstream, wire: OpenAICompatible) -> None:
    drip: list[bytes | float] = [text("a"), 0.05]
    upstream.answer = Answer(drip * 200)
    assert await failed_in_time(wire, within(total=1.5))


async def test_a_plain_call_has_a_total_alone(upstream: Upstream, wire: OpenAICompatible) -> None:
    body = b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'
    upstream.answer = Answer([body], content_type=JSON, delay=0.2)
    assert await wire.complete(request(), within(first_byte=0.1, idle=0.1))
    upstream.answer.delay = 30.0
    with pytest.raises(UpstreamError, match="in time"):
        await wire.complete(request(), within(total=0.1))


async def test_a_plain_call_that_is_streamed_has_a_total_alone(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = Answer([0.2, text("a"), 0.2, finish(), DONE])
    wire = make_wire(always_stream=True)
    assert await wire.complete(request(), within(first_byte=0.1, idle=0.1))


async def test_silence_after_the_finish_spoils_nothing(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a"), finish()], ending="hanging")
    assert await events_of(wire, deadlines=within(idle=0.1)) == [TextDelta("a"), Finish("stop")]


async def test_a_body_that_stays_open_after_done_is_not_waited_for(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a"), finish(), DONE], ending="hanging")
    async with asyncio.timeout(2):
        assert await events_of(wire) == [TextDelta("a"), Finish("stop")]
        await upstream.left.wait()


async def test_a_cancelled_reader_closes_the_connection(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a")], ending="hanging")
    first = asyncio.Event()

    async def read() -> None:
        async for _ in wire.stream(request(), AMPLE):
            first.set()

    reader = asyncio.create_task(read())
    await first.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    async with asyncio.timeout(2):
        await upstream.left.wait()


async def test_a_closed_stream_closes_the_connection(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a")], ending="hanging")
    async with aclosing(wire.stream(request(), AMPLE)) as stream:
        assert await anext(stream) == [TextDelta("a")]
    async with asyncio.timeout(2):
        await upstream.left.wait()


async def test_one_connection_serves_call_after_call(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a"), finish(), DONE])
    for _ in range(5):
        await events_of(wire)
    assert upstream.connections == 1
