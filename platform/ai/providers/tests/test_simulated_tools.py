"""Tools, forms of answers and pictures of the vendors of the OpenAI wire, at the simulator."""

import io
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from PIL import Image as Pixels
from pytest_django import Settings

from ai.providers.config import PROVIDERS, from_environ
from ai.providers.registry import aclose, get_chat_wire
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    ChatWire,
    Finish,
    InputImage,
    JsonOutput,
    Message,
    Tool,
    ToolCall,
    ToolCallDelta,
    Tools,
    Usage,
)
from simulator.process import RunningSimulator

from .calls import AMPLE, events_of, text_of

SPOKEN = [name for name, known in PROVIDERS.items() if known.wire == "openai_compatible"]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = Tools((Tool("get_weather", "The weather of a city.", CITY),))
ASKED = Message("user", "What is the weather in Paris and Berlin?")


@pytest.fixture(params=SPOKEN)
async def wire(
    request: pytest.FixtureRequest, settings: Settings, simulator: RunningSimulator
) -> AsyncIterator[ChatWire]:
    name = request.param
    settings.PROVIDERS = from_environ({}, simulated=frozenset({name}), simulator_url=simulator.url)
    if not PROVIDERS[name].is_hosted:
        environ = {f"{name.upper()}_BASE_URL": simulator.base_url(name)}
        settings.PROVIDERS = from_environ(environ, simulated=frozenset(), simulator_url="")
    wire = get_chat_wire(name)
    assert wire is not None
    yield wire
    await aclose()


def asking(*messages: Message, **fields: Any) -> ChatRequest:
    call = ChatRequest("simulated-model", messages, 500)
    return msgspec.structs.replace(call, **fields)


async def both_ways(wire: ChatWire, call: ChatRequest) -> list[list[ChatEvent]]:
    """What the same call brings streamed and plain."""
    wire.check(call)
    return [await events_of(wire, call), await wire.complete(call, AMPLE)]


def calls_in(events: list[ChatEvent]) -> tuple[ToolCall, ...]:
    pieces: dict[int, list[ToolCallDelta]] = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            pieces.setdefault(event.index, []).append(event)
    return tuple(
        ToolCall(first.id, first.name, "".join(piece.text for piece in (first, *others)))
        for first, *others in pieces.values()
    )


async def test_a_model_calls_a_tool_for_each_city_and_answers_with_the_results(
    wire: ChatWire,
) -> None:
    for events in await both_ways(wire, asking(ASKED, tools=TOOLS)):
        calls = calls_in(events)
        assert [(call.name, json.loads(call.arguments)) for call in calls] == [
            ("get_weather", {"city": "Paris"}),
            ("get_weather", {"city": "Berlin"}),
        ]
        assert isinstance(events[-2], Usage)
        assert events[-1] == Finish("tool_calls")
        told = [
            Message("tool", f"{degrees} degrees", tool_call_id=call.id)
            for degrees, call in zip((18, 21), calls, strict=True)
        ]
        turn = Message("assistant", text_of(events), tool_calls=calls)
        [answer, _] = await both_ways(wire, asking(ASKED, turn, *told, tools=TOOLS))
        assert answer[-1] == Finish("stop")
        assert "18 degrees" in text_of(answer)
        assert "21 degrees" in text_of(answer)


async def test_an_answer_is_json_that_matches_its_schema(wire: ChatWire) -> None:
    asked = Message("user", "Which city is the capital of France? Answer in JSON.")
    for output in (JsonOutput(), JsonOutput(CITY, "place")):
        for events in await both_ways(wire, asking(asked, output=output)):
            answer = json.loads(text_of(events))
            assert isinstance(answer, dict)
            assert "city" in answer or output.schema is None
            assert events[-1] == Finish("stop")


def picture(colour: str) -> InputImage:
    file = io.BytesIO()
    Pixels.new("RGB", (40, 30), colour).save(file, "PNG")
    return InputImage(file.getvalue(), "image/png", 40, 30)


@pytest.mark.parametrize("wire", [name for name in SPOKEN if name != "deepseek"], indirect=True)
async def test_a_model_sees_the_pictures_of_a_user_and_of_a_result(wire: ChatWire) -> None:
    shown = Message("user", "What is this?", ("What is this?", picture("red")))
    for events in await both_ways(wire, asking(shown)):
        assert "40 x 30 pixels and mostly red" in text_of(events)
    turn = Message("assistant", "", tool_calls=(ToolCall("call_1", "get_weather", "{}"),))
    result = Message("tool", "See.", ("See.", picture("blue")), tool_call_id="call_1")
    for events in await both_ways(wire, asking(ASKED, turn, result)):
        assert "mostly blue" in text_of(events)
