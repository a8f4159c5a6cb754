"""Every chat wire against the simulator, which knows the vendors' formats and none of our code."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from ai.providers.config import PROVIDERS, from_environ
from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.registry import aclose, get_chat_wire
from ai.providers.types import ChatEvent, ChatRequest, ChatWire, Finish, Message, Usage
from simulator.process import RunningSimulator

from .calls import AMPLE, events_and_failure, events_of, reasoning_of, text_of

# The simulator knows the models of these; it takes `simulated-model` for all others.
KNOWN_MODELS = {
    "openai": "gpt-6-luna",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "xai": "grok-4.7",
    "deepseek": "deepseek-v4-pro",
    "mistral": "mistral-medium-2604",
    "moonshot": "kimi-k3",
    "groq": "openai/gpt-oss-120b",
    "qwen": "qwen3.8-max",
    "zai": "glm-5.2",
}
MODELS = {
    name: KNOWN_MODELS.get(name, "simulated-model")
    for name, known in PROVIDERS.items()
    if known.wire
}
TELLS_CACHED = MODELS.keys() - {"ollama"}
TELLS_REASONING = TELLS_CACHED - {"mistral", "moonshot", "together"}


class Simulated:
    """One provider at the simulator, and a marker for this test's calls."""

    def __init__(self, name: str, simulator: RunningSimulator) -> None:
        wire = get_chat_wire(name)
        assert wire is not None
        self.wire: ChatWire = wire
        self.name = name
        self._marker = uuid4().hex
        self._simulator = simulator

    def call(self, *, bound: int = 500, **options: Any) -> ChatRequest:
        steering = json.dumps({"marker": self._marker} | options)
        messages = (
            Message("system", "Be brief."),
            Message("assistant", "Welcome!"),
            Message("user", f"Name a city.\n@sim {steering}"),
        )
        return ChatRequest(MODELS[self.name], messages, bound, "high")

    @property
    def journalled(self) -> dict[str, int]:
        return self._simulator.calls(self._marker)[-1]


@pytest.fixture(params=MODELS)
async def simulated(
    request: pytest.FixtureRequest, settings: Settings, simulator: RunningSimulator
) -> AsyncIterator[Simulated]:
    name = request.param
    settings.PROVIDERS = from_environ({}, simulated=frozenset({name}), simulator_url=simulator.url)
    yield Simulated(name, simulator)
    await aclose()


async def both_ways(simulated: Simulated, **options: Any) -> list[list[ChatEvent]]:
    """What the same call brings streamed and plain."""
    call = simulated.call(**options)
    return [await events_of(simulated.wire, call), await simulated.wire.complete(call, AMPLE)]


async def test_every_token_is_counted_once(simulated: Simulated) -> None:
    for events in await both_ways(
        simulated, tokens=7, reasoning_tokens=20, cached_tokens=3, restate_usage=True
    ):
        journalled = simulated.journalled
        assert journalled["prompt_tokens"] > 3
        name = simulated.name
        assert events[-2:] == [
            Usage(
                journalled["prompt_tokens"],
                27,
                cached_tokens=3 if name in TELLS_CACHED else 0,
                reasoning_tokens=20 if name in TELLS_REASONING else 0,
            ),
            Finish("stop"),
        ]
        assert len(text_of(events).split()) == 7


async def test_thought_is_shown_apart_from_text(simulated: Simulated) -> None:
    for events in await both_ways(simulated, text="Paris.", reasoning_tokens=5):
        assert text_of(events) == "Paris."
        assert bool(reasoning_of(events)) is (simulated.name != "openai")


async def test_thought_alone_that_fills_the_bound_is_billed(simulated: Simulated) -> None:
    for events in await both_ways(simulated, bound=10, reasoning_tokens=50):
        assert text_of(events) == ""
        *_, usage = [event for event in events if isinstance(event, Usage)]
        assert 0 < usage.output_tokens <= 10
        assert events[-1] == Finish("length")


async def test_no_usage_is_none(simulated: Simulated) -> None:
    for events in await both_ways(simulated, tokens=3, no_usage=True):
        assert not any(isinstance(event, Usage) for event in events)
        assert events[-1] == Finish("stop")


async def test_zero_usage_is_data(simulated: Simulated) -> None:
    for events in await both_ways(simulated, text="Paris.", reasoning_tokens=0, zero_usage=True):
        assert [event for event in events if isinstance(event, Usage)] == [Usage(0, 0)]


async def test_a_model_that_declines_answers(simulated: Simulated) -> None:
    for events in await both_ways(simulated, refusal=True):
        assert events[-1] == Finish("content_filter")


async def test_a_prompt_that_moderation_stops_is_refused(simulated: Simulated) -> None:
    failure = await failure_of(simulated, blocked=True)
    assert isinstance(failure, RequestRefused)
    assert failure.blocked


async def test_strange_streams_are_read_as_usual(simulated: Simulated) -> None:
    call = simulated.call(text="Zürich 😀 Łódź", comments=True, crlf=True, split=True)
    assert text_of(await events_of(simulated.wire, call)) == "Zürich 😀 Łódź"


async def failure_of(simulated: Simulated, **options: Any) -> ProviderError:
    """How that call fails; streamed and plain calls must agree."""
    call = simulated.call(tokens=5, **options)
    with pytest.raises(ProviderError) as streamed:
        await events_of(simulated.wire, call)
    with pytest.raises(ProviderError) as plain:
        await simulated.wire.complete(call, AMPLE)
    assert type(streamed.value) is type(plain.value)
    return streamed.value


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_passes_may_be_tried_again(simulated: Simulated, status: int) -> None:
    failure = await failure_of(simulated, status=status, retry_after=7)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable
    assert failure.retry_after == 7


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_what_is_ours_makes_the_provider_unavailable(
    simulated: Simulated, status: int
) -> None:
    assert isinstance(await failure_of(simulated, status=status), ProviderUnavailable)


@pytest.mark.parametrize("option", [{"error_in_200": True}, {"drop": True}, {"bad_json": True}])
async def test_a_failure_after_the_headers_may_be_tried_again(
    simulated: Simulated, option: dict[str, Any]
) -> None:
    failure = await failure_of(simulated, **option)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


@pytest.mark.parametrize("option", [{"fail": "after"}, {"truncate": True}, {"drop": True}])
async def test_a_failure_in_the_middle_keeps_what_came_before(
    simulated: Simulated, option: dict[str, Any]
) -> None:
    call = simulated.call(tokens=5, reasoning_tokens=0, after_tokens=2, **option)
    events, failure = await events_and_failure(simulated.wire, call=call)
    assert len(text_of(events).split()) == 2
    assert isinstance(failure, UpstreamError)
