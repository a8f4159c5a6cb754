"""The fence: a worker that has lost an operation to another one saves nothing of it."""

from uuid import UUID

import msgspec
import pytest
from django.db import connection, transaction

from accounts.models import User
from ai.operations.tests.ordering import operation_of, order
from ai.operations.types import Operation, State
from billing.tests import bank
from tests.personas import new_user
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed")


@transaction.atomic
def order_in_its_second_attempt(account: User) -> UUID:
    operation_id = order(account)
    # No worker takes it.
    Job.objects.filter(pk=operation_id).update(status=Job.Status.RUNNING, attempt=2)
    return operation_id


def save(operation_id: UUID, *, attempt: int) -> bool:
    """Save that the provider has accepted it, as the worker of that attempt."""
    accepted = Operation(
        state=State.RUNNING,
        provider_id=f"film-{attempt}",
        deadline_at=operation_of(operation_id).deadline_at,
    )
    values = operation_id, attempt, msgspec.json.encode(accepted).decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT operation_save(%s, %s, %s, NULL)", values)
        return bool(cursor.fetchone()[0])


def test_a_worker_that_has_lost_it_saves_nothing() -> None:
    operation_id = order_in_its_second_attempt(new_user("alice", plan="max", balance_usd=5))

    assert not save(operation_id, attempt=1)
    assert operation_of(operation_id).provider_id == ""

    assert save(operation_id, attempt=2)
    assert operation_of(operation_id).provider_id == "film-2"
    bank.release(operation_id)
