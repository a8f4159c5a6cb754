"""A top-up that its client gave a name (Idempotency-Key): once per account, route and name."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from accounts.models import User
from billing.errors import IdempotencyMismatch
from billing.models import IdempotencyKey, LedgerEntry
from billing.services import balance
from billing.tests import money_functions
from billing.tests.bank import (
    at,
    live_owner,
    new_account,
    other_connection,
    release,
    wallet_of,
)
from billing.types import RequestKey
from common.ids import uuid7

pytestmark = pytest.mark.usefixtures("committed")

ROUTE = "/api/billing/topup"


def named(amount: int, *, name: str = "topup-1", route: str = ROUTE) -> RequestKey:
    return RequestKey(route, name, amount.to_bytes(8))


def topup(account: User, amount: int, request_key: RequestKey) -> LedgerEntry:
    return balance.topup(
        operation_id=uuid7(), account=account, amount=amount, request_key=request_key
    )


def test_the_same_topup_sent_again_adds_nothing_and_answers_the_first_entry() -> None:
    alice = new_account(balance=0)

    first = topup(alice, 500, named(500))
    again = topup(alice, 500, named(500))

    assert again == first
    assert wallet_of(alice).balance == 500


def test_eight_at_once_add_once() -> None:
    alice = new_account(balance=0)
    everybody = Barrier(8)

    def send(_: int) -> tuple[str, str]:
        with other_connection() as other:
            everybody.wait()
            row = other.execute(
                "SELECT outcome, entry"
                " FROM money_move_idempotently(%s, 'topup-1', 'x', %s, %s, 'topup', 500, '')",
                (ROUTE, uuid7(), alice.pk),
            ).fetchone()
        assert row
        return str(row[0]), str(row[1])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(send, range(8)))

    assert sorted(outcome for outcome, _ in answers) == ["already"] * 7 + ["done"]
    [entry] = LedgerEntry.objects.filter(account=alice)
    assert {entry_id for _, entry_id in answers} == {str(entry.pk)}
    assert wallet_of(alice).balance == 500


def test_another_amount_under_the_same_name_is_refused() -> None:
    alice = new_account(balance=0)
    topup(alice, 500, named(500))

    with pytest.raises(IdempotencyMismatch):
        topup(alice, 600, named(600))

    assert wallet_of(alice).balance == 500


def test_a_name_stands_for_its_topup_until_24_hours_have_passed() -> None:
    alice = new_account(balance=0)
    begin = datetime.now(UTC)
    day = timedelta(hours=24)
    with at(begin):
        first = topup(alice, 500, named(500))

    with at(begin + day - timedelta(microseconds=1)):
        assert topup(alice, 500, named(500)) == first
    with at(begin + day):
        second = topup(alice, 700, named(700))
    with at(begin + day + timedelta(hours=1)):
        assert topup(alice, 700, named(700)) == second

    assert (first.delta, second.delta, wallet_of(alice).balance) == (500, 700, 1_200)
    assert IdempotencyKey.objects.filter(account=alice).count() == 1


def test_two_accounts_may_use_the_same_name() -> None:
    alice, bob = new_account(balance=0), new_account(balance=0)

    topup(alice, 500, named(500))
    topup(bob, 700, named(700))

    assert (wallet_of(alice).balance, wallet_of(bob).balance) == (500, 700)


def test_a_call_and_a_topup_may_have_the_same_name() -> None:
    alice = new_account(balance=1_000)
    topup(alice, 500, named(500))

    name = named(500, route="/v1/chat/completions")
    call = money_functions.request(alice, 10, owner=live_owner())
    answer, _ = money_functions.hold_idempotently(name, call)
    assert answer.verdict == "held"
    assert topup(alice, 500, named(500)).delta == 500

    assert wallet_of(alice).balance == 1_500
    answer, _ = money_functions.hold_idempotently(
        name, money_functions.request(alice, 10, owner=live_owner())
    )
    assert answer.verdict == "idempotency_in_progress"
    release(call.charge_id)


def test_a_name_whose_topup_was_not_carried_out_is_free() -> None:
    """The transaction was rolled back: the money and the memory of it went together."""
    alice = new_account(balance=0)
    with other_connection() as other:
        other.execute("BEGIN")
        other.execute(
            "SELECT * FROM money_move_idempotently(%s, 'topup-1', 'x', %s, %s, 'topup', 500, '')",
            (ROUTE, uuid7(), alice.pk),
        )
        other.execute("ROLLBACK")

    assert topup(alice, 700, named(700)).delta == 700
    assert wallet_of(alice).balance == 700
