"""`/api/jobs/{id}`: any job is read, cancelled and tried again; and what its owner is told."""

from typing import Any

import pytest
from pytest_django import Settings

from ai.operations.models import Operation
from common.ids import uuid7
from studios.models import Generation
from studios.tests.artist import Artist
from studios.tests.conftest import NewArtist

FIELDS = {
    *("id", "kind", "status", "model", "prompt", "params", "progress", "queue_position"),
    *("outputs", "thumbnail_url", "total_seconds", "cost_usd", "hold_usd", "refunded", "starred"),
    *("can_extend",),
    *("parent_job_id", "error", "created_at", "started_at", "completed_at"),
}


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def cancel(person: Artist, job: Any) -> Any:
    return person.send("POST", f"/api/jobs/{job['id']}/cancel")


def retry(person: Artist, job: Any) -> Any:
    return person.send("POST", f"/api/jobs/{job['id']}/retry")


@pytest.mark.parametrize("model", ["flux-2-pro", "gen4.5", "tripo-h3"])
def test_a_job_of_any_kind_has_the_same_fields(alice: Artist, model: str) -> None:
    assert set(alice.made(model)) == FIELDS


def test_jobs_of_all_kinds_are_in_one_list(alice: Artist, artist: NewArtist) -> None:
    def listed(**query: Any) -> list[str]:
        return [row["id"] for row in alice.send("GET", "/api/jobs", params=query).json()]

    artist(name="bob").made("flux-2-pro")
    picture = alice.made("flux-2-pro")["id"]
    preview = alice.made("meshy-6", stage="preview")["id"]

    assert listed() == [preview, picture]
    assert (listed(limit=1), listed(before=preview)) == ([preview], [picture])
    assert (listed(kind="image"), listed(kind="video")) == ([picture], [])
    assert (listed(stage="preview"), listed(status="failed")) == ([preview], [])
    for stage, found in (("preview", [preview]), ("image", [])):
        assets = alice.send("GET", "/api/assets-3d/assets", params={"stage": stage}).json()
        assert [row["id"] for row in assets] == found
    assert alice.send("GET", "/api/jobs", params={"kind": "music"}).status_code == 422


def test_an_unchanged_job_is_answered_without_its_body(alice: Artist) -> None:
    job = alice.made("flux-2-pro")
    first = alice.send("GET", f"/api/jobs/{job['id']}")

    tag = {"If-None-Match": first.headers["ETag"]}
    again = alice.send("GET", f"/api/jobs/{job['id']}", headers=tag)

    assert (again.status_code, again.content) == (304, b"")


def test_an_unknown_job_is_not_found(alice: Artist) -> None:
    assert alice.send("GET", f"/api/jobs/{uuid7()}").status_code == 404


def test_progress_is_shown_while_it_runs(alice: Artist) -> None:
    job = alice.made("gen4.5", steering={"queue": 1, "polls": 3})

    told = [data["job"]["progress"] for name, data in alice.events(job) if name == "job.updated"]
    steps = [percent for percent in told if percent is not None]
    assert steps == sorted(set(steps))
    assert job["progress"] == 100


def test_each_change_is_told_in_the_users_stream(alice: Artist) -> None:
    job = alice.made("tripo-h3")

    told = alice.events(job)
    names = [name for name, _ in told]
    assert (names[0], names[-1]) == ("job.created", "job.completed")
    assert set(names[1:-1]) == {"job.updated"}
    assert [data["job"]["status"] for _, data in told if data["job"]["status"] == "running"]
    [shown] = told[-1][1]["job"]["outputs"]
    assert shown["size"] == job["outputs"][0]["size"]
    assert shown["url"] is not None


