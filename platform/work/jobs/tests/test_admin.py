"""Operators see why jobs failed, have them run now, and cancel them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from billing.services import endings
from billing.tests.bank import hold, live_owner
from billing.types import Ending, Failure
from tests.operators import Operator, audit_of, new_operator
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    job_of,
    new_job,
    new_job_without_message,
    pause,
    status_of,
    wait_for_status,
    wait_until,
    written,
)

pytestmark = pytest.mark.usefixtures("committed")

# No worker knows it.
UNKNOWN = "tests.admin"
REASON = "The customer asked for it"
SCHEDULED = Job.Status.SCHEDULED


@pytest.fixture
def support() -> Operator:
    return new_operator("jobs.view_job", "jobs.change_job")


def act(operator: Operator, job: Job, name: str) -> int:
    return int(operator.post(f"jobs/job/{job.pk}/{name}/", reason=REASON).status_code)


def waiting(**fields: object) -> Job:
    """A job that no worker takes."""
    job_id = new_job_without_message(UNKNOWN)
    Job.objects.filter(pk=job_id).update(**fields)
    return job_of(job_id)


def test_a_list_and_the_page_of_a_job_say_why_its_call_failed(support: Operator) -> None:
    job = waiting()
    hold(job.account, 0, owner=live_owner(), charge=job.pk)
    failure = Failure("upstream_error", "It failed.", "openai", 529, "overloaded", attempts=3)
    endings.resolve(Ending(job.pk, job.account_id, "released", failure=failure))
    for page in (f"jobs/job/?q={job.pk}", f"jobs/job/{job.pk}/change/"):
        assert "upstream_error, openai, 529, overloaded, 3 attempts" in support.get(page)
    assert f"/admin/billing/charge/{job.pk}/change/" in support.get(f"jobs/job/{job.pk}/change/")


def test_jobs_are_listed_by_status_queue_and_age(support: Operator) -> None:
    old = waiting(queued_at=timezone.now() - timedelta(minutes=11))
    young, ended = waiting(), waiting(status=Job.Status.FAILED, ended_at=timezone.now())
    shown = support.get("jobs/job/?age=600&status__exact=queued&queue__exact=interactive")
    assert str(old.pk) in shown
    assert str(young.pk) not in shown
    assert str(ended.pk) not in shown
    assert str(old.pk) not in support.get("jobs/job/?age=3600")
    assert str(ended.pk) in support.get("jobs/job/?status__exact=failed")


def test_a_job_whose_message_was_lost_is_run_now_and_once(
    support: Operator, worker: object
) -> None:
    job = job_of(new_job_without_message(handlers.QUICK))
    for _ in range(3):
        assert act(support, job, "run_now") == 302
    wait_for_status(job.pk, Job.Status.COMPLETED)
    assert len(written(job.pk, "begun")) == 1
    assert job_of(job.pk).attempt == 1


def test_a_scheduled_job_is_due_at_once(support: Operator) -> None:
    job = waiting(status=SCHEDULED, due_at=timezone.now() + timedelta(hours=1))
    assert act(support, job, "run_now") == 302
    due_at = job_of(job.pk).due_at
    assert due_at is not None
    assert due_at <= timezone.now()
    assert audit_of(job) == [f"Run now. Reason: {REASON}"]


@pytest.mark.parametrize("status", ["running", "paused", "completed", "failed", "cancelled"])
def test_what_runs_or_has_ended_is_not_run_again(support: Operator, status: str) -> None:
    ended_at = None if status in ("running", "paused") else timezone.now()
    job = waiting(status=status, ended_at=ended_at, attempt=1)
    act(support, job, "run_now")
    assert (status_of(job.pk), job_of(job.pk).attempt) == (status, 1)
    assert audit_of(job) == []


def test_a_job_that_waits_is_cancelled_by_its_handler_as_soon_as_that_begins(
    support: Operator, worker: object
) -> None:
    job = job_of(new_job_without_message(handlers.ENDLESS))
    assert act(support, job, "cancel") == 302
    wait_for_status(job.pk, Job.Status.CANCELLED)
    assert written(job.pk, "step") in ([], [{"number": 1}])
    assert audit_of(job) == [f"Asked to cancel. Reason: {REASON}"]


def test_a_running_job_is_cancelled_once(support: Operator, worker: object) -> None:
    job_id = new_job(handlers.ENDLESS)
    wait_until(lambda: "step" in written(job_id))
    for _ in range(2):
        assert act(support, job_of(job_id), "cancel") == 302
    wait_for_status(job_id, Job.Status.CANCELLED)
    assert len(audit_of(job_of(job_id))) == 1


def test_a_paused_job_and_one_that_has_ended_are_not_cancelled(support: Operator) -> None:
    paused = waiting()
    pause(paused.pk)
    ended = waiting(status=Job.Status.COMPLETED, ended_at=timezone.now())
    for job in (paused, ended):
        act(support, job, "cancel")
        assert job_of(job.pk).signal == Job.Signal.NONE


def test_only_who_may_change_jobs_acts_on_them(support: Operator) -> None:
    job = waiting()
    viewer = new_operator("jobs.view_job")
    assert "/run_now/" not in viewer.get(f"jobs/job/{job.pk}/change/")
    for name in ("run_now", "cancel"):
        assert act(viewer, job, name) == 403
    own = waiting(account=support.user)
    assert act(support, own, "cancel") == 403


@pytest.mark.parametrize("key", ["x", "0", "%00", "x" * 3000])
def test_a_job_that_is_none_is_not_found(support: Operator, key: str) -> None:
    response = support.client.post(f"/admin/jobs/job/{key}/cancel/", {"reason": REASON})
    assert response.status_code in (302, 404)
