"""A hold that waits with its job: it stays whatever process dies, and ends with the job."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.inference.holds import hold_request
from billing.errors import InsufficientBalance
from billing.models import Charge
from billing.services import charges, endings, holds, reconciliation, sweeps
from billing.tests import bank
from common.database import get_database
from common.ids import uuid7
from tests.personas import new_user
from work.jobs import services
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import cancel, job_of
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")

WAITS = 3600.0


@pytest.fixture(autouse=True)
async def closed_database() -> AsyncIterator[None]:
    yield
    await get_database().close()


@pytest.fixture
def alice() -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def job_id(alice: User) -> Iterator[UUID]:
    """A job that waits with its hold."""
    yield (job_id := enqueue(alice))
    endings.expire(job_id)
    cancel(job_id)


def enqueue(account: User, *, count: int = 1) -> UUID:
    """Enqueue jobs with their holds, in one transaction. Returns the id of the first."""
    job_ids = [uuid7() for _ in range(count)]
    catalog = get_catalog()
    with transaction.atomic():
        for job_id in job_ids:
            call = handlers.call_of(catalog, job_id, account.pk, held_by=job_id)
            holds.hold_for_job(hold_request(call, job_id, waits=WAITS))
        for job_id in job_ids:
            # A kind that no worker runs.
            services.enqueue(job_id=job_id, kind="tests.waiting", account=account)
    return job_ids[0]


def status_of(charge_id: UUID) -> str:
    return bank.charge_of(charge_id).status


def test_it_has_no_need_of_a_living_process(job_id: UUID, alice: User) -> None:
    with bank.no_process_lives():
        sweeps.expire_lapsed_charges()
        _, other = bank.hold(alice, 1, owner=bank.live_owner())

    assert status_of(job_id) == "held"
    bank.release(other)


def test_its_job_may_be_one_of_several_in_a_transaction(alice: User) -> None:
    """The second hold expires what nobody keeps any more."""
    job_id = enqueue(alice, count=2)

    assert set(Charge.objects.filter(account=alice).values_list("status", flat=True)) == {"held"}
    for job in Job.objects.filter(account=alice):
        endings.expire(job.pk)
        cancel(job.pk)
    assert status_of(job_id) == "released"


@pytest.mark.parametrize("found_by", ["sweep", "hold"])
def test_it_lapses_at_its_deadline(job_id: UUID, alice: User, found_by: str) -> None:
    long_call = handlers.call_of(get_catalog(), job_id, alice.pk, held_by=job_id)
    after = timezone.now() + timedelta(seconds=WAITS + long_call.total_seconds + 61)
    with bank.at(after - timedelta(seconds=3)):
        _find_lapsed(found_by, alice)
    assert status_of(job_id) == "held"

    with bank.at(after):
        _find_lapsed(found_by, alice)

    assert status_of(job_id) == "released"
    assert job_of(job_id).status == Job.Status.QUEUED


@pytest.mark.parametrize("found_by", ["sweep", "hold"])
def test_it_lapses_when_its_job_is_cancelled(job_id: UUID, alice: User, found_by: str) -> None:
    cancel(job_id)

    _find_lapsed(found_by, alice)

    assert status_of(job_id) == "released"


def test_it_lapses_when_its_job_ends_without_it(job_id: UUID) -> None:
    Job.objects.filter(pk=job_id).update(status=Job.Status.RUNNING, attempt=1)
    services.end(job_id=job_id, attempt=1, status=Job.Status.FAILED)

    sweeps.expire_lapsed_charges()

    assert status_of(job_id) == "released"


def test_it_lapses_when_its_job_is_deleted(alice: User) -> None:
    job_id = enqueue(alice)
    Job.objects.filter(pk=job_id).delete()

    sweeps.expire_lapsed_charges()

    assert status_of(job_id) == "released"
    assert not Lease.objects.filter(pk=job_id).exists()


def test_a_refusal_leaves_no_lease() -> None:
    bob, job_id = new_user("bob", plan="max", balance_usd=0), uuid7()
    call = handlers.call_of(get_catalog(), job_id, bob.pk, held_by=job_id)

    with pytest.raises(InsufficientBalance):
        holds.hold_for_job(hold_request(call, job_id))

    assert not Lease.objects.filter(pk=job_id).exists()


async def test_its_call_gets_a_deadline_of_its_own_when_it_begins(job_id: UUID) -> None:
    before = await sync_to_async(bank.charge_of)(job_id)

    assert await charges.begin(job_id, job_id, seconds=60)
    short = await sync_to_async(bank.charge_of)(job_id)
    assert await charges.begin(job_id, job_id, seconds=10_000)
    long = await sync_to_async(bank.charge_of)(job_id)

    assert short.deadline_at == before.deadline_at
    assert long.deadline_at - timezone.now() > timedelta(seconds=9_900)


async def test_no_call_begins_on_a_hold_that_has_lapsed(job_id: UUID) -> None:
    assert not await charges.begin(job_id, uuid7(), seconds=60)
    await sync_to_async(cancel)(job_id)
    assert not await charges.begin(job_id, job_id, seconds=60)


async def test_no_call_begins_after_the_deadline(job_id: UUID) -> None:
    await sync_to_async(_end_deadline)(job_id)
    assert not await charges.begin(job_id, job_id, seconds=60)


async def test_no_call_begins_on_a_charge_that_has_ended(job_id: UUID) -> None:
    await sync_to_async(bank.release)(job_id)
    assert not await charges.begin(job_id, job_id, seconds=60)


def test_the_invariants_find_a_job_that_has_ended_and_holds(job_id: UUID) -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers
        long_ago = timezone.now() - timedelta(minutes=3)
        Job.objects.filter(pk=job_id).update(status=Job.Status.FAILED, ended_at=long_ago)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = origin")
        broken = {violation.invariant.name for violation in reconciliation.find_violations()}
        transaction.set_rollback(True)

    assert "lease_of_an_open_job" in broken


def _find_lapsed(found_by: str, account: User) -> None:
    if found_by == "sweep":
        sweeps.expire_lapsed_charges()
    else:
        bank.release(bank.hold(account, 1, owner=bank.live_owner())[1])


def _end_deadline(charge_id: UUID) -> None:
    Charge.objects.filter(pk=charge_id).update(deadline_at=timezone.now() - timedelta(seconds=1))
