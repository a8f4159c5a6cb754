"""The events of a run. Their data has the shapes of the REST answers.

Texts are in `subtask.delta` and `final.delta` events alone: `offset` counts code points, and the
text of another attempt begins again. Every other event contains the whole object, so that applying
one twice does no harm. It shows the object as the transaction leaves it, which is read once for all
events of the transaction (`rendered`).
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from ai.generations.types import Piece, cut
from common.money import usd
from events.types import SYSTEM, USER, NewEvent, model_actor
from projects.author_tools.arguments import told_of
from projects.author_tools.calls import StoredCall
from projects.models import Apply, Attempt, AttemptFile, Deliverable, Run, Step, Subtask
from projects.refusals import may_be_sent_again
from projects.selectors.messages import MessageView, error_of_reply
from projects.selectors.runs import RunView
from projects.selectors.subtasks import SubtaskView
from projects.serializers.changes import apply_in_event
from projects.serializers.runs import (
    MessageSerializer,
    PlanSerializer,
    checkout_in_event,
    deliverable_in_event,
    run_in_event,
    subtask_in_event,
)
from projects.shown_text import FileState, Shown


class Place(Struct, frozen=True):
    """Where readers see the text of a model: in an attempt at a subtask, or in the final text."""

    model: str
    subtask_id: UUID | None = None
    attempt: int = 0


class Change(NewEvent, frozen=True):
    """An event of which `rendered` completes the data: with the run, under `session`, or with a
    subtask."""

    shows_run: bool = False
    subtask_id: UUID | None = None


def rendered(
    events: Iterable[NewEvent], run: RunView, subtasks: Iterable[SubtaskView]
) -> list[NewEvent]:
    """The events with the run and the subtasks as these views show them."""
    views = {view.subtask.pk: view for view in subtasks}
    session = run_in_event(run)
    shown: dict[UUID, dict[str, Any]] = {}
    complete = []
    for event in events:
        data = event.data
        if isinstance(event, Change) and event.shows_run:
            data = {**data, "session": {**session, **data.get("session", {})}}
        if isinstance(event, Change) and event.subtask_id is not None:
            if event.subtask_id not in shown:
                shown[event.subtask_id] = subtask_in_event(views[event.subtask_id])
            data = {"subtask": shown[event.subtask_id], **data}
        complete.append(NewEvent(event.type, data, event.actor))
    return complete


def run_created(run: Run) -> Change:
    """The only event with the goal and the settings of the run."""
    data = {
        "prompt": run.goal,
        "planner_model": run.planner_model,
        "reviewer_model": run.reviewer_model or None,
        "max_subtasks": run.max_subtasks,
        "max_parallel": run.max_parallel,
        "review": run.reviews,
        "max_output_tokens": run.max_output_tokens,
        "notify_by_mail": run.wants_mail,
        "repository": checkout_in_event(run.checkout),
    }
    return Change("run.created", {"session": data}, USER, shows_run=True)


def run_event(verb: str, actor: str = SYSTEM) -> Change:
    """`run.<verb>`."""
    return Change(f"run.{verb}", {}, actor, shows_run=True)


def run_settings(run: Run) -> Change:
    """Its user has changed settings that no other event shows."""
    data = {"max_output_tokens": run.max_output_tokens, "notify_by_mail": run.wants_mail}
    return Change("run.updated", {"session": data}, USER, shows_run=True)


def run_budget(was: int | None, budget: int | None) -> Change:
    """Its user has changed the budget; both are nano-USD."""
    data = {"from_usd": _usd(was), "to_usd": _usd(budget)}
    return Change("run.budget", data, USER, shows_run=True)


def run_recovered(step: Step) -> Change:
    """The worker of a step has died; the step begins again, once."""
    data = {"step": step.kind, "subtask_id": step.subtask_id}
    return Change("run.recovered", data, shows_run=True)


def run_retrying(step: Step, failed: Step) -> Change:
    """A step has failed, and is tried again: by the same model after a pause, or by one of another
    vendor. That of an attempt is in `subtask.retrying`."""
    data = {
        "step": step.kind,
        "subtask_id": step.subtask_id,
        "from_model": failed.model,
        "to_model": step.model,
        "error": failed.error,
    }
    return Change("run.retrying", data, shows_run=True)


def run_phase(run: Run) -> NewEvent:
    return NewEvent("run.phase", {"phase": run.phase})


def plan_event(
    verb: str, run: Run, actor: str, reason: str = "", notes: Sequence[str] = ()
) -> NewEvent:
    """`plan.<verb>`, with the keys of the subtasks, which have events of their own. `notes` say
    what was made otherwise than the planner has said."""
    data = {"plan": PlanSerializer(run).data, "reason": reason or None, "notes": [*notes]}
    return NewEvent(f"plan.{verb}", data, actor)


def subtask_event(verb: str, subtask: Subtask, actor: str = SYSTEM, **more: Any) -> Change:
    """`subtask.<verb>`, with `more` data."""
    return Change(f"subtask.{verb}", more, actor, subtask_id=subtask.pk)


def subtask_removed(subtask_id: UUID, actor: str) -> NewEvent:
    return NewEvent("subtask.removed", {"subtask_id": subtask_id}, actor)


def place_of(step: Step) -> Place:
    """Where readers see what a step writes."""
    if step.attempt is None:
        return Place(step.model)
    return Place(step.model, step.subtask_id, step.attempt.number)


def shown(place: Place, parts: Iterable[Shown], offset: int) -> list[NewEvent]:
    """What readers see of an answer there: its text, which begins at code point `offset`, and how
    its files go on."""
    new_events: list[NewEvent] = []
    for part in parts:
        if isinstance(part, FileState):
            new_events.append(_file_state(place, part))
        else:
            new_events += _deltas(place, part, offset)
        offset += len(part.text)
    return new_events


def _file_state(place: Place, file: FileState) -> NewEvent:
    data = {
        "subtask_id": place.subtask_id,
        "attempt": place.attempt,
        "path": file.path,
        "op": file.op,
        "state": file.state,
    }
    return NewEvent("subtask.file", data, model_actor(place.model))


def _deltas(place: Place, piece: Piece, offset: int) -> list[NewEvent]:
    actor = model_actor(place.model)
    texts = [{"offset": start, "text": text} for start, (_, text) in cut([piece], offset)]
    if place.subtask_id is None:
        return [NewEvent("final.delta", text, actor) for text in texts]
    about = {"subtask_id": place.subtask_id, "attempt": place.attempt}
    return [NewEvent("subtask.delta", {**about, **text}, actor) for text in texts]


def tool_called(step: Step, number: int, call: StoredCall) -> NewEvent:
    """An author has called a function, which was carried out, or refused where it is not `ok`."""
    told = told_of(call.name, call.arguments)
    data = {
        "subtask_id": step.subtask_id,
        "attempt": step.attempt.number if step.attempt is not None else 0,
        "call": number,
        "name": call.name,
        "path": told.path,
        "query": told.query,
        "ok": call.result is not None and call.result.ok,
        "summary": call.result.summary if call.result is not None else "",
    }
    return NewEvent("subtask.tool", data, model_actor(step.model))


def review_completed(attempt: Attempt, model: str) -> NewEvent:
    data = {
        "subtask_id": attempt.subtask_id,
        "attempt": attempt.number,
        "verdict": attempt.verdict,
        "points": attempt.review.get("points", []),
        "issues": attempt.review.get("issues", []),
    }
    return NewEvent("review.completed", data, model_actor(model))


def deliverable_event(verb: str, deliverable: Deliverable, actor: str = SYSTEM) -> NewEvent:
    """`deliverable.<verb>`."""
    data = {"deliverable": deliverable_in_event(deliverable)}
    return NewEvent(f"deliverable.{verb}", data, actor)


def file_staged(
    file: AttemptFile, op: str, subtask_id: UUID, replaces: UUID | None, actor: str
) -> NewEvent:
    """A completed subtask writes a file. `op` is what that means for the repository, and `replaces`
    the subtask whose file of that path it takes the place of."""
    data = {
        "path": file.path,
        "op": op,
        "bytes": file.size,
        "subtask_id": subtask_id,
        "replaces": replaces,
    }
    return NewEvent("file.staged", data, actor)


def changes_proposed(proposal: dict[str, str], files: Sequence[dict[str, Any]]) -> NewEvent:
    return NewEvent("changes.proposed", {"proposal": proposal, "files": [*files]})


def changes_applied(order: Apply, actor: str) -> NewEvent:
    """An order to write staged files has ended."""
    return NewEvent("changes.applied", {"result": apply_in_event(order)}, actor)


def changes_discarded(paths: list[str]) -> NewEvent:
    return NewEvent("changes.discarded", {"paths": paths}, USER)


def message_created(message: MessageView, actor: str) -> NewEvent:
    return NewEvent("message.created", {"message": MessageSerializer(message).data}, actor)


def messages_delivered(numbers: Sequence[int], to: str) -> NewEvent:
    """`to` is `planner`, or the key of a subtask."""
    return NewEvent("message.delivered", {"numbers": [*numbers], "delivered_to": to})


def reply_failed(step: Step) -> NewEvent:
    """The planner could not answer the messages of these numbers."""
    error = error_of_reply(step)
    data = {
        **error,
        "retryable": may_be_sent_again(error["code"]),
        "numbers": step.result["unanswered"],
    }
    return NewEvent("error", data)


def messages_returned(messages: Sequence[MessageView]) -> NewEvent:
    """The run has ended before a model was sent these messages."""
    data = {"messages": [MessageSerializer(message).data for message in messages]}
    return NewEvent("message.returned", data)


def usage_updated() -> Change:
    """A call has ended: the run with what was paid for it so far."""
    return Change("usage.updated", {}, shows_run=True)


def with_final_text(event: Change, text: str | None) -> Change:
    """The event with the final text in its run."""
    session = {**event.data.get("session", {}), "final_text": text}
    return replace(event, data={**event.data, "session": session})


def _usd(amount: int | None) -> float | None:
    return usd(amount) if amount is not None else None


def final_event(verb: str, step: Step) -> NewEvent:
    """`final.started` and `final.ended`: the final text is being written."""
    return NewEvent(f"final.{verb}", {}, model_actor(step.model))
