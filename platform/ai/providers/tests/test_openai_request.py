"""What goes out to a provider: exactly what it takes, and nothing of the caller's sampling."""

import pytest

from ai.providers.config import SAME_WORD, Flags, from_environ
from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.types import Message
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_of, request
from .chunks import DONE, finish
from .conftest import MakeWire, WireOf

STREAM = Answer([finish(), DONE])
PLAIN = Answer(
    [b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}'], content_type=JSON
)


async def test_a_streamed_call(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = STREAM
    await events_of(wire, request(Message("system", "Be brief."), Message("user", "Hi é"), bound=7))
    [call] = upstream.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == "Bearer sk-secret-of-the-platform"
    assert call.headers["content-type"] == "application/json"
    assert call.json == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi é"},
        ],
        "max_tokens": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_a_plain_call(upstream: Upstream, wire: OpenAICompatible) -> None:
    upstream.answer = PLAIN
    await wire.complete(request(), AMPLE)
    assert upstream.calls[0].json["stream"] is False
    assert "stream_options" not in upstream.calls[0].json


async def test_the_bound_goes_under_the_name_the_provider_knows(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = STREAM
    await events_of(make_wire(max_field="max_completion_tokens"), request(bound=9))
    assert upstream.calls[0].json["max_completion_tokens"] == 9
    assert "max_tokens" not in upstream.calls[0].json


async def test_stream_options_stay_home_where_they_are_refused(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = STREAM
    await events_of(make_wire(send_stream_options=False))
    assert "stream_options" not in upstream.calls[0].json


async def test_effort_is_sent_only_where_it_was_asked_for_and_is_known(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = STREAM
    await events_of(make_wire(effort_map=SAME_WORD), request(effort="low"))
    await events_of(make_wire(effort_map=SAME_WORD))
    await events_of(make_wire(), request(effort="low"))
    assert [call.json.get("reasoning_effort") for call in upstream.calls] == ["low", None, None]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openai", ["low", "medium", "high"]),
        ("xai", ["low", "medium", "high"]),
        ("groq", ["low", "medium", "high"]),
        ("deepseek", ["high", "high", "high"]),
        ("mistral", ["high", "high", "high"]),
        ("moonshot", ["low", "high", "high"]),
        ("zai", ["high", "high", "high"]),
        ("ollama", ["low", "medium", "high"]),
        ("vllm", ["low", "medium", "high"]),
        ("together", [None, None, None]),
    ],
)
async def test_each_provider_has_its_own_words_for_effort(
    upstream: Upstream, wire_of: WireOf, name: str, words: list[str | None]
) -> None:
    upstream.answer = STREAM
    for effort in ("low", "medium", "high"):
        await events_of(wire_of(name), request(effort=effort))
    assert [call.json.get("reasoning_effort") for call in upstream.calls] == words


async def test_openrouter_takes_effort_as_an_object(upstream: Upstream, wire_of: WireOf) -> None:
    upstream.answer = STREAM
    await events_of(wire_of("openrouter"), request(effort="low"))
    assert upstream.calls[0].json["reasoning"] == {"effort": "low"}
    assert "reasoning_effort" not in upstream.calls[0].json


@pytest.mark.parametrize(
    ("effort", "bound", "thinking", "rest"),
    [
        ("low", 1_000, 100, 900),
        ("medium", 1_000, 300, 700),
        ("high", 1_000, 600, 400),
        ("high", 2, 1, 1),
        ("low", 5, None, 5),
        (None, 1_000, None, 1_000),
    ],
)
async def test_qwen_thinks_and_speaks_within_one_bound(
    upstream: Upstream,
    wire_of: WireOf,
    effort: str | None,
    bound: int,
    thinking: int | None,
    rest: int,
) -> None:
    upstream.answer = STREAM
    await wire_of("qwen").complete(request(effort=effort, bound=bound), AMPLE)
    sent = upstream.calls[0].json
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["enable_thinking"] is (thinking is not None)
    assert sent.get("thinking_budget") == thinking
    assert sent["max_tokens"] == rest
    assert "reasoning_effort" not in sent


def local_flags() -> Flags:
    environ = {"LOCAL_MODEL_URL": "http://127.0.0.1:1"}
    return from_environ(environ, simulated=frozenset(), simulator_url="")["local"].flags


async def test_the_local_model_is_streamed_steered_and_cool(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    flags = local_flags()
    upstream.answer = STREAM
    wire = make_wire(
        always_stream=flags.always_stream,
        default_system_message=flags.default_system_message,
        temperature=flags.temperature,
    )
    await wire.complete(request(), AMPLE)
    sent = upstream.calls[0].json
    assert sent["stream"] is True
    assert sent["temperature"] == 0
    assert sent["messages"][0] == {"role": "system", "content": "You are a helpful assistant."}


async def test_a_caller_s_system_message_stands_alone(
    upstream: Upstream, make_wire: MakeWire
) -> None:
    upstream.answer = STREAM
    wire = make_wire(default_system_message="You are a helpful assistant.")
    await events_of(wire, request(Message("user", "Hi"), Message("system", "Be a pirate.")))
    assert [m["content"] for m in upstream.calls[0].json["messages"]] == ["Hi", "Be a pirate."]


async def test_no_key_is_no_authorization(upstream: Upstream, client: UpstreamClient) -> None:
    upstream.answer = STREAM
    environ = {"LOCAL_MODEL_URL": upstream.url}
    config = from_environ(environ, simulated=frozenset(), simulator_url="")["local"]
    await events_of(OpenAICompatible(config, client))
    assert "authorization" not in upstream.calls[0].headers
