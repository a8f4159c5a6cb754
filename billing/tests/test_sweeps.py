"""The sweeps: one charge that cannot be resolved now keeps no other waiting."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import IdempotencyKey
from billing.services import sweeps
from billing.tests.bank import (
    charge_of,
    dead_owner,
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
)
from tests.locks import wait_until_blocked
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def test_a_locked_wallet_does_not_stop_the_sweep() -> None:
    alice, bob = new_account(balance=1000), new_account(balance=1000)
    owner = dead_owner()
    _, stuck = hold(alice, 100, owner=owner)
    _, free = hold(bob, 100, owner=owner)

    with other_connection() as other:
        other.execute("BEGIN")
        other.execute("SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (alice.pk,))
        sweeps.expire_lapsed_charges()
        other.execute("COMMIT")

    assert charge_of(stuck).status == "held"
    assert charge_of(free).status == "released"
    sweeps.expire_lapsed_charges()
    assert charge_of(stuck).status == "released"


def test_what_a_process_held_lapses_when_its_lease_has_been_deleted() -> None:
    alice, old, living = new_account(balance=1000), live_owner(), live_owner()
    _, charge = hold(alice, 100, owner=old)
    _, other = hold(alice, 100, owner=living)
    Lease.objects.filter(owner_id=old).delete()

    sweeps.expire_lapsed_charges()

    assert charge_of(charge).status == "released"
    assert charge_of(other).status == "held"
    release(other)


@pytest.mark.parametrize("past", [{"age": timedelta(days=2)}, {"answer": b"x" * 200}])
def test_a_name_that_just_comes_to_stand_for_another_request_is_not_forgotten(
    past: Mapping[str, Any],
) -> None:
    """Though what it stood for was too old, or too long, when the sweep looked."""
    alice, made = new_account(balance=0), uuid4()
    IdempotencyKey.objects.create(
        account=alice,
        route="/v1/embeddings",
        key="k",
        digest=b"",
        charge_id=uuid4(),
        created_at=timezone.now() - past.get("age", timedelta()),
        answer=past.get("answer"),
    )

    def sweep() -> None:
        try:
            sweeps.forget_idempotency_keys(kept=100)
        finally:
            connection.close()

    with other_connection() as other, ThreadPoolExecutor(1) as thread:
        other.execute("BEGIN")
        other.execute(
            "SELECT store_idempotency_key(%s, '/v1/embeddings', 'k', '', %s)", (alice.pk, made)
        )
        sweeping = thread.submit(sweep)
        wait_until_blocked(other)
        other.execute("COMMIT")
        sweeping.result()

    assert [key.charge_id for key in IdempotencyKey.objects.filter(account=alice)] == [made]
