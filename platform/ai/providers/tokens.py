"""Counting tokens without the provider's tokenizer: an upper bound for holds, and an estimate.

Besides their text, messages have pictures, tool calls and results; the definitions of tools and the
schema of an answer are input as well.
"""

from collections.abc import Iterable, Iterator

import msgspec

from ai.providers.call_ids import own_id, read_call_id
from ai.providers.image_tokens import estimate_image, image_upper_bound
from ai.providers.token_estimate import estimate_text
from ai.providers.types import JsonOutput, Message, Tools

_ENVELOPE = 16  # tokens that a chat template may add around one message, call or definition
_ESTIMATED_ENVELOPE = 4
# The instructions that a provider adds where a model may call tools, or has a schema to follow.
# Anthropic publishes the most, up to 530 for its older models.
_INSTRUCTIONS = 1_024
_ESTIMATED_INSTRUCTIONS = 300


def input_upper_bound(
    messages: Iterable[Message],
    overhead: int,
    *,
    provider: str = "",
    tools: Tools | None = None,
    output: JsonOutput | None = None,
) -> int:
    """An upper bound of the provider's count of input tokens.

    Every known tokenizer spends at least one UTF-8 byte on a token. `overhead` is the model's
    `prompt_overhead_tokens`. The listed context window is no bound: some providers accept more.
    """
    total = overhead
    for message in messages:
        total += _utf8_length(message.text) + _ENVELOPE
        if message.tool_calls or message.parts or message.tool_call_id:
            total += texts_upper_bound(_texts_beside(message))
            total += sum(image_upper_bound(provider, image) for image in message.images)
    if tools or output:
        total += texts_upper_bound(_definitions(tools, output)) + _INSTRUCTIONS
    return total


def texts_upper_bound(texts: Iterable[str]) -> int:
    """An upper bound of every provider's count for texts without messages around them."""
    return sum(_utf8_length(text) + _ENVELOPE for text in texts)


def estimate_input(
    messages: Iterable[Message],
    *,
    provider: str = "",
    tools: Tools | None = None,
    output: JsonOutput | None = None,
) -> int:
    """An estimate of the input tokens, at least 1: for a call whose usage never came."""
    total = 0
    for message in messages:
        total += estimate_text(message.text) + _ESTIMATED_ENVELOPE
        total += _estimate(call.name + call.arguments for call in message.tool_calls)
        total += sum(estimate_image(provider, image) for image in message.images)
    if tools or output:
        total += _estimate(_definitions(tools, output)) + _ESTIMATED_INSTRUCTIONS
    return max(1, total)


def _estimate(texts: Iterable[str]) -> int:
    return sum(estimate_text(text) + _ESTIMATED_ENVELOPE for text in texts)


def _texts_beside(message: Message) -> Iterator[str]:
    """What a message has besides its text and pictures."""
    for call in message.tool_calls:
        yield from (*read_call_id(call.id), call.name, call.arguments)
    yield own_id(message.tool_call_id)


def _definitions(tools: Tools | None, output: JsonOutput | None) -> Iterator[str]:
    """The definitions of tools and of an answer's form as JSON, each as one text."""
    for definition in (*(tools.functions if tools else ()), *([output] if output else [])):
        yield msgspec.json.encode(definition).decode()


def _utf8_length(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))
