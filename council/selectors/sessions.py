"""Councils as their owner sees them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import get_usage
from common.errors import NotFound
from council.models import Generation, Session
from council.selectors.cards import (
    CardState,
    current_of,
    live_cards,
    session_cost,
    states_of,
)
from events.selectors import get_last_seq


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


class SessionSummary(Struct, frozen=True, kw_only=True):
    """A council in a list, with the models of its cards. `cost` is what was paid, in nano-USD."""

    id: UUID
    title: str
    status: str
    activity: str
    round: int | None
    rounds: int | None
    cost: int
    models: list[str]
    created_at: datetime


def list_sessions(user: User) -> QuerySet[Session]:
    """The user's councils."""
    return Session.objects.filter(account=user)


def summaries_of(user: User, sessions: Sequence[Session]) -> list[SessionSummary]:
    """The user's councils as a list shows them. Three queries."""
    models: defaultdict[UUID, list[str]] = defaultdict(list)
    for card in live_cards().filter(session__in=sessions):
        models[card.session_id].append(current_of(card).generation.model)
    costs = _costs(user, sessions)
    return [
        SessionSummary(
            id=session.pk,
            title=session.title,
            status=session.status,
            activity=session.activity,
            round=session.round,
            rounds=session.rounds,
            cost=costs[session.pk],
            models=models[session.pk],
            created_at=session.created_at,
        )
        for session in sessions
    ]


def _costs(user: User, sessions: Sequence[Session]) -> defaultdict[UUID, int]:
    """What was paid for each, in nano-USD."""
    calls = Generation.objects.filter(session__in=sessions).values_list("id", "session")
    session_of: dict[UUID, UUID] = dict(calls)
    costs: defaultdict[UUID, int] = defaultdict(int)
    for call, usage in get_usage(user, session_of).items():
        costs[session_of[call]] += usage.billed
    return costs


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
    head = get_last_seq(session.pk)
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
