"""Operators see the operations of providers, and find those that are to be reconciled."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from ai.operations.models import Operation
from common.ids import uuid7
from tests.operators import Operator, new_operator
from tests.personas import new_user
from work.jobs.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Operator:
    return new_operator()


def new_operation(*, is_unreconciled: bool = False) -> UUID:
    job = Job.objects.create(
        id=uuid7(), kind="tests", queue=Job.Queue.MEDIA, account=new_user("alice")
    )
    deadline = timezone.now() + timedelta(hours=1)
    Operation.objects.create(
        job=job,
        provider="renderer",
        request={},
        deadline_at=deadline,
        is_unreconciled=is_unreconciled,
    )
    return job.pk


def listed(operator: Operator, query: str) -> str:
    return operator.get(f"operations/operation/?{query}")


def test_those_to_be_reconciled_are_listed(operator: Operator) -> None:
    ended, lost = new_operation(), new_operation(is_unreconciled=True)

    page = listed(operator, "is_unreconciled__exact=1")

    assert (str(lost) in page, str(ended) in page) == (True, False)


def test_one_is_found_by_its_id_and_by_nothing_else(operator: Operator) -> None:
    wanted, other = new_operation(), new_operation()

    page = listed(operator, f"q={wanted}")

    assert (page.count(f"/{wanted}/change/") > 0, str(other) in page) == (True, False)
    assert str(wanted) not in listed(operator, "q=renderer")


def test_none_is_changed_by_hand(operator: Operator) -> None:
    operation_id = new_operation()

    path = f"operations/operation/{operation_id}/change/"
    assert "renderer" in operator.get(path)
    assert operator.post(path, state="ended").status_code == 403
