"""Cached input in what a chat call ends with, and in its checkpoints."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, cast

import pytest

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model, TokenPrice
from ai.inference.chat import ChatRunner
from ai.inference.types import ChatCall
from ai.provider_health.services import permit_of
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    Deadlines,
    Finish,
    Message,
    TextDelta,
    Usage,
)
from common.ids import uuid7

pytestmark = pytest.mark.django_db

# What the provider tells, early and at the end.
EARLY, LAST = Usage(90, 1, 80), Usage(90, 10, 80)
UNITS = {"tokens_in": 90, "cached_tokens": 80}


class Provider:
    """It tells early what it has read, and then writes; `breaks`: it stops in the middle."""

    shows_reasoning = True

    def __init__(self, *, breaks: bool) -> None:
        self._breaks = breaks

    async def stream(
        self, _request: ChatRequest, _deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        yield [EARLY, TextDelta("Hello")]
        if not self._breaks:
            yield [LAST, Finish("stop")]

    async def complete(self, _request: ChatRequest, _deadlines: Deadlines) -> list[ChatEvent]:
        return [TextDelta("Hello"), LAST, Finish("stop")]


@pytest.fixture
def luna(cached_input: int | None) -> Model:
    """Input at 1.10 and output at 1.50 USD per million tokens."""
    model = get_catalog().models["gpt-6-luna"]
    return replace(model, price=replace(cast(TokenPrice, model.price), cached_input=cached_input))


async def called(model: Model, *, stream: bool, breaks: bool = False) -> ChatRunner:
    call = ChatCall(
        account_id=uuid7(),
        api_key_id=None,
        source="api",
        request_id="req_test",
        model=model,
        messages=(Message("user", "Hello. " * 20),),
        stream=stream,
    )
    provider: Any = Provider(breaks=breaks)
    permit = permit_of(call.model, None)
    runner = ChatRunner(call, provider, permit, uuid7(), lambda: None)
    await runner._call_provider(60)
    return runner


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("cached_input", "of_input"),
    [(10_000, 10 * 1_100 + 80 * 1_010), (0, 10 * 1_100 + 80 * 1_000), (None, 90 * 1_100)],
)
async def test_a_call_ends_with_the_price_of_its_cached_input(
    luna: Model, of_input: int, stream: bool
) -> None:
    runner = await called(luna, stream=stream)
    outcome = runner._outcome()
    assert outcome is not None
    _, ending = outcome
    assert ending.units == {**UNITS, "tokens_out": 10, "reasoning_tokens": 0}
    assert ending.cost == of_input + 10 * 1_500


@pytest.mark.parametrize(
    ("cached_input", "of_input"), [(10_000, 10 * 1_100 + 80 * 1_010), (None, 90 * 1_100)]
)
async def test_a_checkpoint_has_what_was_told_of_the_cache(luna: Model, of_input: int) -> None:
    runner = await called(luna, stream=True, breaks=True)
    saved = runner.checkpoint()
    tokens_out = saved.units["tokens_out"]
    assert tokens_out >= 1
    assert saved.units == {**UNITS, "tokens_out": tokens_out}
    assert saved.cost == of_input + tokens_out * 1_500
