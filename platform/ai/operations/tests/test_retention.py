"""Operations go with their jobs a week after the end, unless operators still have to look after
them."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from ai.operations import by_hand
from ai.operations.models import Operation
from ai.operations.types import State
from common.ids import uuid7
from tests.personas import new_user
from work.jobs.models import Job
from work.jobs.sweeps import purge_ended_jobs

pytestmark = pytest.mark.django_db


def ended_long_ago(*, is_unreconciled: bool) -> UUID:
    now = timezone.now()
    job = Job.objects.create(
        id=uuid7(),
        kind="tests",
        queue=Job.Queue.MEDIA,
        account=new_user("alice"),
        status=Job.Status.FAILED,
        ended_at=now - timedelta(days=8),
    )
    Operation.objects.create(
        job=job,
        provider="renderer",
        request={},
        state=State.ENDED,
        deadline_at=now - timedelta(days=8),
        is_unreconciled=is_unreconciled,
    )
    return job.pk


def is_kept(operation_id: UUID) -> bool:
    return Operation.objects.filter(pk=operation_id).exists()


def test_an_operation_is_kept_until_it_is_reconciled() -> None:
    open_one, other = (ended_long_ago(is_unreconciled=each) for each in (True, False))

    assert purge_ended_jobs() == 1
    assert (is_kept(open_one), is_kept(other)) == (True, False)

    assert by_hand.settle(open_one)
    assert purge_ended_jobs() == 1
    assert not is_kept(open_one)
