"""A process's lease: what it holds without knowing is given up, and nothing else."""

import asyncio
from collections import UserDict
from collections.abc import AsyncIterator, KeysView
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async

from accounts.models import User
from billing.tests import bank
from common.database import get_database
from inference import lease
from inference.lease import Lease
from inference.runner import CallRunner
from tests.chaos.calls import wait_for

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
async def closed_database() -> AsyncIterator[None]:
    yield
    await get_database().close()


class LatePumps(UserDict[UUID, CallRunner[Any, Any]]):
    """Pumps that have come to be known while a heartbeat was on its way."""

    def keys(self) -> KeysView[UUID]:
        return dict[UUID, None]().keys()


async def test_a_call_that_is_known_when_the_heartbeat_is_answered_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.01)
    owner = uuid4()
    known, unknown = await sync_to_async(_held_for_long)(owner)
    runners = LatePumps({known: None})  # type: ignore[dict-item]
    keeping = asyncio.create_task(Lease(owner, runners).keep())

    await sync_to_async(wait_for)(lambda: bank.charge_of(unknown).status == "released")
    # What the first heartbeat found is done with by the second.
    before = await sync_to_async(_lease_until)(owner)
    await sync_to_async(wait_for)(lambda: _lease_until(owner) > before)

    assert (await sync_to_async(bank.charge_of)(known)).status == "held"
    keeping.cancel()
    await sync_to_async(bank.release)(known)


def _held_for_long(owner: UUID) -> tuple[UUID, UUID]:
    """Two charges, the oldest first: as the heartbeat finds them."""
    alice: User = bank.new_account()
    bank.run("SELECT * FROM lease_heartbeat(%s, 'test', '{}')", owner)
    charges = sorted(bank.hold(alice, 100, owner=owner)[1] for _ in range(2))
    bank.run(
        "UPDATE billing_charge SET admitted_at = admitted_at - interval '16 s' WHERE owner_id = %s"
        " RETURNING 1",
        owner,
    )
    return charges[0], charges[1]


def _lease_until(owner: UUID) -> Any:
    return bank.run("SELECT lease_until FROM billing_ownerlease WHERE owner_id = %s", owner)[0]
