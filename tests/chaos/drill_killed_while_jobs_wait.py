"""Every process is killed while jobs wait with their holds, and while one makes its call: the holds
stay, and when there are processes again each job makes its call, which is billed once."""

from pathlib import Path
from uuid import UUID

import pytest
from django.db import transaction

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.inference.holds import hold_request
from billing.models import Charge
from billing.services import holds, sweeps
from billing.tests import bank
from common.ids import uuid7
from events.services import open_stream
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import running_web
from tests.worker import running_beat, running_worker
from work.jobs import services
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.jobs.tests.queueing import job_of, wait_until
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def test_the_holds_of_jobs_outlive_all_processes(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    key = new_key(alice)[1]
    with running_web(simulator) as web:
        with running_beat(simulator, tmp_path), running_worker(simulator) as worker:
            running = _enqueue(alice, handlers.HELD_LONG)
            wait_until(lambda: bank.charge_of(running).cost > 0)
            worker.freeze()
            frozen = job_of(running).owner_id
            waiting = [_enqueue(alice, handlers.HELD) for _ in range(3)]
            without_hold = _enqueue(alice, handlers.HELD)
            worker.kill()
        web.kill()
    bank.release(without_hold)
    job_ids = [running, *waiting]
    held = bank.wallet_of(alice).held
    with bank.no_process_lives():
        for _ in range(2):
            sweeps.expire_lapsed_charges()
            end_lost_jobs()

    claimed = {(job.status, job.owner_id, job.started_at) for job in map(job_of, waiting)}
    assert claimed == {(Job.Status.QUEUED, None, None)}, f"the frozen worker is {frozen}"
    assert job_of(running).status == Job.Status.QUEUED
    assert {bank.charge_of(job_id).status for job_id in job_ids} == {"held"}
    assert bank.wallet_of(alice).held == held
    with running_web(simulator) as web, running_worker(simulator):
        assert calls.post(web.url, key, calls.body(uuid7().hex)).status_code == 200
        wait_until(lambda: all(job_of(job_id).ended_at for job_id in job_ids), seconds=30)

    assert {job_of(job_id).status for job_id in job_ids} == {Job.Status.COMPLETED}
    assert {job_of(job_id).attempt for job_id in waiting} == {1}
    assert [len(simulator.calls(job_id.hex)) for job_id in waiting] == [1, 1, 1]
    wait_until(lambda: job_of(without_hold).status == Job.Status.FAILED)
    assert simulator.calls(without_hold.hex) == []
    assert job_of(running).attempt == 2
    charges = Charge.objects.filter(account=alice).exclude(pk=without_hold)
    assert set(charges.values_list("status", flat=True)) == {"settled"}
    assert charges.count() == len(job_ids) + 1  # and the call of /v1
    assert bank.wallet_of(alice).held == 0
    assert not Lease.objects.filter(pk__in=job_ids).exists()


def _enqueue(account: User, kind: str) -> UUID:
    job_id = uuid7()
    call = handlers.call_of(
        get_catalog(), job_id, account.pk, held_by=job_id, prompt=handlers.LONG_CALL
    )
    with transaction.atomic():
        holds.hold_for_job(hold_request(call, job_id, waits=3600))
        open_stream(stream_id=job_id, kind="tests", account=account)
        services.enqueue(job_id=job_id, kind=kind, account=account)
    return job_id
