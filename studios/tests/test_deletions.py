"""Jobs are deleted: what has ended, what waits, and what is at its provider."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from ai.operations.models import Operation
from billing.services import reconciliation
from common.money import usd
from media.files.models import StoredFile, Upload
from studios.models import Generation
from studios.tests.artist import Artist, Job
from studios.tests.conftest import NewArtist
from tests.locks import wait_until_blocked
from tests.service import database_url
from tests.worker import Worker

PICTURES = "grok-imagine-image-2.0"


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def test_a_deleted_job_is_gone_with_its_files(alice: Artist) -> None:
    job = alice.made("flux-2-pro")
    url = job["outputs"][0]["url"].partition("/files/")[2]

    assert alice.delete(job).status_code == 204

    assert alice.send("GET", f"/api/jobs/{job['id']}").status_code == 404
    assert alice.send("GET", "/api/images").json() == []
    assert alice.http.get(f"/files/{url}").status_code == 404
    kept = StoredFile.objects.filter(account=alice.user.pk, expires_at=None)
    assert not kept.exists()
    assert Operation.objects.get(pk=job["id"]).request == {}
    assert alice.events(job)[-1][0] == "job.deleted"


def test_its_operation_is_locked_before_its_files(alice: Artist) -> None:
    """In the order of docs/locking.md."""
    job = alice.made("flux-2-pro")
    files = "SELECT FROM files_storedfile WHERE account_id = %s FOR NO KEY UPDATE NOWAIT"

    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as pool:
        operation = "SELECT FROM operations_operation WHERE job_id = %s FOR UPDATE"
        holder.execute(operation, (job["id"],))
        deleted = pool.submit(alice.delete, job)
        wait_until_blocked(holder)
        holder.execute(files, (alice.user.pk,))
        holder.rollback()

    assert deleted.result().status_code == 204


def test_one_that_waits_is_gone_and_not_billed(alice: Artist, worker: Worker) -> None:
    worker.freeze()
    try:
        job = alice.order("flux-2-pro")
        assert alice.delete(job).status_code == 204
    finally:
        worker.thaw()

    assert not Generation.objects.filter(pk=job["id"]).exists()
    assert alice.charge(job).status == "released"
    assert alice.events(job)[-1][0] == "job.deleted"
    assert alice.calls() == []


class TestAJobAtItsProvider:
    def test_it_is_not_deleted_without_a_confirmation_that_knows_the_price(
        self, alice: Artist
    ) -> None:
        job = alice.running(alice.order(PICTURES, n=4, steering={"delay_ms": 1_500}))

        refusal = alice.delete(job)

        assert (refusal.status_code, refusal.json()["code"]) == (409, "would_be_billed")
        assert refusal.json()["at_most_usd"] == job["hold_usd"] > 0
        assert f"${job['hold_usd']:.2f}" in refusal.json()["detail"]
        ended = alice.ended(job)
        assert (ended["status"], len(ended["outputs"])) == ("completed", 4)
        assert "job.deleted" not in [name for name, _ in alice.events(job)]

    def test_one_that_is_finished_all_the_same_says_what_it_has_cost(self, alice: Artist) -> None:
        reference = alice.upload()
        ordered = alice.order("flux-2-pro", references=[reference], steering={"polls": 3})
        job = alice.running(ordered)

        answer = alice.delete(job, confirm=True)

        assert (answer.status_code, answer.json()["hold_usd"]) == (202, job["hold_usd"])
        assert alice.send("GET", "/api/images").json() == []
        self.check_end(alice, job, status="settled")
        assert Upload.objects.get(pk=reference).expires_at is not None

    def test_one_that_its_provider_stops_costs_nothing(self, alice: Artist) -> None:
        job = alice.running(alice.order("gen4.5", steering={"polls": 1000}))

        assert alice.delete(job, confirm=True).status_code == 202

        self.check_end(alice, job, status="released")
        assert alice.submissions() == ["cancelled"]

    def test_one_that_its_provider_stops_too_late_says_what_it_has_cost(
        self, alice: Artist
    ) -> None:
        steering = {"polls": 3, "finish": "uncancellable"}
        job = alice.running(alice.order("gen4.5", steering=steering))

        alice.delete(job, confirm=True)

        self.check_end(alice, job, status="settled")

    def check_end(self, alice: Artist, job: Job, *, status: str) -> None:
        """A deleted job has ended: it is read by its id alone, with its charge and nothing else."""
        ended = alice.ended(job)
        charge = alice.charge(job)
        assert (ended["status"], charge.status) == ("cancelled", status)
        assert ended["cost_usd"] == usd(charge.charge_plan + charge.charge_balance)
        assert (ended["cost_usd"] > 0, ended["refunded"]) == (
            status == "settled",
            status == "released",
        )
        assert (ended["prompt"], ended["params"], ended["outputs"]) == ("", {}, [])
        assert alice.send("GET", "/api/jobs").json() == []
        retried = alice.send("POST", f"/api/jobs/{job['id']}/retry")
        assert (retried.status_code, alice.delete(job).status_code) == (404, 404)
        assert Operation.objects.get(pk=job["id"]).request == {}
        assert alice.events(job)[-1][0] == "job.deleted"
        alice.check_money()
        assert reconciliation.find_violations() == []
