"""The planner's prompt: a goal becomes subtasks for models of several vendors."""

from collections.abc import Sequence

from msgspec import Struct

from common.prompt_delimiters import section
from projects.prompts.delimiters import MATERIAL, delimit
from projects.types import MAX_ACCEPTANCE, MAX_INSTRUCTIONS, MAX_READS

_FORM = """\
{
  "title": "a few words",
  "summary": "two or three sentences",
  "subtasks": [
    {
      "key": "short-name",
      "title": "a few words",
      "instructions": "everything that somebody who knows nothing else needs",
      "acceptance": ["one point that can be checked", "another"],
      "depends_on": ["the keys of the subtasks whose results it needs"],
      "model": "an id of the list, or null",
      "output": "what it delivers, in a few words",
%s      "writes": ["the paths of the files it writes, if any"]
    }
  ],
  "final": {"instructions": "how the results become one"}
}"""

_READS = '      "reads": ["the paths of the files of the repository that its author has to see"],\n'

_TASK = (
    "You plan the work on a goal. Models of several vendors then carry out the subtasks, several "
    "at the same time, without talking to each other. "
)
_RULE_OF_READS = (
    "- The work is done on the repository: name in `reads` the files whose content the author of a "
    f"subtask needs, at most {MAX_READS}. Files that it changes, in `writes`, are shown as well.\n"
)


class RosterModel(Struct, frozen=True, kw_only=True):
    """A model that may be assigned. `price` is its class (low, middle, high); `notes` are the
    user's own about the model."""

    id: str
    vendor: str
    price: str
    is_reasoning: bool
    context_window: int
    notes: str = ""

    @property
    def line(self) -> str:
        strength = "thinks before it answers" if self.is_reasoning else "answers at once"
        return f"{self.id}: by {self.vendor}, price {self.price}, {strength}"


class PlanContext(Struct, frozen=True, kw_only=True):
    """What the planner knows. `repository` is the digest of the one that is worked on, if any;
    `uploads` are lines about the user's files; `messages` those that the user has sent since the
    start."""

    goal: str
    roster: Sequence[RosterModel]
    max_subtasks: int
    max_parallel: int
    repository: str = ""
    uploads: Sequence[str] = ()
    messages: Sequence[str] = ()


def planning_prompt(context: PlanContext) -> str:
    """Ask for a plan."""
    return "\n\n".join(
        [
            _TASK + MATERIAL,
            *_sections(context),
            _rules(context),
            section("form", f"Answer with this JSON and nothing else:\n{_form(context)}"),
        ]
    )


def repair_prompt(context: PlanContext, faults: Sequence[str]) -> str:
    """Ask again, after an answer that was no sound plan; that answer is the turn before."""
    lines = "\n".join(f"- {fault}" for fault in faults)
    return "\n\n".join(
        [
            "Your plan cannot be carried out:",
            delimit("faults", lines),
            _rules(context),
            "Answer with the whole plan again, as JSON in the same form, and nothing else.",
        ]
    )


def roster_section(roster: Sequence[RosterModel]) -> str:
    """The models, one on a line, with the user's notes about them."""
    models = [
        delimit("model", "\n".join(filter(None, (model.line, model.notes)))) for model in roster
    ]
    return section("models", "\n".join(models))


def _form(context: PlanContext) -> str:
    return _FORM % (_READS if context.repository else "")


def _sections(context: PlanContext) -> list[str]:
    sections = [delimit("goal", context.goal), roster_section(context.roster)]
    if context.repository:
        sections.append(delimit("repository", context.repository))
    if context.uploads:
        sections.append(delimit("uploads", "\n".join(context.uploads)))
    if context.messages:
        messages = "\n".join(delimit("message", text) for text in context.messages)
        sections.append(section("messages", messages))
    return sections


def _rules(context: PlanContext) -> str:
    return section(
        "rules",
        f"- At most {context.max_subtasks} subtasks; fewer are better where they do. "
        f"{context.max_parallel} are worked on at a time.\n"
        "- A subtask that needs nothing of another depends on nothing.\n"
        "- Two subtasks do not write the same file, unless one depends on the other.\n"
        "- Who works on a subtask sees its instructions, the results that it depends on, and "
        "summaries of the others.\n"
        f"{_RULE_OF_READS if context.repository else ''}"
        f"- Instructions have at most {MAX_INSTRUCTIONS} characters, and acceptance at most "
        f"{MAX_ACCEPTANCE} points.\n"
        "- Suggest the model that suits the subtask: dear ones for hard parts, cheap ones for "
        "simple parts, and several vendors rather than one.",
    )
