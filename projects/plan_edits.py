"""What a planner changes of a subtask that it was shown: an edit, and nothing of it by accident."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

Raw = dict[str, Any]


def edited_fields(shown: Mapping[str, Any], change: Raw) -> tuple[Raw, str | None]:
    """The fields of a subtask that a change replaces, with their new values, and what is wrong with
    it, in a sentence, if anything. `shown` are the fields as they are.

    `add_to_instructions` and `add_to_acceptance` follow what there is. `instructions` that leave
    out most of the old ones have to say so with `rewrite`: models that were asked to add something
    tend to write that alone.
    """
    fields = {name: value for name, value in change.items() if name in shown}
    new = change.get("instructions")
    keeps = change.get("rewrite") is True or not isinstance(new, str)
    fault = None
    if not keeps and _is_lost(shown["instructions"], str(new)):
        fault = (
            f'The new instructions of "{shown["key"]}" leave out most of the old ones. Write all '
            'that stays, use "add_to_instructions", or say "rewrite": true.'
        )
    if addition := _text(change.get("add_to_instructions")):
        before = fields.get("instructions", shown["instructions"])
        fields["instructions"] = f"{before}\n\n{addition}"
    if points := _listed(change.get("add_to_acceptance")):
        fields["acceptance"] = [*_listed(fields.get("acceptance", shown["acceptance"])), *points]
    return fields, fault


def _listed(raw: Any) -> list[Any]:
    """A list, of one thing where it is none. What is no text is left to the check of the plan."""
    if raw in (None, ""):
        return []
    return raw if isinstance(raw, list) else [raw]


def _is_lost(old: str, new: str) -> bool:
    """Whether a text has less than half of the words of another."""
    words = Counter(old.lower().split())
    kept = words & Counter(new.lower().split())
    return 2 * kept.total() < words.total()


def _text(raw: Any) -> str:
    return raw.strip() if isinstance(raw, str) else ""
