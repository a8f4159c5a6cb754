"""A submission ends early enough for its results to be stored before the hold lapses."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from ai.operations.handler import FETCH_SECONDS
from ai.operations.models import Operation
from ai.operations.tests.handlers import RENDER, Renders
from ai.operations.tests.ordering import operation_of, order
from ai.operations.tests.renderer import RenderCall, RendererWire
from ai.operations.transitions import CLOSING
from ai.providers.operations import Accepted
from billing.tests import bank
from common.database import get_database
from common.http import UpstreamClient
from simulator.process import RunningSimulator
from tests.personas import new_user
from work.jobs.models import Job
from work.jobs.running import RunningJob

pytestmark = pytest.mark.usefixtures("committed")


class TimedWire(RendererWire):
    """Notes how many seconds a submission is given."""

    given: float

    async def submit(self, order: RenderCall, reference: str, *, seconds: float) -> Accepted:
        self.given = seconds
        return await super().submit(order, reference, seconds=seconds)


class TimedRenders(Renders):
    def __init__(self, wire: TimedWire) -> None:
        self._wire = wire

    def wire_of(self, call: RenderCall) -> RendererWire:
        return self._wire


def run_by_hand(
    account: User, simulator: RunningSimulator, *, until_deadline: timedelta, **request: Any
) -> tuple[UUID, float]:
    """Order an operation, and submit it as a worker does, that long before its deadline. Returns
    its id, and the seconds that its submission was given."""
    with transaction.atomic():
        operation_id = order(account, **request)
        # No worker takes it.
        Job.objects.filter(pk=operation_id).update(status=Job.Status.RUNNING, attempt=1)
        over_at = timezone.now() + until_deadline
        Operation.objects.filter(pk=operation_id).update(deadline_at=over_at)
    client = UpstreamClient()
    url = f"{simulator.url}/renderer/v1"
    wire = TimedWire(client, url, can_cancel=True)

    async def run() -> None:
        try:
            job = RunningJob(operation_id, account.pk, RENDER, attempt=1)
            await TimedRenders(wire).run(job)
        finally:
            await get_database().close()
            await client.aclose()

    asyncio.run(run())
    return operation_id, wire.given


@pytest.fixture
def alice() -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_one_that_may_take_long_leaves_the_time_to_store_its_results(
    alice: User, simulator: RunningSimulator
) -> None:
    minute = timedelta(minutes=1)

    operation_id, given = run_by_hand(
        alice, simulator, until_deadline=minute, submission_seconds=1_000.0
    )

    left = (minute + CLOSING).total_seconds() - FETCH_SECONDS
    assert left - 30 < given <= left
    assert operation_of(operation_id).state == "running"
    bank.release(operation_id)


def test_one_with_time_is_given_what_its_kind_takes(
    alice: User, simulator: RunningSimulator
) -> None:
    hour = timedelta(hours=1)

    operation_id, given = run_by_hand(alice, simulator, until_deadline=hour, submission_seconds=5.0)

    assert given == 5.0
    bank.release(operation_id)
