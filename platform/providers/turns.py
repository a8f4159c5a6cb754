"""A conversation for the wires that keep the system's words apart: Anthropic's and Gemini's.

Both want turns of two roles that alternate, begin with the user and are not empty. Their newer
models do not continue a turn of their own, so one that ends a conversation is answered by a user
who asks to go on. What is added here is less than any model's `prompt_overhead_tokens`.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from providers.types import Message

_OPENING = "Hello."
_CONTINUATION = "Continue."
_SEPARATOR = "\n\n"


class Conversation(NamedTuple):
    """`system` may be empty; `turns` alternate, from a user's to a user's."""

    system: str
    turns: list[Message]


def conversation(messages: Iterable[Message]) -> Conversation:
    """The same words in that form: system messages first, neighbours of one role merged."""
    said = [message for message in messages if message.text.strip()]
    system = _joined(message for message in said if message.role == "system")
    spoken = [message for message in said if message.role != "system"]
    turns = [Message(role, _joined(group)) for role, group in groupby(spoken, key=lambda m: m.role)]
    if not turns or turns[-1].role == "assistant":
        turns.append(Message("user", _CONTINUATION))
    if turns[0].role == "assistant":
        turns.insert(0, Message("user", _OPENING))
    return Conversation(system, turns)


def _joined(messages: Iterable[Message]) -> str:
    return _SEPARATOR.join(message.text for message in messages)
