"""How calls end: with their money, their text and their events in one transaction."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from msgspec import Struct
from msgspec.structs import replace

from billing.services import endings
from billing.types import Ending, Resolution
from catalog.selectors import get_catalog
from catalog.types import Model
from common.errors import DomainError
from council import events, sections
from council.models import Generation, Session, Status, Turn, Version
from council.prompts import messages_for
from council.selectors.cards import spoken
from council.services import restorations, rounds, syntheses
from council.services.generations import changes
from council.services.locks import lock_generation
from council.services.log import tell
from events.selectors import get_last_seq
from events.types import SYSTEM, NewEvent
from inference.errors import (
    CallCancelled,
    CallInterrupted,
    NoText,
    ProviderNotAvailable,
    error_of,
    failure_of,
)
from jobs import services as jobs
from jobs.models import Job
from jobs.selectors import is_unwanted
from providers.types import FinishReason, Message


class Said(Struct, frozen=True, kw_only=True):
    """What a call has brought: the text, why that is all, and what else belongs to the version's
    details. With a `failure` the text is no finished answer."""

    text: str = ""
    finish_reason: str = ""
    failure: DomainError | None = None
    details: dict[str, Any] = {}


class Prepared(Struct, frozen=True):
    """A call that is about to be made, for a version of a card. In a debate, `before` brought the
    answer that it revises."""

    version: Version
    model: Model
    messages: tuple[Message, ...]
    before: Generation | None = None

    def shown(self, text: str) -> str:
        """What of the text so far is the card's: in a debate, the revised answer alone."""
        return text if self.before is None else sections.answer_so_far(text)

    def said(self, text: str, finish_reason: FinishReason, failure: DomainError | None) -> Said:
        """What the whole text brings. A call that ended well has failed if there is none."""
        if failure is None and not text.strip():
            failure = NoText(finish_reason=finish_reason)
        if self.before is not None:
            return self._revised(self.before, text, finish_reason, failure)
        return Said(text=text, finish_reason=finish_reason, failure=failure)

    def _revised(
        self, before: Generation, text: str, reason: FinishReason, failure: DomainError | None
    ) -> Said:
        """An answer that stands has ended as it did when it was written."""
        answer, details = sections.revise(text, before.content, failed=failure is not None)
        return Said(
            text=answer,
            finish_reason=reason if details["changed"] else before.finish_reason,
            failure=failure,
            details=details,
        )


@transaction.atomic
def prepare(*, job_id: UUID, attempt: int) -> Prepared | None:
    """Mark a call as running, and say what it asks. None where it must not be made any more. May
    be repeated.

    Raises CallCancelled where the call was stopped, or its card or council removed meanwhile,
    ProviderNotAvailable where the model is gone from the catalog.
    """
    generation = lock_generation(job_id)
    if not jobs.is_running(job_id=job_id, attempt=attempt):
        return None
    if generation is None or generation.card.removed_at is not None or is_unwanted(job_id):
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
        tell(session=session, events=[events.card_event("started", session, card)])
    return Prepared(version, model, messages_for(session, card, version), _revised_by(version))


def conclude(*, job_id: UUID, attempt: int, ending: Ending, said: Said) -> Resolution:
    """End a call that was held for, with its charge. May be repeated."""
    if ending.failure is None and said.failure is not None:
        # The call went well, but what it brought is no answer.
        ending = replace(ending, failure=failure_of(said.failure))
    with transaction.atomic():
        resolution = endings.resolve(ending)
        generation = lock_generation(job_id)
        if resolution.taken_over:
            said = replace(said, failure=CallInterrupted())
        _end(job_id, generation, attempt, said)
    return resolution


@transaction.atomic
def let_go(*, job_id: UUID, attempt: int, said: Said) -> None:
    """End a card's version that was stopped, with what it has said, while its call goes on until it
    is known what it costs: `conclude` or `give_up` then ends the charge and the job, and tells the
    cost. Nobody waits for a card that was removed."""
    generation = lock_generation(job_id)
    is_ours = jobs.is_running(job_id=job_id, attempt=attempt)
    if generation is None or generation.card.removed_at is not None:
        return
    if is_ours and _is_open(generation):
        tell(session=generation.session, events=_finish(generation, said))


@transaction.atomic
def give_up(*, job_id: UUID, attempt: int, failure: DomainError) -> None:
    """End a call that nobody can conclude, because it was refused or its process has died: at what
    it had said, and at what was saved of its charge if it had come to hold one. It is no failure if
    its user had stopped it."""
    endings.expire(job_id, failure_of(failure))
    generation = lock_generation(job_id)
    if jobs.is_running(job_id=job_id, attempt=attempt):
        text = "" if generation is None else spoken(generation, _version_of(generation))
        why = CallCancelled() if is_unwanted(job_id) else failure
        _end(job_id, generation, attempt, Said(text=text, failure=why))


