"""A stream of each vendor, in the shape it sends: the same text, and each token counted once.

Every file in `fixtures` tells of 21 tokens of prompt, 12 of them cached, and 76 of output, 64 of
them reasoning, in that vendor's own terms and with its own habits.
"""

from pathlib import Path

import pytest

from ai.providers.config import PROVIDERS
from ai.providers.types import Finish, Usage
from common.tests.upstream import Answer, Upstream
from tests.documents import assert_same

from .calls import events_of, reasoning_of, text_of
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


@pytest.mark.parametrize("cut", [None, 97], ids=["whole", "cut anywhere"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", USAGE)
async def test_a_stream_is_read_and_counted_once(
    upstream: Upstream, wire_of: WireOf, name: str, newline: bytes, cut: int | None
) -> None:
    sent = (FIXTURES / f"{name}.sse").read_bytes().replace(b"\n", newline)
    step = cut or len(sent)
    upstream.answer = Answer([sent[i : i + step] for i in range(0, len(sent), step)])
    events = await events_of(wire_of(name))
    assert text_of(events) == TEXT
    assert reasoning_of(events) == ("" if name == "openai" else REASONING)
    assert events[-2:] == [USAGE[name], Finish("stop")]
