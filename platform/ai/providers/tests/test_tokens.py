"""Counting tokens without a tokenizer."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ai.providers.config import PROVIDERS
from ai.providers.openai_request import encode_request
from ai.providers.tokens import estimate_input, input_upper_bound
from ai.providers.types import ChatRequest, JsonOutput, Message, Tools

from .prompts import CHAT, conversations, outputs, tools

MESSAGES = st.lists(st.builds(Message, st.just("user"), st.text()))


def test_the_bound_counts_bytes_envelopes_and_overhead() -> None:
    messages = [Message("system", "abc"), Message("user", "é😀")]
    assert input_upper_bound(messages, 64) == 3 + 6 + 2 * 16 + 64


def test_the_bound_does_not_end_at_a_context_window_that_the_provider_may_exceed() -> None:
    assert input_upper_bound([Message("user", "x" * 10_000)], 64) == 10_000 + 16 + 64


def test_half_a_surrogate_pair_is_counted_and_not_an_error() -> None:
    assert input_upper_bound([Message("user", "\ud800")], 0) == 3 + 16


@given(MESSAGES)
def test_the_estimate_is_positive_and_under_the_bound(messages: list[Message]) -> None:
    assert 1 <= estimate_input(messages) <= input_upper_bound(messages, 64)


@given(st.sampled_from(CHAT), conversations, st.none() | tools, st.none() | outputs)
def test_tools_forms_and_pictures_are_estimated_under_the_bound(
    provider: str, messages: list[Message], given_tools: Tools | None, output: JsonOutput | None
) -> None:
    estimate = estimate_input(messages, provider=provider, tools=given_tools, output=output)
    assert estimate >= 1
    assert estimate <= input_upper_bound(
        messages, 64, provider=provider, tools=given_tools, output=output
    )


def read_by_the_model(sent: Any) -> Iterator[str]:
    """The texts in a body for a provider, whatever field they are in; pictures count by
    themselves."""
    for message in sent["messages"]:
        content = message["content"] or ""
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        yield from (part["text"] for part in parts if part["type"] == "text")
        for call in message.get("tool_calls", ()):
            yield from call["function"].values()
        yield from (str(value) for field, value in message.items() if field.startswith("reasoning"))
    yield from (compact(tool["function"]) for tool in sent.get("tools", ()))
    if "response_format" in sent:
        yield compact(sent["response_format"].get("json_schema", ""))


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


SPOKEN = [name for name, known in PROVIDERS.items() if known.wire == "openai_compatible"]


def written(provider: str, request: ChatRequest) -> int:
    """The bytes that a model of the provider reads of a request, at most."""
    sent = json.loads(encode_request(request, PROVIDERS[provider].flags, stream=True))
    return sum(len(text.encode()) for text in read_by_the_model(sent))


@given(st.sampled_from(SPOKEN), conversations)
def test_no_text_of_a_conversation_is_left_out_of_the_bound(
    provider: str, messages: list[Message]
) -> None:
    request = ChatRequest("some-model", tuple(messages), 100)
    assert written(provider, request) <= input_upper_bound(messages, 0, provider=provider)


@given(st.sampled_from(SPOKEN), st.none() | tools, st.none() | outputs)
def test_no_definition_is_left_out_of_the_bound(
    provider: str, functions: Tools | None, output: JsonOutput | None
) -> None:
    request = ChatRequest("some-model", (), 100, None, functions, output)
    bound = input_upper_bound([], 0, provider=provider, tools=functions, output=output)
    assert written(provider, request) <= bound
