"""The messages of a run: those of its user, which wait in the run's inbox, and the replies."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from events.types import InboxMessage
from projects.models import Run, Step
from projects.types import Outcome, StepKind

# What is told of the error of a reply; a refusal for money has amounts as well.
_TOLD: Final = ("code", "message", "provider_message")


class MessageView(Struct, frozen=True, kw_only=True):
    """A message. A reply has the number of the newest message that it answers. `status`: `waiting`
    for a model, `delivered` to one, or `returned` because the run ended before. `error` says why
    the planner has not answered it."""

    number: int
    role: str
    content: str
    status: str
    created_at: datetime
    error: dict[str, Any] | None = None


def messages_of(run: Run) -> list[MessageView]:
    """All messages of a run, in the order in which they were sent."""
    inbox = run.rows.inbox
    # A reply that comes after the end of the run is not carried out.
    ended = run.steps.filter(kind=StepKind.REPLY, result__has_any_keys=["reply", "unanswered"])
    replies: list[Step] = []
    errors: dict[int, dict[str, Any]] = {}
    for step in ended.order_by("id").defer("content"):
        errors |= dict.fromkeys(step.result.get("unanswered", ()), error_of_reply(step))
        replies += [step] if "reply" in step.result else []
    sent = [
        replace(
            from_user(each, _status(run, each, read=each.number <= inbox.read_number)),
            error=errors.get(each.number),
        )
        for each in inbox.messages
    ]
    return sorted([*sent, *map(from_planner, replies)], key=lambda each: each.created_at)


def messages_for_models(run: Run) -> list[str]:
    """The messages of the user that were not handed back."""
    messages = run.rows.inbox.messages
    return [each.body for each in messages if each.number not in run.returned]


def refused_reply(step: Step) -> Step | None:
    """The planner's answer to the same messages before this reply, where it could not be carried
    out; `faults` of its result say why."""
    run = step.run
    answers = run.steps.filter(kind=StepKind.REPLY, outcome=Outcome.DONE, pk__lt=step.pk)
    latest = answers.order_by("id").last()
    if latest is None or "faults" not in latest.result or latest.result["answers"] <= run.answered:
        return None
    return latest


def error_of_reply(step: Step) -> dict[str, Any]:
    """Why the planner has not answered: of its last try."""
    error = step.error or {}
    return {name: error[name] for name in _TOLD if name in error}


def from_user(message: InboxMessage, status: str) -> MessageView:
    """A message of the user."""
    return MessageView(
        number=message.number,
        role="user",
        content=message.body,
        status=status,
        created_at=message.created_at,
    )


def from_planner(step: Step) -> MessageView:
    """The planner's reply, of a step that has ended."""
    assert step.ended_at is not None  # noqa: S101 - see above
    return MessageView(
        number=step.result["answers"],
        role="planner",
        content=step.result["reply"],
        status="delivered",
        created_at=step.ended_at,
    )


def _status(run: Run, message: InboxMessage, *, read: bool) -> str:
    if message.number in run.returned:
        return "returned"
    return "delivered" if read else "waiting"