class TestTheEventsOfADeletedJob:
    def test_nothing_of_it_is_left_in_them_but_their_order(self, alice: Artist) -> None:
        job = alice.made("flux-2-pro")
        alice.send("POST", f"/api/images/{job['id']}/star", json={})
        before = replayed(alice)

        assert alice.send("DELETE", f"/api/images/{job['id']}").status_code == 204

        after = replayed(alice)
        told = after.pop()
        assert (told["type"], told["data"]) == ("job.deleted", {"job_id": job["id"]})
        facts = ("seq", "type", "actor", "created_at")
        assert [[event[fact] for fact in facts] for event in after] == [
            [event[fact] for fact in facts] for event in before
        ]
        for event in after:
            shown = event["data"]["job"]
            assert set(shown) == FIELDS
            assert (shown["id"], shown["kind"], shown["model"]) == (
                job["id"],
                "image",
                "flux-2-pro",
            )
            assert (shown["prompt"], shown["params"], shown["outputs"]) == ("", {}, [])
            assert (shown["thumbnail_url"], shown["error"]) == (None, None)

    def test_those_of_other_jobs_stay(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        body = {"prompt": alice.prompt("Go on.")}
        extension = alice.ended(
            alice.send("POST", f"/api/videos/{clip['id']}/extend", json=body).json()
        )
        before = [event for event in replayed(alice) if event["data"]["job"]["id"] != clip["id"]]

        alice.send("DELETE", f"/api/videos/{clip['id']}")

        after = [event for event in replayed(alice) if "job" in event["data"]]
        assert [event for event in after if event["data"]["job"]["id"] == extension["id"]] == before

    def test_neither_does_one_that_was_running_leave_anything(self, alice: Artist) -> None:
        job = alice.running(alice.order("gen4.5", steering={"polls": 1000}))

        alice.delete(job, confirm=True)
        alice.ended(job)

        shown = [event["data"].get("job", {}) for event in replayed(alice)]
        assert {each.get("prompt", "") for each in shown} == {""}


def replayed(person: Artist) -> list[Any]:
    """The events of the user's stream, as a client gets them."""
    answer = person.send("GET", "/api/events", params={"after_seq": 0})
    assert answer.status_code == 200
    events: list[Any] = answer.json()
    return events


class TestCancelling:
    def test_one_that_runs_is_cancelled_at_its_provider(self, alice: Artist) -> None:
        job = alice.running(alice.order("gen4.5", steering={"polls": 1000}))

        assert cancel(alice, job).status_code == 202

        ended = alice.ended(job)
        assert (ended["status"], ended["refunded"]) == ("cancelled", True)
        assert ended["error"]["code"] == "cancelled"
        assert alice.submissions() == ["cancelled"]
        assert alice.events(job)[-1][0] == "job.cancelled"
        alice.check_money()

    def test_one_that_the_provider_finishes_all_the_same_is_billed(self, alice: Artist) -> None:
        job = alice.running(alice.order("tripo-h3", steering={"polls": 3}))

        cancel(alice, job)

        assert alice.ended(job)["status"] == "completed"
        alice.check_money()

    def test_one_that_has_ended_stays_as_it_is(self, alice: Artist) -> None:
        job = alice.made("flux-2-pro")

        answer = cancel(alice, job)

        assert (answer.status_code, answer.json()["status"]) == (200, "completed")


class TestTryingAgain:
    def test_a_failed_job_is_ordered_once_more(self, alice: Artist) -> None:
        job = alice.made("gen4.5", steering={"status": 400, "times": 1}, seconds=3)

        answer = retry(alice, job)

        assert answer.status_code == 202, answer.text
        again = answer.json()
        assert again["id"] != job["id"]
        assert (again["prompt"], again["params"]) == (job["prompt"], job["params"])
        assert alice.ended(again)["status"] == "completed"
        alice.check_money()

    def test_a_failed_extension_is_an_extension_again(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        prompt = alice.prompt("Go on.", status=400, times=2)
        body = {"prompt": prompt}
        failed = alice.send("POST", f"/api/videos/{clip['id']}/extend", json=body).json()
        assert alice.ended(failed)["status"] == "failed"

        again = alice.ended(retry(alice, failed).json())

        assert (again["status"], again["parent_job_id"]) == ("completed", clip["id"])

    @pytest.mark.parametrize("changed", [{"seconds": 99}, {"resolution": "4k"}, {"audio": True}])
    def test_one_that_its_model_does_not_take_any_more_is_not(
        self, alice: Artist, changed: dict[str, Any]
    ) -> None:
        job = alice.made("gen4.5", steering={"status": 400})
        Generation.objects.filter(pk=job["id"]).update(params={**job["params"], **changed})

        answer = retry(alice, job)

        assert (answer.status_code, answer.json()["code"]) == (409, "cannot_be_continued")
        assert next(iter(changed)) in answer.json()["detail"]

    def test_a_failed_extension_by_other_seconds_than_its_model_adds_is_not(
        self, alice: Artist
    ) -> None:
        clip = alice.made("ray-2")
        body = {"prompt": alice.prompt("Go on.", status=400)}
        failed = alice.send("POST", f"/api/videos/{clip['id']}/extend", json=body).json()
        alice.ended(failed)
        Generation.objects.filter(pk=failed["id"]).update(params={**failed["params"], "seconds": 4})

        answer = retry(alice, failed)

        assert (answer.status_code, answer.json()["code"]) == (409, "cannot_be_continued")

    def test_a_refinement_of_a_deleted_preview_is_not(self, alice: Artist) -> None:
        preview = alice.made("meshy-6")
        failed = alice.made(
            "meshy-6", steering={"status": 400}, stage="refine", refines=preview["id"]
        )
        alice.send("DELETE", f"/api/assets-3d/assets/{preview['id']}")

        answer = retry(alice, failed)

        assert (answer.status_code, answer.json()["code"]) == (409, "cannot_be_continued")
        said = "The preview that this job was to refine has been deleted."
        assert answer.json()["detail"] == said

    def test_a_finished_job_is_not(self, alice: Artist) -> None:
        answer = retry(alice, alice.made("flux-2-pro"))

        assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_retry")


class TestBounds:
    """Checked in this process, where the settings can be changed."""

    def test_the_open_jobs_of_a_user_are_bounded(self, alice: Artist, settings: Settings) -> None:
        from studios.errors import TooManyJobs
        from studios.services.ordering import check_room

        settings.MAX_STUDIO_JOBS = 1
        job = alice.order("gen4.5", steering={"polls": 1000})

        with pytest.raises(TooManyJobs):
            check_room(alice.user)

        cancel(alice, job)
        alice.ended(job)
        check_room(alice.user)

    def test_results_are_bounded_by_a_quota(self, alice: Artist, settings: Settings) -> None:
        from studios.errors import StorageQuotaExceeded
        from studios.services.ordering import check_room

        alice.made("flux-2-pro")
        settings.STUDIO_QUOTA_MB = 0

        with pytest.raises(StorageQuotaExceeded):
            check_room(alice.user)


def test_a_lost_answer_is_left_to_operators(alice: Artist) -> None:
    job = alice.made("ray-2", steering={"drop": True})

    assert job["status"] == "failed"
    assert Operation.objects.get(pk=job["id"]).is_unreconciled
    assert Generation.objects.filter(account=alice.user).count() == 1
    assert len(alice.submissions()) == 1
