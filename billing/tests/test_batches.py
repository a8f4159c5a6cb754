"""Calls that share a round trip share nothing else: each is admitted, refused or late by itself."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from msgspec.structs import replace

from accounts.models import User
from ai.catalog.models import PriceVersion
from billing.errors import InsufficientBalance
from billing.services import charges
from billing.tests import bank
from billing.types import Ending, HoldRequest
from common.database import get_database
from common.ids import uuid7
from tests.personas import new_key
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")

TOO_LARGE_FOR_TWICE_ITSELF = 2**62


@pytest.fixture(autouse=True)
async def closed_database() -> AsyncIterator[None]:
    yield
    await get_database().close()


async def test_a_refusal_in_a_batch_concerns_its_call_alone() -> None:
    rich, poor, owner = await _scene(1000, 10)

    outcomes = await asyncio.gather(
        charges.hold(await _request(rich, 100, owner)),
        charges.hold(await _request(poor, 100, owner)),
        charges.hold(await _request(rich, 100, owner)),
        return_exceptions=True,
    )

    assert outcomes[0] is None
    assert isinstance(outcomes[1], InsufficientBalance)
    assert outcomes[2] is None
    assert (await _wallet(rich)).held == 400
    await _release_all(rich)


async def test_a_locked_wallet_keeps_nobody_else_waiting() -> None:
    alice, bob, owner = await _scene(1000, 1000)
    held_up, free = await _request(alice, 100, owner), await _request(bob, 100, owner)

    with bank.other_connection() as other:
        other.execute("BEGIN")
        other.execute("SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (alice.pk,))
        waiting = asyncio.create_task(charges.hold(held_up))
        with Stopwatch() as watch:
            await charges.hold(free)
        assert watch.seconds < 1
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting

    await charges.resolve(
        Ending(held_up.charge_id, alice.pk, "settled", 70, {"tokens_in": 1, "tokens_out": 1})
    )
    await charges.resolve(Ending(free.charge_id, bob.pk, "released"))
    assert (await _wallet(alice)).balance == 860
    assert (await _wallet(bob)).balance == 1000


async def test_a_locked_api_key_keeps_nobody_waiting() -> None:
    """Somebody edits the key just now; that it was used is not worth waiting for."""
    alice, _, owner = await _scene(1000, 0)
    key, _ = await sync_to_async(new_key)(alice)
    request = replace(await _request(alice, 100, owner), api_key_id=key.pk, source="api")

    with bank.other_connection() as other:
        other.execute("BEGIN")
        other.execute("UPDATE accounts_apikey SET name = 'renamed' WHERE id = %s", (key.pk,))
        with Stopwatch() as watch:
            await charges.hold(request)
        assert watch.seconds < 1
        other.execute("COMMIT")

    assert (await _wallet(alice)).held == 200
    await _release_all(alice)


async def test_a_call_that_breaks_its_batch_breaks_alone() -> None:
    alice, bob, owner = await _scene(1000, 1000)
    sound, broken = await _request(alice, 100, owner), await _request(bob, 1, owner)
    await charges.hold(broken)

    outcomes = await asyncio.gather(
        charges.hold(sound),
        charges.hold(await _request(bob, TOO_LARGE_FOR_TWICE_ITSELF, owner)),
        return_exceptions=True,
    )

    assert outcomes[0] is None
    assert isinstance(outcomes[1], Exception)
    assert (await _wallet(alice)).held == 200
    await _release_all(alice)
    await _release_all(bob)


async def test_two_calls_of_one_account_in_a_batch_see_each_other() -> None:
    alice, _, owner = await _scene(300, 0)

    outcomes = await asyncio.gather(
        charges.hold(await _request(alice, 100, owner)),
        charges.hold(await _request(alice, 100, owner)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), InsufficientBalance]
    await _release_all(alice)


@sync_to_async
def _scene(first: int, second: int) -> tuple[User, User, UUID]:
    return bank.new_account(balance=first), bank.new_account(balance=second), bank.live_owner()


@sync_to_async
def _request(account: User, worst: int, owner: UUID) -> HoldRequest:
    price = PriceVersion.objects.filter(model_id=bank.BALANCE_ONLY).earliest("valid_from").pk
    return HoldRequest(
        charge_id=uuid7(),
        account_id=account.pk,
        api_key_id=None,
        model_id=bank.BALANCE_ONLY,
        price_version_id=price,
        source="web",
        kind="chat",
        worst_cost=worst,
        owner_id=owner,
        seconds=600,
    )


_wallet = sync_to_async(bank.wallet_of)


@sync_to_async
def _release_all(account: User) -> None:
    bank.release_all(account)
