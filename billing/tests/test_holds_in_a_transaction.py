"""Holding together with other rows: all of it stands, or nothing."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction
from msgspec.structs import replace

from accounts.models import User
from ai.catalog.models import PriceVersion
from billing.errors import ChargeResolved
from billing.models import Charge, FreeWindow
from billing.services import charges, idempotency
from billing.services.holds import hold
from billing.tests import money_functions
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    charge_of,
    live_owner,
    new_account,
    other_connection,
    release,
    release_all,
    settle,
    wallet_of,
)
from billing.types import HoldRequest
from common.database import get_database
from common.errors import DomainError

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def owner(committed: None) -> UUID:
    return live_owner()


def message(user: User, owner: UUID, model: str = FREE_MODEL) -> HoldRequest:
    """A message of the web app's chat."""
    price = PriceVersion.objects.filter(model_id=model).latest("valid_from").pk
    request = money_functions.request(user, 100, owner=owner)
    return replace(request, model_id=model, price_version_id=price, source="web", free_window=True)


def hold_with_a_row(request: HoldRequest) -> None:
    """A hold after a row of the caller's: the account's name is the charge."""
    with transaction.atomic():
        idempotency.claim(account=User(pk=request.account_id), request_key=None)
        User.objects.filter(pk=request.account_id).update(name=str(request.charge_id))
        hold(request)


def name_of(user: User) -> str:
    return User.objects.get(pk=user.pk).name


def test_hold_and_rows_stand_together(owner: UUID) -> None:
    alice = new_account(balance=1_000)
    request = money_functions.request(alice, 300, owner=owner)

    hold_with_a_row(request)

    charge = charge_of(request.charge_id)
    assert (charge.status, charge.hold_balance, charge.owner_id) == ("held", 600, owner)
    assert wallet_of(alice).held == 600
    assert name_of(alice) == str(request.charge_id)
    assert settle(request.charge_id, 200) == "resolved"
    assert wallet_of(alice).balance == 600


def test_a_refusal_leaves_nothing_behind(owner: UUID) -> None:
    alice = new_account(balance=100)
    request, before = money_functions.request(alice, 51, owner=owner), name_of(alice)

    with pytest.raises(DomainError, match="below one cent"):
        hold_with_a_row(request)

    assert not Charge.objects.filter(account=alice).exists()
    assert (wallet_of(alice).held, wallet_of(alice).open_charges) == (0, 0)
    assert name_of(alice) == before


def test_what_is_rolled_back_later_has_held_nothing(owner: UUID) -> None:
    charlie = new_account(plan="free", balance=0)

    with transaction.atomic():
        hold(message(charlie, owner))
        transaction.set_rollback(True)

    assert not Charge.objects.filter(account=charlie).exists()
    assert not FreeWindow.objects.filter(account=charlie).exists()
    assert wallet_of(charlie).open_charges == 0


def test_it_refuses_with_the_same_words_as_a_hold_of_its_own(owner: UUID) -> None:
    charlie, poor = new_account(plan="free", balance=0), new_account(balance=0)
    for _ in range(10):
        request = message(charlie, owner)
        hold(request)
        settle(request.charge_id, 1)
    refused = [
        message(charlie, owner),
        message(charlie, owner, BALANCE_ONLY),
        money_functions.request(poor, 10, owner=owner),
        request,
    ]

    for request in refused:
        with pytest.raises(DomainError) as here, transaction.atomic():
            hold(request)
        alone = asyncio.run(refusal_alone(request))
        assert (type(here.value), here.value.text) == (type(alone), alone.text)
        assert here.value.extra == alone.extra
    assert isinstance(here.value, ChargeResolved)


async def refusal_alone(request: HoldRequest) -> DomainError:
    try:
        await charges.hold(request)
    except DomainError as refusal:
        return refusal
    finally:
        await get_database().close()
    raise AssertionError("it was admitted")


def test_the_same_hold_again_is_the_same_charge(owner: UUID) -> None:
    alice = new_account(balance=1_000)
    request = money_functions.request(alice, 300, owner=owner)

    hold(request)
    hold(request)

    assert wallet_of(alice).held == 600
    release(request.charge_id)


def test_the_wallet_is_locked_until_the_transaction_ends(owner: UUID) -> None:
    alice = new_account(balance=1_000)
    lock = "SELECT FROM billing_wallet WHERE account_id = %s FOR NO KEY UPDATE NOWAIT"
    with other_connection() as other:
        with transaction.atomic():
            hold(money_functions.request(alice, 300, owner=owner))
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(lock, (alice.pk,))
        other.execute(lock, (alice.pk,))
    release_all(alice)


def test_of_many_at_once_only_those_are_admitted_that_can_be_paid(owner: UUID) -> None:
    alice, together = new_account(balance=700), Barrier(6)
    requests = [money_functions.request(alice, 100, owner=owner) for _ in range(6)]

    def begin(request: HoldRequest) -> bool:
        together.wait()
        try:
            hold_with_a_row(request)
        except DomainError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(6) as threads:
        admitted = list(threads.map(begin, requests))

    assert admitted.count(True) == 3
    assert wallet_of(alice).held == 600
    assert Charge.objects.filter(account=alice).count() == 3
    release_all(alice)
