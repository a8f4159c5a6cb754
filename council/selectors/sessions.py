"""Councils for their owner."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from msgspec import Struct
from msgspec.structs import asdict

from accounts.models import User
from billing.selectors.charges import get_billed_by
from common.consistent_reads import consistent_reads
from common.errors import NotFound
from council.models import Generation, Session
from council.selectors.cards import (
    CardState,
    live_cards,
    session_cost,
    states_of,
)
from events.selectors import get_last_seq


class SessionSummary(Struct, frozen=True, kw_only=True):
    """A council in a list, with the models of its cards. `cost` is what was paid, in nano-USD.
    `round` of `rounds` runs where it debates."""

    id: UUID
    title: str
    status: str
    activity: str
    round: int | None
    rounds: int | None
    cost: int
    models: list[str]
    created_at: datetime


class SessionState(SessionSummary, frozen=True, kw_only=True):
    """A council after event `last_seq`."""

    prompt: str
    system: str
    last_seq: int
    cards: list[CardState]


def list_sessions(user: User, *, q: str = "", status: str = "") -> QuerySet[Session]:
    """The user's councils, filtered by a part of the title (`q`) and by status, if these are
    given."""
    owned = Session.objects.filter(account=user)
    if q:
        owned = owned.filter(title__icontains=q)
    return owned.filter(status=status) if status else owned


def summaries_of(user: User, sessions: Sequence[Session]) -> list[SessionSummary]:
    """The user's councils as in lists. Two queries, without texts and single calls: a council may
    have ten thousand."""
    models: defaultdict[UUID, list[str]] = defaultdict(list)
    cards = live_cards().filter(session__in=sessions)
    for session_id, model in cards.values_list("session", "current__generation__model"):
        models[session_id].append(model)
    costs = get_billed_by(user, Generation.objects.filter(session__in=sessions), "session")
    return [_summary(each, models[each.pk], costs.get(each.pk, 0)) for each in sessions]


def summary_of(session: Session) -> SessionSummary:
    """One council as in lists, as the transaction sees it."""
    [summary] = summaries_of(session.account, [session])
    return summary


def get_session(user: User, session_id: UUID) -> SessionState:
    """A whole council at one moment. Raises NotFound.

    Rows and log are read in one snapshot, so that a client that follows the log from `last_seq` on
    misses nothing and sees nothing twice.
    """
    with consistent_reads():
        session = Session.objects.filter(account=user, pk=session_id).first()
        if session is None:
            raise NotFound
        return state_of(user, session)


def state_of(user: User, session: Session) -> SessionState:
    """A council with its cards, as the transaction sees it."""
    cards = states_of(user, list(live_cards().filter(session=session)), with_text=True)
    cost = session_cost(user, session.pk)
    return SessionState(
        **asdict(_summary(session, [state.version.generation.model for state in cards], cost)),
        prompt=session.prompt,
        system=session.system,
        last_seq=get_last_seq(session.pk),
        cards=cards,
    )


def _summary(session: Session, models: list[str], cost: int) -> SessionSummary:
    return SessionSummary(
        id=session.pk,
        title=session.title,
        status=session.status,
        activity=session.activity,
        round=session.round,
        rounds=session.rounds,
        cost=cost,
        models=models,
        created_at=session.created_at,
    )
