"""Tools, calls of them and pictures in tests of the wires."""

from collections.abc import Iterable

from hypothesis import strategies as st
from msgspec.structs import replace

from ai.providers.call_ids import with_state
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    InputImage,
    JsonOutput,
    Message,
    Tool,
    ToolCall,
    ToolCallDelta,
    Tools,
)

from .calls import request

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = Tool("weather", "The weather in a city.", CITY)
TIME = Tool("time")
PICTURE = InputImage(b"a picture", "image/png", 20, 10)


def asking(
    *messages: Message,
    tools: Tools | None = None,
    output: JsonOutput | None = None,
    model: str = "some-model",
    effort: str | None = None,
) -> ChatRequest:
    """A request with tools, or for an answer in JSON."""
    return replace(request(*messages, effort=effort), tools=tools, output=output, model=model)


def calls_of(events: Iterable[ChatEvent]) -> tuple[ToolCall, ...]:
    """The calls of an answer, whole."""
    calls: dict[int, ToolCall] = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            call = calls.setdefault(event.index, ToolCall(event.id, event.name, ""))
            calls[event.index] = replace(call, arguments=call.arguments + event.text)
    assert list(calls) == list(range(len(calls)))
    assert all(call.id and call.name for call in calls.values())
    return tuple(calls.values())


def called(*calls: ToolCall, text: str = "") -> Message:
    """A turn of the assistant with calls."""
    return Message("assistant", text, tool_calls=calls)


def result(call_id: str, text: str = "Sunny.", *parts: str | InputImage) -> Message:
    """The result of a call."""
    return Message("tool", text, parts, tool_call_id=call_id)


_texts = st.sampled_from(["", " ", "\n", "Hi", "  indented\n"])
_ids = st.sampled_from(
    [
        "a",
        "b",
        "a.b",
        "a:b",
        "",
        "é" * 70,
        with_state("a", "a", '[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]'),
        with_state("b", "a", '[{"type":"text","text":"no thought"}]'),
        with_state("a", "g", "c2ln"),
        with_state("c", "r", "Hm."),
    ]
)
_arguments = st.sampled_from(["{}", '{"city":"Kyiv"}', "", "[1]", "{", "null", '"\\ud83d"'])
_calls = st.builds(ToolCall, _ids, st.sampled_from(["weather", "time"]), _arguments)


def _message(role: str, parts: list[str | InputImage], calls: list[ToolCall], to: str) -> Message:
    text = "".join(part for part in parts if isinstance(part, str))
    has_pictures = any(isinstance(part, InputImage) for part in parts)
    return Message(
        role,  # type: ignore[arg-type]
        text,
        tuple(parts) if has_pictures else (),
        tuple(calls) if role == "assistant" else (),
        to if role == "tool" else "",
    )


_messages = st.builds(
    _message,
    st.sampled_from(["system", "user", "assistant", "assistant", "tool", "tool"]),
    st.lists(st.one_of(_texts, st.just(PICTURE)), max_size=3),
    st.lists(_calls, max_size=3),
    _ids,
)
conversations = st.lists(_messages, max_size=8)
