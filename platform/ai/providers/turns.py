"""Conversations for the wires with a separate system prompt: Anthropic's and Gemini's.

Both want alternating, non-empty turns of two roles, beginning with the user. Their newer models do
not continue a turn of their own, so after a last turn of the assistant a user's turn asks to go on.
The added text is shorter than any model's `prompt_overhead_tokens`.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from ai.providers.types import Message

_OPENING = "Hello."
_CONTINUATION = "Continue."
_SEPARATOR = "\n\n"


class Conversation(NamedTuple):
    """`system` may be empty; `turns` alternate, and begin and end with a user's."""

    system: str
    turns: list[Message]


def conversation(messages: Iterable[Message]) -> Conversation:
    """The messages in that form: system messages first, neighbours of one role merged."""
    filled = [message for message in messages if message.text.strip()]
    system = _joined(message for message in filled if message.role == "system")
    spoken = [message for message in filled if message.role != "system"]
    turns = [Message(role, _joined(group)) for role, group in groupby(spoken, key=lambda m: m.role)]
    if not turns or turns[-1].role == "assistant":
        turns.append(Message("user", _CONTINUATION))
    if turns[0].role == "assistant":
        turns.insert(0, Message("user", _OPENING))
    return Conversation(system, turns)


def _joined(messages: Iterable[Message]) -> str:
    return _SEPARATOR.join(message.text for message in messages)
