"""A stream of each vendor, in the shape it sends: the same text, and each token counted once.

Every file in `fixtures` tells of 21 tokens of prompt, 12 of them cached, and 76 of output, 64 of
them reasoning, in that vendor's own terms and with its own habits. Those in `fixtures/tools` end
with two calls after the same text.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ai.providers.call_ids import read_call_id
from ai.providers.config import PROVIDERS
from ai.providers.types import ChatEvent, Finish, Tool, ToolCallDelta, Tools, Usage
from common.tests.upstream import Answer, Upstream
from tests.documents import assert_same

from .calls import events_of, reasoning_of, request, text_of
from .conftest import WireOf

FIXTURES = Path(__file__).parent / "fixtures"
TEXT = "The capital of France is Paris — “la Ville lumière”."
REASONING = "The user asks for a capital."
FULL = Usage(21, 76, cached_tokens=12, reasoning_tokens=64)
USAGE = {
    "openai": FULL,
    "anthropic": FULL,
    "google": FULL,
    "xai": FULL,
    "deepseek": FULL,
    "mistral": Usage(21, 76, cached_tokens=12),  # does not say what of the output was reasoning
    "moonshot": Usage(21, 76, cached_tokens=12),
    "groq": FULL,
    "qwen": FULL,
    "zai": FULL,
    "openrouter": FULL,
    "together": Usage(21, 76, cached_tokens=12),
    "ollama": Usage(21, 76),
    "vllm": Usage(21, 76, cached_tokens=12),
}


def test_every_vendor_with_a_chat_interface_has_a_fixture() -> None:
    chat = {name for name, known in PROVIDERS.items() if known.wire}
    recorded = {path.stem for path in FIXTURES.glob("*.sse")}
    assert_same(USAGE, chat, "USAGE in this file")
    assert_same(recorded, chat, "ai/providers/tests/fixtures: one .sse of each provider")


def recorded(file: str, newline: bytes, cut: int | None) -> Answer:
    sent = (FIXTURES / file).read_bytes().replace(b"\n", newline)
    step = cut or len(sent)
    return Answer([sent[i : i + step] for i in range(0, len(sent), step)])


@pytest.mark.parametrize("cut", [None, 97], ids=["whole", "cut anywhere"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", USAGE)
async def test_a_stream_is_read_and_counted_once(
    upstream: Upstream, wire_of: WireOf, name: str, newline: bytes, cut: int | None
) -> None:
    upstream.answer = recorded(f"{name}.sse", newline, cut)
    events = await events_of(wire_of(name))
    assert text_of(events) == TEXT
    assert reasoning_of(events) == ("" if name == "openai" else REASONING)
    assert events[-2:] == [USAGE[name], Finish("stop")]


WITH_CALLS = sorted(path.stem for path in (FIXTURES / "tools").glob("*.sse"))
ASKED = msgspec.structs.replace(request(), tools=Tools((Tool("get_weather"), Tool("get_time"))))


def calls_in(events: list[ChatEvent]) -> Iterator[tuple[str, str, Any]]:
    """The calls: id, name, and arguments as JSON."""
    pieces: dict[int, list[ToolCallDelta]] = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            pieces.setdefault(event.index, []).append(event)
    for first, *others in pieces.values():
        arguments = "".join(piece.text for piece in (first, *others))
        yield first.id, first.name, json.loads(arguments)


@pytest.mark.parametrize("cut", [None, 97], ids=["whole", "cut anywhere"])
@pytest.mark.parametrize("name", WITH_CALLS)
async def test_calls_after_a_text_are_read_and_counted_once(
    upstream: Upstream, wire_of: WireOf, name: str, cut: int | None
) -> None:
    upstream.answer = recorded(f"tools/{name}.sse", b"\n", cut)
    events = await events_of(wire_of(name), ASKED)
    assert text_of(events) == TEXT
    assert events[-2:] == [USAGE[name], Finish("tool_calls")]
    first, second = calls_in(events)
    assert first[1:] == ("get_weather", {"city": "Köln — “Colonia”", "days": 2})
    assert second[1:] == ("get_time", {})
    assert len({first[0], second[0]}) == 2
    field = PROVIDERS[name].flags.reasoning_back
    state = read_call_id(first[0]).state
    if field == "reasoning_details":
        assert "".join(detail["text"] for detail in json.loads(state)) == REASONING
    else:
        assert state == (REASONING if field else "")
