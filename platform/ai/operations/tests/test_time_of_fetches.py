"""A fetch ends with the time of its hold, and its span says so."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone
from opentelemetry.trace import StatusCode

from accounts.models import User
from ai.operations.models import Operation
from ai.operations.tests.handlers import RENDER, Renders
from ai.operations.tests.ordering import order
from ai.operations.tests.renderer import RenderCall
from ai.operations.transitions import CLOSING
from ai.operations.types import Fetched, State
from ai.providers.operations import Delivered, Succeeded
from billing.tests import bank
from common.database import get_database
from simulator.process import RunningSimulator
from tests.collector import recording
from tests.personas import new_user
from work.jobs.models import Job
from work.jobs.running import RunningJob

pytestmark = pytest.mark.usefixtures("committed")


class EndlessRenders(Renders):
    async def fetch(
        self, operation_id: UUID, call: RenderCall, result: Succeeded | Delivered
    ) -> Fetched:
        await asyncio.sleep(600)
        raise AssertionError("Nobody waits for that long.")


@transaction.atomic
def order_whose_result_waits(account: User) -> UUID:
    """Its hold lapses in a second."""
    operation_id = order(account)
    # No worker takes it.
    Job.objects.filter(pk=operation_id).update(status=Job.Status.RUNNING, attempt=1)
    Operation.objects.filter(pk=operation_id).update(
        state=State.FETCHING.value,
        provider_id="film-1",
        result={"urls": ["https://files.example.com/1"]},
        submitted_at=timezone.now(),
        deadline_at=timezone.now() - CLOSING + timedelta(seconds=1),
    )
    return operation_id


def test_one_that_runs_out_of_time_is_marked_as_failed(simulator: RunningSimulator) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    operation_id = order_whose_result_waits(alice)

    async def run() -> None:
        try:
            job = RunningJob(operation_id, alice.pk, RENDER, attempt=1)
            await EndlessRenders().run(job)
        finally:
            await get_database().close()

    with recording() as exporter:
        asyncio.run(run())
    [fetch] = [each for each in exporter.get_finished_spans() if each.name.startswith("fetch ")]
    assert fetch.status.status_code is StatusCode.ERROR
    assert (fetch.attributes or {})["error.type"] == "upstream_error"
    bank.release(operation_id)
