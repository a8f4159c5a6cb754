"""Putting jobs in, and seeing what becomes of them."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction

from common.ids import uuid7
from events.models import Event
from events.services import open_stream
from tests.personas import new_user
from tests.stopwatch import Stopwatch
from work.jobs import services
from work.jobs.models import Job

T = TypeVar("T")


@transaction.atomic
def cancel(*job_ids: UUID) -> set[UUID]:
    return services.cancel(job_ids=job_ids)


@transaction.atomic
def pause(*job_ids: UUID) -> set[UUID]:
    return services.pause(job_ids=job_ids)


@transaction.atomic
def resume(*job_ids: UUID) -> set[UUID]:
    return services.resume(job_ids=job_ids)


def new_job(
    kind: str, *, job_id: UUID | None = None, queue: Job.Queue = Job.Queue.INTERACTIVE
) -> UUID:
    """A job, and a stream with its id; its message is sent to the workers."""
    alice, job_id = new_user("alice", plan="max", balance_usd=5), job_id or uuid7()
    with transaction.atomic():
        open_stream(stream_id=job_id, kind="tests", account=alice)
        services.enqueue(job_id=job_id, kind=kind, account=alice, queue=queue)
    return job_id


def new_job_without_message(kind: str) -> UUID:
    """A job of which no worker is told."""
    alice, job_id = new_user("alice"), uuid7()
    open_stream(stream_id=job_id, kind="tests", account=alice)
    Job.objects.create(id=job_id, kind=kind, account=alice, queue=Job.Queue.INTERACTIVE)
    return job_id


def in_claims(job_id: UUID) -> bytes:
    """What a statement that claims the job says to the server, and no statement before it. The
    words of a statement are no sign: once it is prepared they are not sent again, and the worker
    may have claimed what other tests left."""
    return job_id.bytes


def in_appends(job_id: UUID) -> bytes:
    """The same of a statement that writes events for the job, which are JSON."""
    return str(job_id).encode()


def job_of(job_id: UUID) -> Job:
    return Job.objects.get(pk=job_id)


def status_of(job_id: UUID) -> str:
    return job_of(job_id).status


def written(job_id: UUID, type_: str | None = None) -> list[Any]:
    """The data of the events of that type, or the types of all."""
    rows = Event.objects.filter(stream_id=job_id).order_by("seq")
    if type_ is None:
        return list(rows.values_list("type", flat=True))
    return [json.loads(data) for data in rows.filter(type=type_).values_list("data", flat=True)]


def wait_until(what: Callable[[], T | None], *, seconds: float = 15.0) -> T:
    """The first true answer, asked again and again."""
    with Stopwatch() as watch:
        while not (answer := what()):
            assert watch.seconds < seconds, "it did not happen in time"
            time.sleep(0.05)
    return answer


def wait_for_status(job_id: UUID, status: Job.Status, *, seconds: float = 15.0) -> None:
    wait_until(lambda: status_of(job_id) == status, seconds=seconds)
