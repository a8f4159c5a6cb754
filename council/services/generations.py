"""Beginning calls: each is a new version of its card, and a job for the workers."""

from typing import Any

from common.ids import current_request_id
from council import events
from council.errors import CardRunning, SessionBusy, TooManyVersions
from council.models import Card, Generation, Message, Session, Status, Turn, Version
from council.selectors.cards import is_running
from council.types import JOB, MAX_VERSIONS
from events.types import NewEvent
from work.jobs.services import enqueue

# While one of these goes on, no other of them may begin.
_OF_THE_WHOLE = (Turn.Kind.CHAT, Turn.Kind.MERGE, Turn.Kind.DEBATE)
# What the session does, the most specific first.
_ACTIVITIES = (
    (Session.Activity.DEBATING, (Turn.Kind.DEBATE,)),
    (Session.Activity.MERGING, (Turn.Kind.MERGE,)),
    (Session.Activity.CHATTING, (Turn.Kind.CHAT, Turn.Kind.MESSAGE)),
    (Session.Activity.ANSWERING, (Turn.Kind.ANSWER,)),
)


def open_turn(*, session: Session, kind: Turn.Kind, params: dict[str, Any] | None = None) -> Turn:
    """Begin an action. Raises SessionBusy for one of the whole council beside another."""
    if kind in _OF_THE_WHOLE:
        check_free(session=session)
    return Turn.objects.create(
        session=session, kind=kind, request_id=current_request_id(), params=params or {}
    )


def check_free(*, session: Session) -> None:
    """Raises SessionBusy while an action of the whole council goes on."""
    if session.turns.filter(status=Status.RUNNING, kind__in=_OF_THE_WHOLE).exists():
        raise SessionBusy


def check_idle(*, card: Card) -> None:
    """Raises CardRunning where the card is being written, SessionBusy where it takes part in a
    debate."""
    if is_running(card):
        raise CardRunning
    debates = card.session.turns.filter(status=Status.RUNNING, kind=Turn.Kind.DEBATE)
    if debates.filter(generations__card=card).exists():
        raise SessionBusy


def begin(
    *,
    card: Card,
    turn: Turn,
    source: Version.Source,
    model: str,
    parent: Version | None = None,
    message: Message | None = None,
    revises: Version | None = None,
    instructions: str = "",
    details: dict[str, Any] | None = None,
) -> Version:
    """Begin a new version of a card: its current one from now on. The caller appends its event.

    Raises TooManyVersions.
    """
    check_room(card=card, versions=1)
    return append_version(
        card=card,
        generation=_call(card, turn, model),
        source=source,
        parent=parent,
        message=message,
        revises=revises,
        instructions=instructions,
        details=details or {},
    )


def begin_again(*, version: Version, turn: Turn, model: str, details: dict[str, Any]) -> None:
    """Let another model write a version of which nothing was written."""
    version.generation = _call(version.card, turn, model)
    version.details = details
    version.save(update_fields=["generation", "details"])


def check_room(*, card: Card, versions: int) -> None:
    """Raises TooManyVersions where the card cannot have so many more. Restorations do not count:
    they write nothing."""
    written = card.versions.exclude(source=Version.Source.RESTORE).count()
    if written + versions > MAX_VERSIONS:
        raise TooManyVersions


def append_version(*, card: Card, generation: Generation, **fields: Any) -> Version:
    """Give a card its next version."""
    number = card.current.number + 1 if card.current else 1
    version = Version.objects.create(card=card, number=number, generation=generation, **fields)
    card.current = version
    card.save(update_fields=["current"])
    return version


def changes(*, session: Session) -> list[NewEvent]:
    """Bring the session's status in line with what runs. Returns the event; none where nothing has
    changed."""
    was = session.status
    if not _refresh(session):
        return []
    if session.status == Status.COMPLETED != was:
        return [events.session_completed(session)]
    return [events.session_updated(session)]


def _refresh(session: Session) -> bool:
    """Has the session's status, activity or round changed?"""
    before = (session.status, session.activity, session.round, session.rounds)
    running = {turn.kind: turn for turn in session.turns.filter(status=Status.RUNNING)}
    debate = running.get(Turn.Kind.DEBATE)
    session.round = debate.round if debate else None
    session.rounds = debate.params["rounds"] if debate else None
    session.activity = next(
        (activity for activity, kinds in _ACTIVITIES if running.keys() & set(kinds)), ""
    )
    session.status = Status.RUNNING if running else _final_status(session)
    session.save(update_fields=["status", "activity", "round", "rounds"])
    return before != (session.status, session.activity, session.round, session.rounds)


def _call(card: Card, turn: Turn, model: str) -> Generation:
    generation = Generation.objects.create(session=turn.session, card=card, turn=turn, model=model)
    enqueue(job_id=generation.pk, kind=JOB, account=turn.session.account)
    return generation


def _final_status(session: Session) -> Status:
    """A council has completed where a card has a finished answer. One without any is cancelled
    where its user has stopped or removed what it had, or else has failed."""
    cards = session.cards.filter(removed_at=None)
    ended = set(cards.values_list("current__generation__status", flat=True))
    if Status.COMPLETED in ended:
        return Status.COMPLETED
    return Status.CANCELLED if Status.CANCELLED in ended or not ended else Status.FAILED
