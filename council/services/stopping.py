"""Stopping what a council writes: one card, or all of it. What has come is kept, and billed."""

from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.models import User
from council.models import Generation, Session, Status
from council.selectors.cards import is_running
from council.services import completion, generations
from council.services.locks import lock_card, lock_session
from council.services.log import append_events


@transaction.atomic
def stop_card(*, user: User, card_id: UUID) -> bool:
    """Stop the call that writes a card. One that runs ends by itself soon after, as cancelled, with
    its text; one that waits is never made. Of a debate the others go on. Returns whether anything
    ran. Raises NotFound."""
    card = lock_card(user, card_id)
    if not is_running(card):
        return False
    _stop(card.session, card.generations.all())
    return True


@transaction.atomic
def stop_session(*, user: User, session_id: UUID) -> bool:
    """Stop all calls of a council, as `stop_card` does. What they are part of begins no further
    one: a debate ends with this round, a merge with this model. Returns whether anything ran.
    Raises NotFound."""
    session = lock_session(user, session_id)
    if not session.turns.filter(status=Status.RUNNING).update(stopped_at=Now()):
        return False
    _stop(session, session.generations.all())
    return True


def _stop(session: Session, calls: QuerySet[Generation]) -> None:
    ended = completion.cancel(session=session, calls=calls)
    new_events = [*ended, *generations.changes(session=session)]
    if new_events:
        append_events(session=session, events=new_events)
