"""What happens to a run when one of its steps begins."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import transaction
from msgspec import Struct

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference.errors import CallCancelled
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.types import Message, Tools
from billing.services.groups import ensure_group
from events.selectors import get_last_seq
from events.types import NewEvent
from projects import events
from projects.errors import RunHeld
from projects.models import Run, Step
from projects.prompts.delimiters import headings_of
from projects.selectors.answers import shown_before, shown_from
from projects.selectors.prompts import ask
from projects.selectors.sources import lacks_sources
from projects.selectors.spending import output_bound_of
from projects.selectors.substitutes import substitute_of
from projects.selectors.tool_turns import open_calls
from projects.selectors.working_copies import unread_by_calls
from projects.services.author_turns import carry_out_before
from projects.services.locks import lock_step_alone
from projects.services.log import append_events
from projects.shown_text import Shown, ShownText, text_of
from projects.types import ENDED, RunStatus, StepKind, SubtaskStatus
from work.jobs import services as jobs
from work.jobs.models import Job

# Steps that are sent the messages of the user. A review and the final text are about what is there.
_RECEIVERS = frozenset({StepKind.PLAN, StepKind.REPAIR, StepKind.WORK, StepKind.REPLY})


# Seconds that a step waits for a provider that is spared for a while: not for long where another
# model could make the step.
_PATIENCE: Final = 180.0
_PATIENCE_BESIDE_SUBSTITUTES: Final = 15.0


class SourcesNotRead(Exception):
    """A model is to be shown what nobody has read of the repository yet, or has asked for it."""


class Prepared(Struct, frozen=True, kw_only=True):
    """A step that is about to be made. `group_id` is that of its charge; `reader` has read what it
    continues, of which readers see `offset` characters; `patience` are the seconds that it waits
    for a provider that is spared for a while. `newest` is the number of the newest message of the
    user that it is sent, 0 where there is none."""

    step: Step
    model: Model
    messages: tuple[Message, ...]
    tools: Tools | None
    max_output_tokens: int
    group_id: UUID
    reader: ShownText
    offset: int
    patience: float
    newest: int


@transaction.atomic
def prepare(*, job_id: UUID, attempt: int) -> Prepared | None:
    """Mark a step as running, and say what it asks. None where it must not be made any more. May be
    repeated.

    Raises CallCancelled where the run has ended or was deleted meanwhile, or the step was
    cancelled, RunHeld where the run is paused, ProviderNotAvailable where the model is gone from
    the catalog, SourcesNotRead.
    """
    step = lock_step_alone(job_id)
    signal = jobs.read_signal(job_id=job_id, attempt=attempt)
    if signal is None:
        return None
    if step is None or step.run.status in ENDED or signal == Job.Signal.CANCEL:
        raise CallCancelled
    if step.run.status == RunStatus.PAUSED:
        raise RunHeld
    model = get_catalog().find(step.model)
    if model is None:
        raise ProviderNotAvailable
    if lacks_sources(step) or unread_by_calls(step.run, open_calls(step)):
        raise SourcesNotRead
    carried_out, asked = carry_out_before(step), ask(step, model)
    reader, before = shown_before(step)
    if step.status == SubtaskStatus.QUEUED:
        step.result = {"sections": headings_of(asked.messages[0].text)}
        if asked.tools is not None:
            step.result["is_last"] = asked.is_last
        append_events(run=step.run, events=[*carried_out, *_begin(step, before)])
    # Runs of the former release have none where they have no budget.
    ensure_group(group_id=step.run.pk, account=step.run.account)
    return Prepared(
        step=step,
        model=model,
        messages=asked.messages,
        tools=asked.tools,
        max_output_tokens=output_bound_of(step, model, asked.messages, asked.tools),
        group_id=step.run.pk,
        reader=reader,
        offset=len(text_of(before)),
        patience=_PATIENCE if substitute_of(step) is None else _PATIENCE_BESIDE_SUBSTITUTES,
        newest=_newest_message(step) if step.kind in _RECEIVERS else 0,
    )


def _begin(step: Step, before: Sequence[Shown]) -> list[NewEvent]:
    """Returns the events. `before` is what readers see of what the step continues."""
    run = step.run
    step.status = SubtaskStatus.RUNNING
    step.first_seq = get_last_seq(run.pk)
    new_events = _start(run)
    if before and shown_from(step).pk == step.pk:
        new_events += events.shown(events.place_of(step), before, 0)
    if step.kind == StepKind.REPLY:
        step.result = {**step.result, "answers": _newest_message(step)}
    step.save(update_fields=["status", "first_seq", "result"])
    return new_events


def _start(run: Run) -> list[NewEvent]:
    if run.status != RunStatus.QUEUED:
        return []
    run.status, run.started_at = RunStatus.RUNNING, run.rows.now
    run.save(update_fields=["status", "started_at"])
    return [events.run_event("started")]


def _newest_message(step: Step) -> int:
    messages = step.run.rows.inbox.messages
    return messages[-1].number if messages else 0
