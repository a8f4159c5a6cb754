"""The calls of a turn, as they are stored with its step: what a model has asked for, and what came
of it."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ai.providers.types import ToolCall
from projects.author_tools.arguments import FINISH, BadArguments, Finish, read_arguments
from projects.author_tools.carrying_out import carry_out
from projects.author_tools.results import Carried, refused
from projects.author_tools.working_copy import WorkingCopy
from projects.json_answers import with_storable_texts

# Calls of one author, of which it is told that only few are left.
MAX_CALLS: Final = 40
FEW_CALLS: Final = 5
# Characters of the results of one turn.
MAX_TURN: Final = 100_000
_NO_ROOM = "There is no room for this result beside the others of one answer. Call again."
# Providers take their own names back, and refuse others.
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME = 64
_NONE_LEFT = (
    f"This call was not carried out: {MAX_CALLS} calls are made, and no more are left. Call finish."
)


class StoredCall(Struct, frozen=True):
    """A call, and its result once it is carried out."""

    id: str
    name: str
    arguments: str
    result: Carried | None = None


def stored(calls: Iterable[ToolCall]) -> list[StoredCall]:
    """Calls as a model has asked for them, with texts that can be stored."""
    return [
        StoredCall(
            with_storable_texts(call.id),
            _NOT_IN_A_NAME.sub("_", call.name)[:_MAX_NAME] or "_",
            with_storable_texts(call.arguments),
        )
        for call in calls
    ]


def read_calls(result: dict[str, Any]) -> list[StoredCall]:
    """The calls of a step by its `result`."""
    return msgspec.convert(result.get("calls", []), list[StoredCall])


def with_calls(result: dict[str, Any], calls: Sequence[StoredCall]) -> dict[str, Any]:
    """The `result` of a step with these calls."""
    return {**result, "calls": msgspec.to_builtins(calls)}


def carried_out(copy: WorkingCopy, calls: Sequence[StoredCall], *, before: int) -> list[StoredCall]:
    """The calls with their results, carried out in their order on the copy. `before` are those
    that the author has made before. One that finishes does so where all others of its turn were
    carried out."""
    results: list[StoredCall] = []
    room = MAX_TURN
    for number, call in enumerate(calls, start=before + 1):
        if call.name == FINISH:
            result = _finished(copy, call, results)
        elif number > MAX_CALLS:
            result = refused(_NONE_LEFT)
        else:
            result = carry_out(copy, call.name, call.arguments)
        room -= len(result.text)
        if room < 0 and len(result.text) > len(_NO_ROOM):
            result = refused(_NO_ROOM)
        results.append(replace(call, result=result))
    return results


def finish_of(calls: Iterable[StoredCall]) -> Finish | None:
    """What an author hands in by its calls; None where it does not, or not readably."""
    for call in calls:
        if call.name == FINISH:
            try:
                found = read_arguments(FINISH, call.arguments)
            except BadArguments:
                continue
            assert isinstance(found, Finish)  # noqa: S101 - that is its name
            return found
    return None


def _finished(copy: WorkingCopy, call: StoredCall, others: Sequence[StoredCall]) -> Carried:
    result = carry_out(copy, call.name, call.arguments)
    if not result.ok or all(other.result is None or other.result.ok for other in others):
        return result
    return refused(
        "The part is not finished, because another call of this answer could not be carried out. "
        "Look at its result, and call finish again."
    )
