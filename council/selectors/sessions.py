"""Councils as their owner sees them."""

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import User
from common.errors import NotFound
from council.models import Session
from council.selectors.cards import CardState, live_cards, session_cost, states_of
from events.models import Stream


class SessionState(Struct, frozen=True, kw_only=True):
    """A council at one moment: that after event `last_seq`. `cost` is what was paid, in nano-USD.
    `round` of `rounds` runs where it debates."""

    id: UUID
    title: str
    prompt: str
    system: str
    status: str
    activity: str
    round: int | None
    rounds: int | None
    last_seq: int
    cost: int
    cards: list[CardState]
    created_at: datetime


def list_sessions(user: User) -> QuerySet[Session]:
    """The user's councils."""
    return Session.objects.filter(account=user)


def get_session(user: User, session_id: UUID) -> SessionState:
    """All of a council, as of one moment. Raises NotFound.

    Rows and log are read in one snapshot, so that whoever follows the log from `last_seq` on misses
    nothing and sees nothing twice.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        session = Session.objects.filter(account=user, pk=session_id).first()
        if session is None:
            raise NotFound
        return state_of(user, session)


def state_of(user: User, session: Session) -> SessionState:
    """A council with its cards, as the transaction sees it."""
    head = Stream.objects.values_list("last_seq", flat=True).get(pk=session.pk)
    return SessionState(
        id=session.pk,
        title=session.title,
        prompt=session.prompt,
        system=session.system,
        status=session.status,
        activity=session.activity,
        round=session.round,
        rounds=session.rounds,
        last_seq=head,
        cost=session_cost(user, session.pk),
        cards=states_of(user, list(live_cards().filter(session=session)), with_text=True),
        created_at=session.created_at,
    )
