"""What starts calls, as a user asks for it over HTTP: once, where it is named, and never before it
is clear that it can be paid."""

from collections.abc import Callable
from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.selectors.features import require_feature
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import NotFound
from council.models import Card, Message, Session, Turn
from council.selectors.cards import current_of
from council.services.admission import admit

FEATURE = "council"

# Begins a turn, and returns something that belongs to it.
Action = Callable[[], Session | Card | Message | Turn]


@transaction.atomic
def carry_out(
    *, user: User, request_key: RequestKey | None, action: Action, least: int = 1
) -> Turn:
    """Let `action` begin its turn, and return it; the one that it began before, where the request
    is sent again. At least so many of its calls have to be possible.

    Raises what the action does, PlanRequired, IdempotencyMismatch, NotFound where what it began is
    deleted, TooManyRuns, and why too few calls are possible: PaymentRequired or
    ProviderNotAvailable.
    """
    turn_id = idempotency.claim(account=user, request_key=request_key)
    if turn_id is not None:
        return _get_turn(turn_id)
    turn = begin(user=user, action=action)
    admit(user=user, turn=turn, least=least)
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=turn.pk)
    return turn


def _get_turn(turn_id: UUID) -> Turn:
    """Raises NotFound where its council was deleted since."""
    turn = Turn.objects.select_related("session", "message").filter(pk=turn_id).first()
    if turn is None:
        raise NotFound("What this request began has been deleted.")
    turn.is_replayed = True
    return turn


def begin(*, user: User, action: Action) -> Turn:
    """The turn that the action begins. Raises what the action does, and PlanRequired."""
    require_feature(user, FEATURE)
    match action():
        case Turn() as turn:
            return turn
        case Message() as message:
            return message.turn
        case Card() as card:
            return current_of(card).generation.turn
        case Session() as session:
            return session.turns.get()
