"""Many connections, one account: the wallet lock puts the money verbs in order."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import psycopg
import pytest

from accounts.models import ApiKey, User
from billing.models import Charge, KeyMonth
from billing.services.endings import RESOLVE
from billing.services.holds import HOLD
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    ended,
    hold,
    live_owner,
    new_account,
    other_connection,
    release_all,
    request_for,
    settle,
    wallet_of,
)
from billing.types import EndStatus, as_json
from common.ids import uuid7
from tests.locks import wait_until_blocked
from tests.personas import new_key

pytestmark = pytest.mark.usefixtures("committed")

PARALLEL = 12


def test_parallel_holds_never_take_more_than_the_balance() -> None:
    alice = new_account(balance=7 * 200)

    verdicts = _hold_all_at_once(alice, worst=100, count=50)

    assert verdicts.count("held") == 7
    assert wallet_of(alice).held == 1400
    release_all(alice)


def test_parallel_calls_of_a_key_overshoot_its_cap_by_at_most_one() -> None:
    alice = new_account(balance=1_000_000)
    key, _ = new_key(alice, cap=1000)

    _hold_all_at_once(alice, worst=150, count=50, key=key)
    for charge in Charge.objects.filter(account=alice, status="held"):
        settle(charge.pk, charge.worst_cost)

    billed = KeyMonth.objects.get(api_key=key).billed
    assert 1000 <= billed < 1000 + 300


def test_a_hold_that_waited_sees_what_the_one_before_it_committed() -> None:
    """A statement inside a function takes a new snapshot, so what is read after the lock is new."""
    alice = new_account(balance=1000)
    owner = live_owner()
    with other_connection() as first, ThreadPoolExecutor(1) as thread:
        first.execute("BEGIN")
        first.execute("SELECT * FROM money_move(%s, %s, 'adjust', -900, '')", (uuid7(), alice.pk))
        waiting = thread.submit(_hold_elsewhere, alice, 100, owner, None, BALANCE_ONLY)
        wait_until_blocked(first)
        first.execute("COMMIT")

        assert waiting.result() == "insufficient_balance"


def test_a_domain_row_locked_around_a_hold_beside_a_settle_does_not_deadlock() -> None:
    """Lock order: the wallet first, then rows such as a conversation's. Whoever may move money
    calls the money function first, so the two wait for each other in one direction only."""
    alice = new_account(balance=1000)
    owner = live_owner()
    _, charge = hold(alice, 100, owner=owner)
    row = "SELECT FROM accounts_user WHERE id = %s FOR NO KEY UPDATE"
    with (
        other_connection() as sender,
        other_connection() as runner,
        ThreadPoolExecutor(1) as thread,
    ):
        sender.execute("BEGIN")
        _hold_on(sender, alice, 100, owner, None, BALANCE_ONLY)
        sender.execute(row, (alice.pk,))

        def settle_with_text() -> None:
            runner.execute("BEGIN")
            runner.execute(RESOLVE, (ended(charge, "settled", 50, {"tokens_out": 1}),))
            runner.execute(row, (alice.pk,))
            runner.execute("COMMIT")

        settling = thread.submit(settle_with_text)
        wait_until_blocked(sender)
        sender.execute("COMMIT")
        settling.result(timeout=5)

    assert Charge.objects.get(pk=charge).status == "settled"
    release_all(alice)


def test_random_verbs_from_many_connections_keep_every_invariant() -> None:
    alice = new_account(balance=5000)
    key, _ = new_key(alice, cap=4000)
    owner = live_owner()
    seed = random.randrange(2**32)  # noqa: S311 - no secret

    def work(worker: int) -> None:
        chance = random.Random(seed + worker)  # noqa: S311 - no secret
        with other_connection() as connection:
            for _ in range(15):
                worst = chance.choice([0, 1, 99, 100, 400])
                model = chance.choice([IN_PLAN, BALANCE_ONLY])
                charge = uuid7()
                _hold_on(connection, alice, worst, owner, key, model, charge)
                for _ in range(chance.choice([0, 1, 2])):
                    verb: EndStatus = chance.choice(["settled", "released", "expired"])
                    cost = chance.choice([0, worst, worst * 2])
                    connection.execute(RESOLVE, (ended(charge, verb, cost, {"tokens_out": 1}),))

    with ThreadPoolExecutor(PARALLEL) as threads:
        list(threads.map(work, range(PARALLEL)))

    print(f"seed {seed}")  # noqa: T201 - shown when an invariant is broken
    release_all(alice)


def _hold_all_at_once(
    account: User, *, worst: int, count: int, key: ApiKey | None = None
) -> list[str]:
    owner = live_owner()
    barrier = Barrier(PARALLEL)

    def work(worker: int) -> list[str]:
        with other_connection() as connection:
            barrier.wait()
            return [
                _hold_on(connection, account, worst, owner, key, BALANCE_ONLY)
                for _ in range(worker, count, PARALLEL)
            ]

    with ThreadPoolExecutor(PARALLEL) as threads:
        return [verdict for verdicts in threads.map(work, range(PARALLEL)) for verdict in verdicts]


def _hold_elsewhere(account: User, worst: int, owner: UUID, key: ApiKey | None, model: str) -> str:
    with other_connection() as connection:
        return _hold_on(connection, account, worst, owner, key, model)


def _hold_on(
    connection: "psycopg.Connection[tuple[str]]",
    account: User,
    worst: int,
    owner: UUID,
    key: ApiKey | None,
    model: str,
    charge: UUID | None = None,
) -> str:
    # Not through Django: its connection of this thread would stay open.
    [price] = connection.execute(
        "SELECT max(id) FROM catalog_priceversion WHERE model_id = %s", (model,)
    ).fetchall()
    request = request_for(
        account, worst, owner=owner, price=int(price[0]), charge=charge, key=key, model=model
    )
    row = connection.execute(HOLD, (as_json(request),)).fetchone()
    assert row
    return row[0]
