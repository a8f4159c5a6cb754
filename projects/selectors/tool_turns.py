"""The turns of an author that calls functions: what was asked for and what came of it, as messages
for its next turn."""

import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from ai.catalog.types import Model
from ai.inference.bounds import LEAST_OUTPUT_TOKENS, chat_cost, input_bound
from ai.providers.types import Message, ToolCall, Tools
from projects.author_tools.arguments import FINISH, FUNCTIONS
from projects.author_tools.calls import FEW_CALLS, MAX_CALLS, StoredCall, read_calls
from projects.models import Step
from projects.prompts.continuing import GO_ON
from projects.prompts.tool_working import FINISH_NOW, LEFT_OUT, TAKEN_OVER, calls_left
from projects.selectors.answers import turns_before
from projects.selectors.spending import left_to_write, power_of

# Characters of all messages of a turn.
MAX_CONVERSATION: Final = 700_000
# Characters of an argument of an earlier call that are kept where there is no room.
_MAX_KEPT_ARGUMENT = 300
# Tokens that another turn reads at least: of its results.
_NEXT_INPUT = 1_000


class Turn(Struct, frozen=True):
    """A step that another one continues, and its model."""

    step_id: UUID
    model: str
    text: str
    calls: list[StoredCall] = []


def read_turns(step: Step) -> list[Turn]:
    """The turns that a step continues, the first one first."""
    ids = [each.pk for each in turns_before(step)]
    rows = {
        pk: Turn(pk, model, content, read_calls(result))
        for pk, model, content, result in Step.objects.filter(pk__in=ids).values_list(
            "pk", "model", "content", "result"
        )
    }
    return [rows[each] for each in ids]


def open_calls(step: Step) -> list[StoredCall]:
    """The calls of the turn that a step continues, which were not carried out yet."""
    if step.continues_id is None:
        return []
    turn = Step.objects.only("result").get(pk=step.continues_id)
    return [call for call in read_calls(turn.result) if call.result is None]


def calls_before(turns: Sequence[Turn], model: str) -> int:
    """How many calls this model has made in these turns. Who goes on in the place of another has
    calls of its own."""
    return sum(len(turn.calls) for turn in turns if turn.model == model)


def calls_of(turns: Sequence[Turn]) -> list[StoredCall]:
    """All calls of the turns."""
    return [call for turn in turns for call in turn.calls]


def since_calls(turns: Sequence[Turn]) -> list[Turn]:
    """The turns after the last calls: those of an answer in words, which was cut."""
    last = max((place for place, turn in enumerate(turns, start=1) if turn.calls), default=0)
    return [*turns[last:]]


def conversation(turns: Sequence[Turn], model: str, *, room: int, is_last: bool) -> list[Message]:
    """The turns as messages for the model, in about so many characters (`room`): the oldest results
    are left out first, and then what was written. `is_last`: the author is to finish now."""
    messages: list[Message] = []
    text = ""
    turns = _within(turns, room)
    for turn in turns:
        text += turn.text
        if turn.calls:
            asked = tuple(
                ToolCall(call.id, call.name, _sound(call.arguments)) for call in turn.calls
            )
            messages.append(Message("assistant", text, tool_calls=asked))
            messages += [
                Message("tool", call.result.text if call.result else "", tool_call_id=call.id)
                for call in turn.calls
            ]
            text = ""
    if text:
        return [*messages, Message("assistant", text), Message("user", GO_ON)]
    if messages and (notice := _notice(calls_before(turns, model), is_last)):
        messages[-1] = replace(messages[-1], text=f"{messages[-1].text}\n\n{notice}")
    return messages


def functions_for(*, is_last: bool) -> Tools:
    """The functions of a turn. No model is forced to call one: not all providers can do that, and
    an answer in words is a result as well."""
    functions = [each for each in FUNCTIONS if each.name == FINISH or not is_last]
    return Tools(tuple(functions))


def has_to_finish(step: Step, model: Model, messages: Sequence[Message], calls: int) -> bool:
    """Is this the last turn of an author that has made so many calls: for want of calls, of money
    for another turn, or of tokens that its user allows?"""
    if calls >= MAX_CALLS:
        return True
    left = left_to_write(step)
    if left is not None and left < 2 * LEAST_OUTPUT_TOKENS:
        return True
    power, within = power_of(step.run)
    tokens_in = input_bound(model, messages, functions_for(is_last=False))
    this = chat_cost(model, tokens_in, LEAST_OUTPUT_TOKENS)
    another = chat_cost(model, tokens_in + _NEXT_INPUT, LEAST_OUTPUT_TOKENS)
    return power.most(model.id, within) < this + another


def _notice(count: int, is_last: bool) -> str:
    if is_last:
        return FINISH_NOW
    if not count:
        return TAKEN_OVER
    return calls_left(MAX_CALLS - count) if count >= MAX_CALLS - FEW_CALLS else ""


def _sound(arguments: str) -> str:
    """Arguments as every provider takes them back: an object in JSON."""
    return arguments if isinstance(_parsed(arguments), dict) else "{}"


def _within(turns: Sequence[Turn], room: int) -> list[Turn]:
    kept = list(turns)
    excess = sum(_length(turn) for turn in turns) - room
    for shorten in (_without_results, _without_arguments):
        for index, turn in enumerate(kept[:-1]):
            if excess <= 0:
                return kept
            kept[index] = shorten(turn)
            excess -= _length(turn) - _length(kept[index])
    return kept


def _length(turn: Turn) -> int:
    results = (len(call.result.text) if call.result else 0 for call in turn.calls)
    asked = (2 * len(call.id) + len(call.arguments) for call in turn.calls)
    return len(turn.text) + sum(asked) + sum(results)


def _without_results(turn: Turn) -> Turn:
    calls = [
        replace(call, result=replace(call.result, text=LEFT_OUT))
        if call.result is not None and len(call.result.text) > len(LEFT_OUT)
        else call
        for call in turn.calls
    ]
    return replace(turn, calls=calls)


def _without_arguments(turn: Turn) -> Turn:
    calls = [replace(call, arguments=_shortened(call.arguments)) for call in turn.calls]
    return replace(turn, calls=calls)


def _shortened(arguments: str) -> str:
    """The arguments without long texts."""
    fields = _parsed(arguments)
    if not isinstance(fields, dict):
        return "{}"
    kept = {
        name: f"[{len(value)} characters]"
        if isinstance(value, str) and len(value) > _MAX_KEPT_ARGUMENT
        else value
        for name, value in fields.items()
    }
    return json.dumps(kept, ensure_ascii=False)


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None
