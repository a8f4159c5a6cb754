"""Ordering operations, and seeing what becomes of them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.operations import services
from ai.operations.models import Operation
from ai.operations.tests.handlers import RENDER, render_call
from ai.operations.types import State
from common.ids import uuid7
from events.services import open_stream
from simulator.process import RunningSimulator
from work.jobs.models import Job
from work.jobs.tests.queueing import job_of, wait_until, written


@transaction.atomic
def order(account: User, steering: str = "", **request: Any) -> UUID:
    """Order a film. `steering` is the JSON for the simulator, without the marker, which is the
    operation's id."""
    operation_id = uuid7()
    marker = f'"marker": "{operation_id.hex}"'
    line = f"{{{steering}, {marker}}}" if steering else f"{{{marker}}}"
    request["prompt"] = f"A cat.\n@sim {line}"
    call = render_call(get_catalog(), account.pk, **request)
    services.start(
        call=call, operation_id=operation_id, request=request, kind=RENDER, account=account
    )
    open_stream(stream_id=operation_id, kind="tests", account=account)
    return operation_id


def operation_of(operation_id: UUID) -> Operation:
    return Operation.objects.get(pk=operation_id)


def wait_for_state(operation_id: UUID, state: State) -> None:
    wait_until(lambda: operation_of(operation_id).state == state.value)


def end_of(operation_id: UUID, *, seconds: float = 30.0) -> dict[str, Any]:
    """The last event of an operation, once it has ended."""
    wait_until(lambda: job_of(operation_id).ended_at, seconds=seconds)
    (end,) = written(operation_id, "ended")
    return dict(end)


def submissions(simulator: RunningSimulator, operation_id: UUID) -> list[str]:
    """What became of each submission that reached the provider."""
    return [call["outcome"] for call in simulator.calls(operation_id.hex)]


def status_of(operation_id: UUID) -> Job.Status:
    return Job.Status(job_of(operation_id).status)
