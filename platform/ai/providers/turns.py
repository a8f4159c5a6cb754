"""Conversations for the wires with a separate system prompt: Anthropic's and Gemini's.

Both want alternating, non-empty turns of two roles, beginning with the user, and the results of a
turn's calls, all of them, right after it. Their newer models do not continue a turn of their own,
so after a last turn of the assistant a user's turn asks to go on. The added text is shorter than
any model's `prompt_overhead_tokens`.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ai.providers.call_ids import own_id
from ai.providers.types import InputImage, Message, ToolCall

_OPENING = "Hello."
_CONTINUATION = "Continue."
_NO_RESULT = "No result."
_SEPARATOR = "\n\n"

_MAX_ID = 64
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Conversation(NamedTuple):
    """`system` may be empty. In `turns` those of the assistant and of the user alternate; they
    begin and end with the user's.

    To a turn of the user belong the results before it, of role `tool`: one for each call of the
    assistant's turn before them, in the order and with the ids of the calls. The own ids of calls
    are of letters, digits, `_` and `-`, and each is there once.
    """

    system: str
    turns: list[Message]


class _Step(NamedTuple):
    """What the assistant said, its calls, their results by the calls' places, and what the user
    said then."""

    said: list[Message]
    calls: list[ToolCall]
    results: dict[int, Message]
    asked: list[Message]


def conversation(messages: Iterable[Message]) -> Conversation:
    """The messages in that form: system messages first, neighbours of one role merged. A result of
    no call is what the user says, and a call without a result has one that says so."""
    filled = [message for message in messages if _is_filled(message)]
    system = _joined(message for message in filled if message.role == "system")
    steps = _steps(message for message in filled if message.role != "system")
    taken: dict[str, int] = {}
    turns = [turn for step in steps for turn in _turns(step, taken)]
    if not turns or turns[-1].role == "assistant":
        turns.append(Message("user", _CONTINUATION))
    if turns[0].role == "assistant":
        turns.insert(0, Message("user", _OPENING))
    return Conversation(system, turns)


def sides(turns: Iterable[Message]) -> Iterator[tuple[bool, list[Message]]]:
    """The turns of each side, and whether it is the assistant's: results and what the user says
    after them are of one side."""
    for is_assistant, group in groupby(turns, key=lambda turn: turn.role == "assistant"):
        yield is_assistant, list(group)


def parts_of(message: Message) -> Iterator[str | InputImage]:
    """The texts that are not blank, and the pictures, in their order."""
    for part in message.parts or (message.text,):
        if isinstance(part, InputImage) or part.strip():
            yield part


def arguments_of(call: ToolCall) -> msgspec.Raw:
    """The arguments of a call as a JSON object. Those that are none, as models and clients write
    them, are a text in it."""
    if is_json_object(call.arguments):
        return msgspec.Raw(call.arguments.encode())
    return msgspec.Raw(msgspec.json.encode({"arguments": call.arguments}))


def is_json_object(text: str) -> bool:
    """Is a text an object in JSON?"""
    try:
        _decode_object(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _is_filled(message: Message) -> bool:
    if message.role == "tool":
        return True
    return bool(
        message.text.strip() or message.tool_calls or (message.role == "user" and message.images)
    )


def _steps(messages: Iterable[Message]) -> list[_Step]:
    steps = [_Step([], [], {}, [])]
    waiting: dict[str, deque[tuple[_Step, int]]] = {}
    for message in messages:
        step = steps[-1]
        if message.role == "assistant":
            if step.results or step.asked:
                steps.append(step := _Step([], [], {}, []))
            step.said.append(message)
            for call in message.tool_calls:
                _await(waiting, step, call)
        elif message.role == "tool" and waiting.get(message.tool_call_id):
            called, place = waiting[message.tool_call_id].popleft()
            called.results[place] = message
        else:
            step.asked.append(Message("user", message.text, message.parts))
    return steps


def _await(waiting: dict[str, deque[tuple[_Step, int]]], step: _Step, call: ToolCall) -> None:
    """Add a call to a step. Of calls with one id, those of the last step wait for a result, the
    first one first."""
    queue = waiting.setdefault(call.id, deque())
    if queue and queue[0][0] is not step:
        queue.clear()
    queue.append((step, len(step.calls)))
    step.calls.append(call)


def _turns(step: _Step, taken: dict[str, int]) -> Iterator[Message]:
    """The turns of a step, with ids that are not `taken`."""
    calls = tuple(replace(call, id=_own_id(call.id, taken)) for call in step.calls)
    if step.said:
        yield Message("assistant", _joined(step.said), tool_calls=calls)
    for index, call in enumerate(calls):
        result = step.results.get(index, Message("tool", _NO_RESULT))
        yield replace(result, tool_call_id=call.id)
    asked = [message for message in step.asked if _is_filled(message)]
    if asked:
        has_parts = any(message.parts for message in asked)
        parts = tuple(part for message in asked for part in parts_of(message)) if has_parts else ()
        yield Message("user", _joined(asked), parts)


def _joined(messages: Iterable[Message]) -> str:
    return _SEPARATOR.join(message.text for message in messages if message.text.strip())


def _own_id(call_id: str, taken: dict[str, int]) -> str:
    """The id with its state, and an own part that is not `taken`: each that is has the last number
    that was put after it."""
    own = own_id(call_id)
    plain = name = _NOT_IN_IDS.sub("_", own)[:_MAX_ID] or "call"
    while name in taken:
        taken[plain] += 1
        name = f"{plain}-{taken[plain]}"
    taken[name] = 1
    return name + call_id[len(own) :]
