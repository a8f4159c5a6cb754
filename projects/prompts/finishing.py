"""The prompt of the model that makes the final text."""

from collections.abc import Sequence

from msgspec import Struct

from common.prompt_delimiters import section
from projects.prompts.cutting import newest_within
from projects.prompts.delimiters import MATERIAL, delimit, listed, nested
from projects.prompts.working import Result, result_section

_FINAL = (
    "Several models have each done a part of the work on a goal. Make one result of their parts, "
    "for the person who set the goal. "
)


class FinalContext(Struct, frozen=True, kw_only=True):
    """What the final text is made of. `results` are those of the parts, with their `issues`;
    `missing` are the parts without one, and why; `files` are those that are delivered beside the
    text; `messages` are the user's. `room` is the number of characters for results and messages."""

    goal: str
    summary: str = ""
    instructions: str
    results: Sequence[Result]
    missing: Sequence[str] = ()
    files: Sequence[str] = ()
    messages: Sequence[str] = ()
    room: int


def final_prompt(context: FinalContext) -> str:
    """Ask for the text that makes one result of the subtasks'."""
    instructions = context.instructions or "Join the results. Leave out nothing of substance."
    share = context.room * 3 // 4 // max(1, len(context.results))
    results = "\n".join(result_section(result, share) for result in context.results)
    return "\n\n".join(
        [
            _FINAL + MATERIAL,
            delimit("goal", context.goal),
            *([delimit("plan", context.summary)] if context.summary else []),
            *nested("messages", "message", newest_within(context.room // 4, context.messages)),
            section("inputs", results),
            *listed("files", context.files),
            *listed("missing", context.missing),
            delimit("task", instructions),
            section("rules", _final_rules(context)),
        ]
    )


def _final_rules(context: FinalContext) -> str:
    rules = [
        "- Write the result itself, in Markdown, and nothing about how it came about.",
        "- Where parts contradict each other, say so.",
        "- Add no facts that no part has. Where something is missing, say what.",
        "- Files are delivered beside your text: name them, do not repeat them.",
    ]
    if context.messages:
        rules.append("- Messages come from the person who set the goal: follow them.")
    if any(result.issues for result in context.results):
        rules.append(
            "- What stands under issues is still wrong with a part: mend it where you can, and say "
            "so where you cannot."
        )
    if context.missing:
        rules.append(
            "- The parts under missing have no result. Name each of them in your text, in a "
            "section of its own at the end, and say what the result lacks without it."
        )
    return "\n".join(rules)
