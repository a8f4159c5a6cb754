"""What operators do by hand for a job that makes no progress: they look it up, fail it, and settle
it with the provider; each act has a reason in the audit log."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from ai.operations import by_hand
from ai.operations.models import Operation
from ai.operations.types import State
from billing.tests import bank
from studios.tests.artist import Artist, Job
from studios.tests.conftest import NewArtist
from tests.locks import wait_until_blocked
from tests.operators import Operator, audit_of, new_operator
from tests.service import database_url
from work.jobs.models import Job as JobRow
from work.jobs.tests.queueing import wait_until

PAGE = "operations/operation/"
REASON = "The provider says so"
ACTS: dict[str, dict[str, Any]] = {"look_up": {}, "fail": {}, "settle": {"cost_usd": "0.25"}}


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


@pytest.fixture
def operator(committed: None) -> Operator:
    return new_operator()


def act(operator: Operator, what: str, job: Job, **values: Any) -> Any:
    """The answer to an act with a reason."""
    return operator.post(f"{PAGE}{job['id']}/{what}/", **{"reason": REASON, **ACTS[what], **values})


def operation_of(job: Job) -> Operation:
    return Operation.objects.get(pk=job["id"])


def audited(job: Job) -> list[str]:
    return audit_of(operation_of(job))


def at_the_provider(alice: Artist, **steering: Any) -> Job:
    """A job that its provider has, and that is polled in an hour."""
    job = alice.order("gen4.5", steering=steering)
    wait_until(lambda: is_scheduled(job, State.RUNNING), seconds=30)
    JobRow.objects.filter(pk=job["id"]).update(due_at=timezone.now() + timedelta(hours=1))
    return job


def is_scheduled(job: Job, state: State) -> bool:
    rows = JobRow.objects.filter(pk=job["id"], status=JobRow.Status.SCHEDULED)
    return rows.exists() and operation_of(job).state == state.value


def act_on_the_job(operator: Operator, what: str, job: Job) -> None:
    sent = operator.post(f"jobs/job/{job['id']}/{what}/", reason=REASON)
    assert sent.status_code == 302


class TestTheJobItself:
    def test_a_job_is_run_now_and_paid_once(self, operator: Operator, alice: Artist) -> None:
        job = at_the_provider(alice)
        for _ in range(3):
            act_on_the_job(operator, "run_now", job)
        assert alice.ended(job)["status"] == "completed"
        act_on_the_job(operator, "run_now", job)
        alice.check_money()

    def test_a_cancelled_job_ends_as_if_its_user_had_cancelled_it(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = at_the_provider(alice, polls=1000)
        act_on_the_job(operator, "cancel", job)
        assert alice.ended(job)["status"] == "cancelled"
        act_on_the_job(operator, "run_now", job)
        act_on_the_job(operator, "cancel", job)
        assert audit_of(JobRow.objects.get(pk=job["id"])) == [f"Asked to cancel. Reason: {REASON}"]
        alice.check_money()


class TestLookingUp:
    def test_a_waiting_job_is_looked_up_at_once(self, operator: Operator, alice: Artist) -> None:
        job = at_the_provider(alice)

        assert act(operator, "look_up", job).status_code == 302

        assert alice.ended(job)["status"] == "completed"
        assert audited(job) == [f"Looked up. Reason: {REASON}"]
        alice.check_money()

    def test_one_that_has_ended_stays_as_it_is(self, operator: Operator, alice: Artist) -> None:
        job = alice.made("gen4.5")

        act(operator, "look_up", job)

        assert audited(job) == []
        assert alice.job(job)["status"] == "completed"


class TestFailing:
    def test_one_at_its_provider_ends_unbilled_and_stays_to_be_reconciled(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = at_the_provider(alice, polls=1000)

        assert act(operator, "fail", job).status_code == 302

        ended = alice.job(job)
        assert (ended["status"], ended["error"]["code"]) == ("failed", "upstream_error")
        assert (ended["refunded"], ended["cost_usd"]) == (True, 0)
        assert alice.events(job)[-1][0] == "job.failed"
        operation = operation_of(job)
        assert (operation.state, operation.is_unreconciled) == ("ended", True)
        assert audited(job) == [f"Ended as failed. Reason: {REASON}"]
        alice.check_money()

    def test_one_that_was_not_submitted_leaves_nothing_to_reconcile(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = alice.order("gen4.5", steering={"status": 503, "retry_after": 60})
        wait_until(lambda: is_scheduled(job, State.PLANNED))

        act(operator, "fail", job)

        assert alice.job(job)["status"] == "failed"
        assert not operation_of(job).is_unreconciled
        alice.check_money()

    def test_one_that_is_submitted_meanwhile_stays_to_be_reconciled(self, alice: Artist) -> None:
        job = alice.order("gen4.5", steering={"status": 503, "retry_after": 60})
        wait_until(lambda: is_scheduled(job, State.PLANNED))
        with psycopg.connect(database_url()) as worker, ThreadPoolExecutor(1) as threads:
            worker.execute(
                "SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (alice.user.pk,)
            )
            failing = threads.submit(_fail, job)
            wait_until_blocked(worker)
            worker.execute(
                "UPDATE operations_operation SET state = 'running', provider_id = 'task-1',"
                " submitted_at = now() WHERE job_id = %s",
                (job["id"],),
            )
            worker.commit()
            assert failing.result()

        assert operation_of(job).is_unreconciled
        alice.check_money()

    def test_one_that_a_worker_has_in_hand_is_tried_again_later(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = at_the_provider(alice)
        row = JobRow.objects.filter(pk=job["id"])
        row.update(status=JobRow.Status.RUNNING, owner_id=bank.live_owner())

        answer = act(operator, "fail", job)

        row.update(status=JobRow.Status.SCHEDULED, owner_id=None, due_at=timezone.now())
        assert answer.status_code == 200
        assert by_hand.OperationBusy.message in answer.content.decode()
        assert alice.ended(job)["status"] == "completed"
        assert audited(job) == []
        alice.check_money()

    def test_one_that_has_ended_stays_billed(self, operator: Operator, alice: Artist) -> None:
        job = alice.made("gen4.5")

        assert act(operator, "fail", job).status_code == 302

        assert alice.job(job) == job
        assert not operation_of(job).is_unreconciled
        assert audited(job) == []
        alice.check_money()


def _fail(job: Job) -> bool:
    """In a thread, which gives its connection back."""
    try:
        with transaction.atomic():
            return by_hand.fail(operation_of(job).pk)
    finally:
        connection.close()


class TestSettling:
    def test_a_lost_order_is_settled_once_and_its_customer_pays_nothing(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = alice.made("gen4.5", steering={"drop": True})
        assert operation_of(job).is_unreconciled

        for _ in range(2):
            assert act(operator, "settle", job).status_code == 302

        assert not operation_of(job).is_unreconciled
        settled = "Settled: the provider has billed 0.25 USD."
        assert audited(job) == [f"{settled} Reason: {REASON}"]
        assert alice.job(job) == job
        assert bank.charge_of(operation_of(job).pk).status == "released"
        alice.check_money()

    @pytest.mark.parametrize("cost", ["", "-1", "a lot"])
    def test_the_bill_of_the_provider_is_needed(
        self, operator: Operator, alice: Artist, cost: str
    ) -> None:
        job = alice.made("gen4.5", steering={"drop": True})

        assert act(operator, "settle", job, cost_usd=cost).status_code == 200

        assert operation_of(job).is_unreconciled
        assert audited(job) == []

    def test_there_is_nothing_to_settle_where_the_verdict_is_known(
        self, operator: Operator, alice: Artist
    ) -> None:
        job = alice.made("gen4.5")

        act(operator, "settle", job)

        assert audited(job) == []
        alice.check_money()


class TestWhoMay:
    @pytest.mark.parametrize("what", ACTS)
    def test_nothing_is_done_without_a_reason(
        self, operator: Operator, alice: Artist, what: str
    ) -> None:
        job = alice.made("gen4.5", steering={"drop": True})

        assert act(operator, what, job, reason="").status_code == 200

        assert operation_of(job).is_unreconciled
        assert audited(job) == []

    def test_who_may_change_operations_is_offered_the_acts(self, alice: Artist) -> None:
        job = alice.made("gen4.5", steering={"drop": True})
        operator = new_operator("operations.view_operation", "operations.change_operation")

        page = operator.get(f"{PAGE}{job['id']}/change/")

        assert all(f"/{job['id']}/{what}/" in page for what in ACTS)
        assert act(operator, "settle", job).status_code == 302
        assert not operation_of(job).is_unreconciled

    def test_who_may_only_look_does_nothing(self, alice: Artist) -> None:
        job = at_the_provider(alice, polls=1000)
        viewer = new_operator("operations.view_operation")

        page = viewer.get(f"{PAGE}{job['id']}/change/")

        assert not any(f"/{job['id']}/{what}/" in page for what in ACTS)
        assert {act(viewer, what, job).status_code for what in ACTS} == {403}
        assert alice.job(job)["status"] == "running"
        assert audited(job) == []
        assert act(new_operator(), "fail", job).status_code == 302

    def test_nobody_acts_on_a_job_of_their_own(self, alice: Artist) -> None:
        job = alice.made("gen4.5", steering={"drop": True})
        alice.user.is_staff = alice.user.is_superuser = True
        alice.user.save()
        client = Client()
        client.force_login(alice.user)

        answers = {act(Operator(alice.user, client), what, job).status_code for what in ACTS}

        assert answers == {403}
        assert operation_of(job).is_unreconciled
