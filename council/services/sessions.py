"""Councils and their cards: start, add, write again, restore, rename, remove, delete."""

import time
from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from common.ids import unix_seconds
from common.titles import first_line
from council import events, user_events
from council.errors import NothingToAnswer, TooManyCards, TooManySessions
from council.models import Card, Session, Status, Turn, Version
from council.selectors.cards import current_of, get_version
from council.selectors.sources import is_merge
from council.services import completion, generations, restorations, syntheses
from council.services.locks import lock_card, lock_session
from council.services.log import append_events
from council.types import (
    MAX_CARDS,
    MAX_CARDS_EVER,
    MAX_SESSIONS_PER_DAY,
    MAX_TITLE,
    STREAM,
)
from events.services import delete_stream, open_stream
from events.types import USER, NewEvent, ToUser
from work.jobs import services as jobs

_SECONDS_PER_DAY = 86_400


@transaction.atomic
def start(
    *,
    user: User,
    prompt: str,
    models: Sequence[str],
    title: str = "",
    system: str = "",
) -> Session:
    """Begin a council: one card per model, all of which answer at once and blind.

    Raises TooManySessions.
    """
    _check_pace(user)
    session = Session.objects.create(
        account=user,
        title=title or first_line(prompt, MAX_TITLE),
        prompt=prompt,
        system=system,
        status=Status.RUNNING,
        activity=Session.Activity.ANSWERING,
    )
    open_stream(stream_id=session.pk, kind=STREAM, account=user)
    turn = generations.open_turn(session=session, kind=Turn.Kind.ANSWER)
    new_events = [events.session_created(session)]
    for model in models:
        new_events += _deal(Card.objects.create(session=session), turn, model)
    append_events(session=session, events=new_events)
    return session


@transaction.atomic
def add_card(*, user: User, session_id: UUID, model: str, prompt: str = "") -> Card:
    """Let one more model answer, as blind as the others. Raises NotFound, TooManyCards."""
    session = lock_session(user, session_id)
    check_room(session=session, kind=Card.Kind.ANSWER)
    turn = generations.open_turn(session=session, kind=Turn.Kind.ANSWER)
    card = Card.objects.create(session=session, prompt=prompt)
    new_events = _deal(card, turn, model)
    append_events(session=session, events=[*new_events, *generations.changes(session=session)])
    return card


def check_room(*, session: Session, kind: Card.Kind) -> None:
    """Raises TooManyCards."""
    if session.cards.count() >= MAX_CARDS_EVER:
        raise TooManyCards(
            f"This council has had {MAX_CARDS_EVER} cards, which is all it may. Begin a new one."
        )
    if session.cards.filter(removed_at=None, kind=kind).count() >= MAX_CARDS:
        raise TooManyCards(f"A council has at most {MAX_CARDS} cards of a kind. Remove one first.")


@transaction.atomic
def regenerate(
    *, user: User, card_id: UUID, model: str | None = None, instructions: str = ""
) -> Card:
    """Write the card's answer again, as a new version, by its own model or another. A merge is made
    of the same answers again.

    Raises NotFound, CardRunning, SessionBusy, TooManyVersions.
    """
    card = lock_card(user, card_id)
    session = card.session
    generations.check_idle(card=card)
    old = current_of(card)
    model = model or old.generation.model
    merges = is_merge(old)
    kind = Turn.Kind.MERGE if merges else Turn.Kind.ANSWER
    turn = generations.open_turn(session=session, kind=kind)
    generations.begin(
        card=card,
        turn=turn,
        source=Version.Source.REGENERATE,
        model=model,
        parent=old.parent,
        message=old.message,
        revises=old,
        instructions=instructions,
        details=syntheses.details_again(old, model) if merges else {},
    )
    new_events = [events.version_created(session, card)]
    if merges:
        new_events.append(events.merge_event("started", turn, card, USER))
    append_events(session=session, events=[*new_events, *generations.changes(session=session)])
    return card


@transaction.atomic
def restore(*, user: User, card_id: UUID, number: int) -> Card:
    """Make an earlier version the current one again, by appending it as a new version. One that is
    shown already changes nothing.

    Raises NotFound, also for an unknown version, CardRunning, SessionBusy, NothingToAnswer where
    that version has no finished answer, TooManyRestorations, TooManyVersions.
    """
    card = lock_card(user, card_id)
    session = card.session
    generations.check_idle(card=card)
    chosen = get_version(card, number)
    if chosen.generation.status != Status.COMPLETED:
        raise NothingToAnswer("That version has no finished answer.")
    if chosen.generation_id == current_of(card).generation_id:
        return card
    restorations.check_pace(card=card)
    new_events = restorations.restore(card=card, chosen=chosen, actor=USER)
    append_events(session=session, events=[*new_events, *generations.changes(session=session)])
    return card


@transaction.atomic
def rename(*, user: User, session_id: UUID, title: str) -> None:
    """Give the council another title; an empty one is the first line of its question. Raises
    NotFound."""
    session = lock_session(user, session_id)
    session.title = title or first_line(session.prompt, MAX_TITLE)
    session.save(update_fields=["title"])
    append_events(session=session, events=[events.session_updated(session, USER)])


@transaction.atomic
def delete(*, user: User, session_id: UUID) -> None:
    """Delete a council with its cards and its log, whose sockets are closed. Calls that run are
    stopped, and billed for what they have produced; what was billed stays. Raises NotFound."""
    session = lock_session(user, session_id)
    running = session.generations.filter(status__in=(Status.QUEUED, Status.RUNNING))
    jobs.cancel(job_ids=list(running.values_list("id", flat=True)))
    session.delete()
    deleted = ToUser(user.pk, [user_events.deleted(session_id)])
    delete_stream(stream_id=session_id, to_user=deleted)


@transaction.atomic
def remove(*, user: User, card_id: UUID) -> None:
    """Take a card off the council. A call that runs is stopped once it has produced something, and
    billed at that.

    Raises NotFound.
    """
    card = lock_card(user, card_id)
    session = card.session
    card.removed_at = Now()
    card.save(update_fields=["removed_at"])
    ended = completion.cancel(session=session, calls=card.generations.all())
    new_events = [events.card_removed(card), *ended, *generations.changes(session=session)]
    append_events(session=session, events=new_events)


def _check_pace(user: User) -> None:
    """Raises TooManySessions. Councils stay until they are deleted, also those whose calls have
    cost nothing."""
    newest = Session.objects.filter(account=user).order_by("-id").values_list("id", flat=True)
    for oldest in newest[MAX_SESSIONS_PER_DAY - 1 : MAX_SESSIONS_PER_DAY]:
        wait = unix_seconds(oldest) + _SECONDS_PER_DAY - int(time.time())
        if wait > 0:
            raise TooManySessions(retry_after=wait)


def _deal(card: Card, turn: Turn, model: str) -> list[NewEvent]:
    """Let a new card begin its first answer. Returns the event."""
    generations.begin(card=card, turn=turn, source=Version.Source.INITIAL, model=model)
    return [events.card_created(turn.session, card)]
