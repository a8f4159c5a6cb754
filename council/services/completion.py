"""How the calls of cards begin and end, and what goes on when one has ended."""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from msgspec import Struct
from msgspec.structs import replace

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.generations.endings import Output
from ai.generations.types import Completion, Text
from ai.inference.errors import CallCancelled
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.types import Message
from common.errors import DomainError
from council import events, sections
from council.models import Generation, Session, Status, Turn, Version
from council.selectors.cards import text_in_log
from council.selectors.prompts import messages_for
from council.services import restorations, rounds, syntheses
from council.services.generations import changes
from council.services.locks import lock_generation
from council.services.log import append_events
from events.selectors import get_last_seq
from events.types import SYSTEM, NewEvent
from work.jobs import services as jobs
from work.jobs.models import Job


class Prepared(Struct, frozen=True):
    """A call that is about to be made, for a version of a card. In a debate, `before` brought the
    answer that it revises."""

    version: Version
    model: Model
    messages: tuple[Message, ...]
    before: Generation | None = None


@transaction.atomic
def prepare(*, job_id: UUID, attempt: int) -> Prepared | None:
    """Mark a call as running, and say what it asks. None where it must not be made any more. May
    be repeated.

    Raises CallCancelled where the call was stopped, or its card or council removed meanwhile,
    ProviderNotAvailable where the model is gone from the catalog.
    """
    generation = lock_generation(job_id)
    signal = jobs.read_signal(job_id=job_id, attempt=attempt)
    if signal is None:
        return None
    if generation is None or generation.card.removed_at is not None:
        raise CallCancelled
    if signal == Job.Signal.CANCEL:
        raise CallCancelled
    model = get_catalog().find(generation.model)
    if model is None:
        raise ProviderNotAvailable
    version, session, card = _version_of(generation), generation.session, generation.card
    if generation.status == Status.QUEUED:
        generation.status = Status.RUNNING
        generation.first_seq = get_last_seq(session.pk)
        generation.save(update_fields=["status", "first_seq"])
        card.current = version
        append_events(session=session, events=[events.card_event("started", session, card)])
    return Prepared(version, model, messages_for(session, card, version), _revised_by(version))


class CardOutput(Output[Generation, None]):
    """Writes the generations of cards."""

    def lock(self, call_id: UUID) -> Generation | None:
        return lock_generation(call_id)

    def is_open(self, call_id: UUID, row: Generation | None) -> bool:
        return row is not None and row.status in (Status.QUEUED, Status.RUNNING)

    def text_in_log(self, row: Generation) -> Text:
        return Text(text_in_log(row, _version_of(row)))

    def write_end(self, call_id: UUID, row: Generation | None, completion: Completion) -> None:
        if row is not None:
            append_events(session=row.session, events=_finish(row, completion))

    def write_cost(self, row: Generation) -> None:
        session, card = row.session, row.card
        updated = [] if card.removed_at else [events.card_event("updated", session, card)]
        append_events(session=session, events=[*updated, events.usage_updated(session)])


CARD = CardOutput()


def revised(completion: Completion, before: Generation) -> Completion:
    """The completion of a round of debate: of the answer that the card has after it. An answer that
    was not revised has ended as it did when it was written."""
    answer, details = sections.revise(
        completion.content, before.content, failed=completion.failure is not None
    )
    reason = completion.finish_reason if details["changed"] else before.finish_reason
    return replace(completion, content=answer, finish_reason=reason, details=details)


def cancel(*, session: Session, calls: QuerySet[Generation]) -> list[NewEvent]:
    """Cancel those of the calls that have not ended, within the caller's transaction. Those that
    run end by themselves; returned are the events of those that had not started."""
    underway = calls.filter(status__in=(Status.QUEUED, Status.RUNNING))
    ids = underway.values_list("id", flat=True)
    return cancel_because(session=session, failures=dict.fromkeys(ids, CallCancelled()))


