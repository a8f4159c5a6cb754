"""Counting tokens without the provider's tokenizer: an upper bound for holds, and an estimate."""

from collections.abc import Iterable

from ai.providers.token_estimate import estimate_text
from ai.providers.types import Message

_ENVELOPE = 16  # tokens that a chat template may add around one message
_ESTIMATED_ENVELOPE = 4


def input_upper_bound(messages: Iterable[Message], overhead: int) -> int:
    """An upper bound of every provider's count of input tokens.

    Every known tokenizer spends at least one UTF-8 byte on a token. `overhead` is the model's
    `prompt_overhead_tokens`. The listed context window is no bound: some providers accept more.
    """
    text = sum(_utf8_length(message.text) + _ENVELOPE for message in messages)
    return text + overhead


def texts_upper_bound(texts: Iterable[str]) -> int:
    """An upper bound of every provider's count for texts without messages around them."""
    return sum(_utf8_length(text) + _ENVELOPE for text in texts)


def estimate_input(messages: Iterable[Message]) -> int:
    """An estimate of the input tokens, at least 1: for a call whose usage never came."""
    return max(1, sum(estimate_text(message.text) + _ESTIMATED_ENVELOPE for message in messages))


def _utf8_length(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))
