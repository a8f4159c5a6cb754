"""What goes out to Anthropic."""

import pytest

from ai.providers.types import ChatRequest, Message
from common.tests.upstream import Answer, Upstream

from .calls import AMPLE, events_of, request
from .conftest import WireOf

STREAM = Answer([b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'])


async def sent(upstream: Upstream, wire_of: WireOf, call: ChatRequest) -> dict[str, object]:
    """The body of a streamed call; a plain one must be the same, for it is streamed, too."""
    upstream.answer = STREAM
    wire = wire_of("anthropic")
    await events_of(wire, call)
    await wire.complete(call, AMPLE)
    streamed, plain = upstream.calls
    assert streamed.json == plain.json
    return dict(streamed.json)


async def test_a_call(upstream: Upstream, wire_of: WireOf) -> None:
    call = request(Message("system", "Be brief."), Message("user", "Hi é"), bound=7)
    assert await sent(upstream, wire_of, call) == {
        "model": "some-model",
        "max_tokens": 7,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hi é"}],
        "stream": True,
    }
    headers = upstream.calls[0].headers
    assert headers["x-api-key"] == "sk-secret"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert "authorization" not in headers
    assert upstream.calls[0].path.endswith("/v1/messages")


async def test_without_a_system_message_there_is_no_such_field(
    upstream: Upstream, wire_of: WireOf
) -> None:
    assert "system" not in await sent(upstream, wire_of, request())


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
async def test_effort_is_the_same_word_and_shows_what_was_thought(
    upstream: Upstream, wire_of: WireOf, effort: str
) -> None:
    body = await sent(upstream, wire_of, request(effort=effort))
    assert body["output_config"] == {"effort": effort}
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}


async def test_without_an_effort_the_provider_decides(upstream: Upstream, wire_of: WireOf) -> None:
    assert not {"output_config", "thinking"} & (await sent(upstream, wire_of, request())).keys()