def cancel_because(*, session: Session, failures: Mapping[UUID, DomainError]) -> list[NewEvent]:
    """Cancel calls as `cancel` does. `failures` says of each generation why."""
    idle = jobs.cancel(job_ids=list(failures))
    new_events: list[NewEvent] = []
    for generation_id in (each for each in failures if each in idle):
        generation = lock_generation(generation_id)
        assert generation is not None  # noqa: S101 - its session is held
        generation.session = generation.card.session = generation.turn.session = session
        new_events += _finish(generation, Completion(failure=failures[generation_id]))
    return new_events


def _finish(generation: Generation, completion: Completion) -> list[NewEvent]:
    """Write what came of a call, and go on with what it was part of. Returns the events."""
    version, failure = _version_of(generation), completion.failure
    _write(generation, completion)
    if completion.details:
        version.details = {**version.details, **completion.details}
        version.save(update_fields=["details"])
    if failure is not None and not completion.content:
        fallback = syntheses.fall_back(version=version, failed=generation, failure=failure)
        if fallback:
            return fallback
    # Nobody follows the text of a card that was removed.
    new_events = [] if generation.card.removed_at else [*completion.unsent]
    new_events += [*_end_events(generation, version), *_take_back(generation, version)]
    return [*new_events, *_advance(generation.turn)]


def _write(generation: Generation, completion: Completion) -> None:
    generation.status = completion.status
    generation.content = completion.content
    generation.finish_reason = completion.reason
    generation.error = completion.error
    generation.ended_at = Now()
    generation.save(update_fields=["status", "content", "finish_reason", "error", "ended_at"])
    generation.refresh_from_db(fields=["ended_at"])


def _end_events(generation: Generation, version: Version) -> list[NewEvent]:
    """The events of a call that has ended; for a removed card, only of its cost."""
    session, card = generation.session, generation.card
    new_events = []
    if card.removed_at is None:
        version.generation = generation
        card.current = version
        new_events.append(events.card_event(generation.status, session, card))
        if version.message_id is not None and generation.status == Status.COMPLETED:
            new_events.append(events.message_completed(version, generation.turn))
    return [*new_events, events.usage_updated(session)]


def _take_back(generation: Generation, version: Version) -> list[NewEvent]:
    """A revision that has failed does not stand in the way of the answer that it was to revise."""
    card, before = generation.card, version.revises
    answered = generation.status == Status.COMPLETED or version.source != Version.Source.DEBATE
    if answered or before is None or card.removed_at is not None:
        return []
    return restorations.restore(card=card, chosen=before, actor=SYSTEM)


def _advance(turn: Turn) -> list[NewEvent]:
    """Go on with the turn when its last call has ended."""
    session = turn.session
    if turn.generations.filter(status__in=(Status.QUEUED, Status.RUNNING)).exists():
        return []
    new_events: list[NewEvent] = []
    if turn.kind == Turn.Kind.DEBATE:
        new_events, goes_on = rounds.after(turn=turn)
        if goes_on:
            return [*new_events, *changes(session=session)]
    if turn.kind == Turn.Kind.MERGE:
        new_events = syntheses.after(turn=turn)
    close_turn(turn)
    return [*new_events, *changes(session=session)]


def close_turn(turn: Turn) -> None:
    """A turn ends as the best of its calls did."""
    ended = set(turn.generations.values_list("status", flat=True))
    ranking = (Status.COMPLETED, Status.CANCELLED, Status.FAILED)
    turn.status = next((status for status in ranking if status in ended), Status.COMPLETED)
    turn.ended_at = Now()
    turn.save(update_fields=["status", "ended_at"])


def _version_of(generation: Generation) -> Version:
    """The version that the generation was made for: the first. Later ones restore it."""
    version = generation.versions.select_related("message", "card").order_by("number")[0]
    version.generation = generation
    return version


def _revised_by(version: Version) -> Generation | None:
    """What brought the answer that a round of debate began with."""
    if version.source != Version.Source.DEBATE or version.revises is None:
        return None
    return version.revises.generation
