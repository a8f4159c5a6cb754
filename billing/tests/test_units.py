"""What a call used is kept with its charge as one list, whatever it is counted in."""

import pytest

from billing.models import UsageDaily
from billing.services.endings import RESOLVE
from billing.tests.bank import charge_of, checkpoint, ended, expire, hold, live_owner, new_account
from billing.tests.bank import run as sql

pytestmark = pytest.mark.usefixtures("committed")


def test_a_charge_keeps_the_list_and_shows_each_unit() -> None:
    _, charge = hold(new_account(), 100, owner=live_owner())
    used = {"tokens_in": 5, "tokens_out": 7, "cached_tokens": 2, "reasoning_tokens": 3}
    sql(RESOLVE, ended(charge, "settled", 50, {**used, "images": 4, "seconds": 6}))  # type: ignore[dict-item]

    row = charge_of(charge)

    assert row.units == {**used, "images": 4, "seconds": 6}
    assert {name: getattr(row, name) for name in row.units} == row.units


def test_what_is_not_listed_is_zero() -> None:
    _, charge = hold(new_account(), 100, owner=live_owner())
    assert (charge_of(charge).units, charge_of(charge).tokens_out) == ({}, 0)
    sql(RESOLVE, ended(charge, "settled", 50, {"seconds": 13}))

    row = charge_of(charge)

    assert (row.seconds, row.images, row.tokens_in, row.tokens_out) == (13, 0, 0, 0)


def test_a_unit_without_a_column_is_kept_as_well() -> None:
    _, charge = hold(new_account(), 100, owner=live_owner())
    sql(RESOLVE, ended(charge, "settled", 50, {"video_seconds": 8}))  # type: ignore[dict-item]
    assert charge_of(charge).units == {"video_seconds": 8}


def test_an_expired_call_has_the_units_of_its_checkpoint() -> None:
    alice, owner = new_account(), live_owner()
    _, charge = hold(alice, 100, owner=owner)
    checkpoint(owner, charge, cost=60, tokens_out=9)
    expire(charge)
    assert charge_of(charge).units == {"tokens_in": 5, "tokens_out": 9}
    day = UsageDaily.objects.get(account=alice)
    assert (day.tokens_in, day.tokens_out) == (5, 9)


def test_a_released_call_has_used_nothing() -> None:
    _, charge = hold(new_account(), 100, owner=live_owner())
    sql(RESOLVE, ended(charge, "released", 0, {"tokens_in": 5}))
    assert charge_of(charge).units == {}
