"""Acts on one council that meet: in a chosen order, each on a connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

from accounts.models import User
from billing.tests import bank
from common.errors import DomainError
from council.models import Session
from council.services import sessions
from council.tests import manual
from council.tests.owner import BALANCE_ONLY
from tests.locks import wait_until_blocked

Act = Callable[[], object]


def begin(user: User, *, cards: int = 1) -> tuple[Session, list[manual.Call]]:
    """A council whose calls have come as far as to their providers."""
    with transaction.atomic():
        council = sessions.start(user=user, prompt="How deep?", models=[BALANCE_ONLY] * cards)
        calls = [manual.begin(card) for card in council.cards.order_by("id")]
    return council, calls


def in_turn(council: Session, *acts: Act) -> list[object]:
    """Let the acts begin while the council is held, each behind the one before, and let go.
    Returns what each brought, or was refused with."""
    with bank.other_connection() as holder, ThreadPoolExecutor(len(acts)) as threads:
        results = []
        with holder.transaction():
            holder.execute("SELECT FROM council_session WHERE id = %s FOR UPDATE", (council.pk,))
            for number, act in enumerate(acts, 1):
                results.append(threads.submit(outcome, act))
                wait_until_blocked(holder, number)
        return [result.result(timeout=20) for result in results]


def outcome(act: Act) -> object:
    """What the act brings, or is refused with; in a thread that has a connection of its own."""
    try:
        return act()
    except DomainError as refusal:
        return refusal
    finally:
        connection.close()
