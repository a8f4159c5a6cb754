"""The sweep: one charge that cannot be resolved now keeps no other waiting."""

import pytest
from django.db import connection

from billing.models import OwnerLease
from billing.services import sweeps
from billing.tests.bank import (
    charge_of,
    dead_owner,
    hold,
    kill,
    live_owner,
    new_account,
    other_connection,
    run,
)

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


def test_leases_of_long_dead_processes_that_hold_nothing_are_forgotten() -> None:
    old, holding, young = live_owner(), live_owner(), dead_owner()
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=holding, seconds=86_400 * 3)
    run(
        "UPDATE billing_ownerlease SET lease_until = now() - interval '2 days'"
        " WHERE owner_id = ANY(%s) RETURNING 1",
        [old, holding],
    )
    with connection.cursor() as cursor:
        # So that the charge of the second is not expired by the very same sweep.
        cursor.execute("SET platform.startup_grace = '1 hour'")
        sweeps.expire_lapsed_charges()
        cursor.execute("RESET platform.startup_grace")

    left = set(OwnerLease.objects.values_list("owner_id", flat=True))
    assert old not in left
    assert {holding, young} <= left
    kill(holding)
    sweeps.expire_lapsed_charges()
    assert charge_of(charge).status == "released"