def cancel(*, session: Session, generation_ids: list[UUID]) -> list[NewEvent]:
    """Cancel calls within the caller's transaction. Those that run end by themselves; returned are
    the events of those that had not begun."""
    return call_off(session=session, failures=dict.fromkeys(generation_ids, CallCancelled()))


def call_off(*, session: Session, failures: Mapping[UUID, DomainError]) -> list[NewEvent]:
    """The same, and say of each generation why."""
    idle = jobs.cancel(job_ids=list(failures))
    told: list[NewEvent] = []
    for generation_id in (each for each in failures if each in idle):
        generation = lock_generation(generation_id)
        assert generation is not None  # noqa: S101 - its session is held
        generation.session = generation.card.session = generation.turn.session = session
        told += _finish(generation, Said(failure=failures[generation_id]))
    return told


def _end(job_id: UUID, generation: Generation | None, attempt: int, said: Said) -> None:
    """Nothing, where the job is no longer this attempt's; the job alone, where the council was
    deleted."""
    status = Job.Status(_status(said.failure))
    if not jobs.end(job_id=job_id, attempt=attempt, status=status) or generation is None:
        return
    told = _finish(generation, said) if _is_open(generation) else _tell_cost(generation)
    tell(session=generation.session, events=told)


def _is_open(generation: Generation) -> bool:
    """Is its end yet to be told?"""
    return generation.status in (Status.QUEUED, Status.RUNNING)


def _tell_cost(generation: Generation) -> list[NewEvent]:
    """What is known of a stopped call when its charge has ended, if its card is there."""
    session, card = generation.session, generation.card
    told = [] if card.removed_at else [events.card_event("updated", session, card)]
    return [*told, events.usage_updated(session)]


def _finish(generation: Generation, said: Said) -> list[NewEvent]:
    """Write what came of a call, and go on with what it was part of. Returns the events."""
    version = _version_of(generation)
    told = _tail(generation, version, said.text)
    _write(generation, said)
    if said.details:
        version.details = {**version.details, **said.details}
        version.save(update_fields=["details"])
    if said.failure is not None and not said.text:
        fallback = syntheses.fall_back(version=version, failed=generation, failure=said.failure)
        if fallback:
            return fallback
    told += [*_tell(generation, version), *_take_back(generation, version)]
    return [*told, *_advance(generation.turn)]


def _write(generation: Generation, said: Said) -> None:
    failure = said.failure
    generation.status = _status(failure)
    generation.content = said.text
    generation.finish_reason = said.finish_reason if failure is None else ""
    generation.error = None if failure is None else error_of(failure)
    generation.ended_at = Now()
    generation.save(update_fields=["status", "content", "finish_reason", "error", "ended_at"])
    generation.refresh_from_db(fields=["ended_at"])


def _tail(generation: Generation, version: Version, text: str) -> list[NewEvent]:
    """The text that has not come to the log yet, unless nobody follows it any more."""
    if generation.card.removed_at is not None:
        return []
    known = spoken(generation, version)
    return events.deltas(version, generation.model, text[len(known) :], len(known))


def _tell(generation: Generation, version: Version) -> list[NewEvent]:
    """What its followers hear of a call that has ended; of a removed card, only what it cost."""
    session, card = generation.session, generation.card
    told = []
    if card.removed_at is None:
        version.generation = generation
        card.current = version
        told.append(events.card_event(generation.status, session, card))
        if version.message_id is not None and generation.status == Status.COMPLETED:
            told.append(events.message_completed(version, generation.turn))
    return [*told, events.usage_updated(session)]


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
    told: list[NewEvent] = []
    if turn.kind == Turn.Kind.DEBATE:
        told, goes_on = rounds.after(turn=turn)
        if goes_on:
            return [*told, *changes(session=session)]
    if turn.kind == Turn.Kind.MERGE:
        told = syntheses.after(turn=turn)
    close_turn(turn)
    return [*told, *changes(session=session)]


def close_turn(turn: Turn) -> None:
    """A turn ends as the best of its calls did."""
    ended = set(turn.generations.values_list("status", flat=True))
    ranking = (Status.COMPLETED, Status.CANCELLED, Status.FAILED)
    turn.status = next((status for status in ranking if status in ended), Status.COMPLETED)
    turn.ended_at = Now()
    turn.save(update_fields=["status", "ended_at"])


def _version_of(generation: Generation) -> Version:
    """The version that it was begun for: the first, for later ones are restorations of it."""
    version = generation.versions.select_related("message", "card").order_by("number")[0]
    version.generation = generation
    return version


def _revised_by(version: Version) -> Generation | None:
    """What brought the answer that a round of debate began with."""
    if version.source != Version.Source.DEBATE or version.revises is None:
        return None
    return version.revises.generation


def _status(failure: DomainError | None) -> Status:
    if failure is None:
        return Status.COMPLETED
    return Status.CANCELLED if isinstance(failure, CallCancelled) else Status.FAILED
