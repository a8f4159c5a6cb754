"""What goes out to Google."""

import pytest

from ai.providers.types import Message
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_of, request
from .conftest import WireOf

WHOLE = b'{"candidates":[{"finishReason":"STOP"}]}'
STREAM = Answer([b"data: " + WHOLE + b"\n\n"])
PLAIN = Answer([WHOLE], content_type=JSON)


async def test_a_streamed_call(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = STREAM
    said = (
        Message("system", "Be brief."),
        Message("user", "Hi é"),
        Message("assistant", "Hello"),
        Message("user", "Go on"),
    )
    await events_of(wire_of("google"), request(*said, bound=7))
    [call] = upstream.calls
    assert call.path.endswith("/models/some-model:streamGenerateContent?alt=sse")
    assert call.headers["x-goog-api-key"] == "sk-secret"
    assert "authorization" not in call.headers
    assert call.json == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi é"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
            {"role": "user", "parts": [{"text": "Go on"}]},
        ],
        "generationConfig": {"maxOutputTokens": 7},
    }


async def test_a_plain_call_differs_in_its_path_alone(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = PLAIN
    wire = wire_of("google")
    await events_of(wire)
    await wire.complete(request(), AMPLE)
    streamed, plain = upstream.calls
    assert plain.path.endswith("/models/some-model:generateContent")
    assert plain.json == streamed.json


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
async def test_effort_is_a_level_and_shows_what_was_thought(
    upstream: Upstream, wire_of: WireOf, effort: str
) -> None:
    upstream.answer = STREAM
    await events_of(wire_of("google"), request(effort=effort))
    thinking = upstream.calls[0].json["generationConfig"]["thinkingConfig"]
    assert thinking == {"thinkingLevel": effort.upper(), "includeThoughts": True}
