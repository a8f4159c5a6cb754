"""What a process holds without knowing is given up, and nothing else."""

from collections import UserDict
from collections.abc import AsyncIterator, KeysView
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async

from accounts.models import User
from ai.inference import runtime
from ai.inference.runner import CallRunner
from ai.inference.runtime import Runtime
from billing.tests import bank
from common.database import get_database
from tests.chaos.calls import wait_for
from work.leases.keeper import get_lease_keeper

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
async def closed_database() -> AsyncIterator[None]:
    yield
    await get_database().close()


class LateRunners(UserDict[UUID, CallRunner[Any, Any]]):
    """Runners that have come to be known while the question was on its way."""

    def keys(self) -> KeysView[UUID]:
        return dict[UUID, None]().keys()


class _IdleRunner:
    def progress_to_save(self) -> None: ...


async def test_a_call_that_is_known_when_the_answer_comes_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime, "UNKNOWN_LOOK_SECONDS", 0.01)
    owner = get_lease_keeper().owner_id
    known, unknown = await sync_to_async(_held_for_long)(owner)
    process = Runtime()
    late = LateRunners({known: _IdleRunner()})  # type: ignore[dict-item]
    process._runners = late  # type: ignore[assignment]
    await process.admit()
    try:
        await sync_to_async(wait_for)(lambda: bank.charge_of(unknown).status == "released")
        # What the first look found is done with when the second has found another one.
        later = await sync_to_async(_hold_for_long)(owner)
        await sync_to_async(wait_for)(lambda: bank.charge_of(later).status == "released")

        assert (await sync_to_async(bank.charge_of)(known)).status == "held"
    finally:
        late.clear()
        await process.close()
        await sync_to_async(bank.release)(known)


def _held_for_long(owner: UUID) -> tuple[UUID, UUID]:
    """Two charges, the oldest first: as they are found."""
    known, unknown = sorted(_hold_for_long(owner) for _ in range(2))
    return known, unknown


def _hold_for_long(owner: UUID) -> UUID:
    alice: User = bank.new_account()
    bank.run("SELECT lease_renew(%s, 'test')", owner)
    charge = bank.hold(alice, 100, owner=owner)[1]
    bank.run(
        "UPDATE billing_charge SET admitted_at = admitted_at - interval '16 s' WHERE id = %s"
        " RETURNING 1",
        charge,
    )
    return charge
