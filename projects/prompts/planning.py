"""The planner's prompt: a goal becomes subtasks for models of several vendors."""

from collections.abc import Sequence

from msgspec import Struct

from common.money import usd_text
from common.prompt_delimiters import section
from projects.prompts.cutting import beginning_of, lines_within, newest_within
from projects.prompts.delimiters import MATERIAL, delimit, listed, nested
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

# Characters of an upload.
_MAX_BEGINNING = 2_000

_TASK = (
    "You plan the work on a goal. Models of several vendors then carry out the subtasks, several "
    "at the same time, without talking to each other. "
)
RULE_OF_READS = (
    "- The work is done on the repository: name in `reads` the files whose content the author of a "
    f"subtask needs, at most {MAX_READS}: files that are there, or that another subtask writes. "
    "Files that it changes, in `writes`, are shown as well.\n"
)
_RULE_OF_BUDGET = (
    "\n- The work, its reviews and the final text have to fit into the budget: where it is small, "
    "plan fewer parts and cheaper models."
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


class UploadHead(Struct, frozen=True, kw_only=True):
    """A file of the user; `text` is its beginning, None for what is no text."""

    name: str
    media_type: str
    size: int
    text: str | None


class Budget(Struct, frozen=True):
    """What the calls of a run may cost together, and what is left of it, in nano-USD."""

    total: int
    left: int


class PlanContext(Struct, frozen=True, kw_only=True):
    """What the planner knows. `repository` is the digest of the one that is worked on, if any;
    `messages` are those that the user has sent since the start; `room` is the number of characters
    for all of these and the uploads."""

    goal: str
    roster: Sequence[RosterModel]
    max_subtasks: int
    max_parallel: int
    repository: str = ""
    uploads: Sequence[UploadHead] = ()
    messages: Sequence[str] = ()
    budget: Budget | None = None
    room: int = 0


def planning_prompt(context: PlanContext) -> str:
    """Ask for a plan."""
    return "\n\n".join(
        [
            _TASK + MATERIAL,
            delimit("goal", context.goal),
            roster_section(context.roster),
            *budget_section(context.budget),
            *repository_section(context.repository, context.room // 2),
            *uploads_section(context.uploads, context.room // 4),
            *nested("messages", "message", newest_within(context.room // 4, context.messages)),
            _rules(context),
            section("form", f"Answer with this JSON and nothing else:\n{_form(context)}"),
        ]
    )


def repair_prompt(context: PlanContext, faults: Sequence[str]) -> str:
    """Ask again, after an answer that was no sound plan; that answer is the turn before."""
    return "\n\n".join(
        [
            "Your plan cannot be carried out:",
            *listed("faults", faults),
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


def budget_section(budget: Budget | None) -> list[str]:
    """What the run may cost, where that is bounded."""
    if budget is None:
        return []
    left = f"{usd_text(budget.left)} of {usd_text(budget.total)}"
    return [section("limits", f"What is left of the budget for all calls of models: {left}.")]


def repository_section(digest: str, room: int) -> list[str]:
    """The repository that is worked on, if any, as its digest describes it."""
    return [delimit("repository", lines_within(room, digest))] if digest else []


def uploads_section(uploads: Sequence[UploadHead], room: int) -> list[str]:
    """The user's files, each with its beginning if it is a text."""
    share = min(_MAX_BEGINNING, room // max(1, len(uploads)))
    files = [
        delimit(
            "file",
            "[No text.]" if each.text is None else beginning_of(each.text, share),
            name=each.name,
            about=f"{each.media_type}, {each.size} bytes",
        )
        for each in uploads
    ]
    return [section("uploads", "\n".join(files))] if files else []


def _form(context: PlanContext) -> str:
    return _FORM % (_READS if context.repository else "")


def _rules(context: PlanContext) -> str:
    return section(
        "rules",
        f"- At most {context.max_subtasks} subtasks; fewer are better where they do. "
        f"{context.max_parallel} are worked on at a time.\n"
        "- A subtask that needs nothing of another depends on nothing.\n"
        "- Two subtasks do not write the same file, unless one depends on the other.\n"
        "- Who works on a subtask sees the goal, its instructions, the results that it depends on, "
        "summaries of the others, and the uploads.\n"
        f"{RULE_OF_READS if context.repository else ''}"
        f"- Instructions have at most {MAX_INSTRUCTIONS} characters, and acceptance at most "
        f"{MAX_ACCEPTANCE} points.\n"
        "- Suggest the model that suits the subtask: dear ones for hard parts, cheap ones for "
        "simple parts, and several vendors rather than one."
        f"{_RULE_OF_BUDGET if context.budget is not None else ''}",
    )
