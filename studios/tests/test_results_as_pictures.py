"""A result of one order is a picture of the next one, wherever an upload is."""

from typing import Any

import pytest
from django.db.models.functions import Now

from ai.catalog import seeds
from ai.catalog.listing import ModelSeed
from common.ids import uuid7
from media.files.models import StoredFile
from studios.pictures import names_in
from studios.tests.artist import Artist, Job
from studios.tests.conftest import NewArtist
from tests.worker import Worker

PICTURES = "flux-2-pro"


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def result_of(job: Job, output: int = 0) -> dict[str, Any]:
    return {"job": job["id"], "output": output}


def file_of(job: Job) -> Any:
    return StoredFile.objects.filter(pk=job["outputs"][0]["url"].rpartition("/")[2].split(".")[0])


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (PICTURES, lambda first, second: {"references": [first, second]}),
        ("veo-3.1", lambda first, second: {"start_image": first, "end_image": second}),
        ("tripo-h3", lambda first, _: {"stage": "image", "image": first, "prompt": ""}),
    ],
    ids=["references", "first and last picture", "3D"],
)
def test_it_is_sent_to_the_provider(alice: Artist, model: str, named: Any) -> None:
    made = alice.made(PICTURES, n=2)
    body = named({"job": made["id"]}, result_of(made, output=1))
    if model == "veo-3.1":
        body["seconds"] = 8

    job = alice.made(model, **body)

    assert job["status"] == "completed", job["error"]
    assert {**job["params"], "prompt": job["prompt"]} | body == {
        **job["params"],
        "prompt": job["prompt"],
    }


def test_an_upload_and_a_result_go_together(alice: Artist) -> None:
    made, upload = alice.made(PICTURES), alice.upload()

    job = alice.made(PICTURES, references=[upload, result_of(made)])

    assert job["status"] == "completed", job["error"]
    again = {"model": PICTURES, "prompt": "A lighthouse.", "references": [result_of(job)]}
    assert alice.send("POST", "/api/images/estimate", json=again).status_code == 200


class TestRefused:
    def refusal(self, person: Artist, result: Any) -> str:
        answer = person.post(PICTURES, references=[result])
        assert answer.status_code == 422, answer.text
        [error] = answer.json()["errors"]
        assert error["loc"] == ["references", 0]
        said: str = error["msg"]
        return said

    def test_what_is_no_result_of_ones_own(self, alice: Artist, artist: NewArtist) -> None:
        bob = artist(name="bob")
        made, waiting = alice.made(PICTURES), alice.order("gen4.5", steering={"polls": 1000})
        deleted = alice.made(PICTURES)
        alice.delete(deleted)
        alice.send("POST", f"/api/jobs/{waiting['id']}/cancel")

        said = {
            self.refusal(bob, result_of(made)),
            self.refusal(alice, result_of(made, output=1)),
            self.refusal(alice, result_of(waiting)),
            self.refusal(alice, result_of(deleted)),
            self.refusal(alice, result_of({"id": str(uuid7())})),
        }
        assert said == {"There is no such result of yours."}

    def test_what_is_not_kept_any_more(self, alice: Artist) -> None:
        expired, taken_down = alice.made(PICTURES), alice.made(PICTURES)
        assert file_of(expired).update(expires_at=Now()) == 1
        assert file_of(taken_down).update(taken_down_at=Now()) == 1

        said = {self.refusal(alice, result_of(each)) for each in (expired, taken_down)}
        assert said == {"This result is not kept any more."}

    def test_what_is_no_picture(self, alice: Artist) -> None:
        said = {self.refusal(alice, result_of(alice.made(each))) for each in ("gen4.5", "meshy-6")}
        assert said == {"This is no PNG, JPEG or WebP picture."}


def test_one_that_is_gone_before_its_order_begins_costs_nothing(
    alice: Artist, worker: Worker
) -> None:
    made = alice.made(PICTURES)
    worker.freeze()
    try:
        waiting = alice.order(PICTURES, references=[result_of(made)])
        alice.delete(made)
    finally:
        worker.thaw()

    ended = alice.ended(waiting)

    assert (ended["status"], ended["refunded"]) == ("failed", True)
    assert (ended["error"]["code"], ended["error"]["retryable"]) == ("validation_failed", False)
    assert "There is no such result of yours." in ended["error"]["message"]
    assert len(alice.calls()) == 1
    retried = alice.send("POST", f"/api/jobs/{waiting['id']}/retry")
    assert (retried.status_code, retried.json()["code"]) == (409, "cannot_be_continued")


class TestTheSeed:
    def test_that_was_sent_is_told_of_each_picture(self, alice: Artist) -> None:
        job = alice.made("gemini-nano-banana-2.1", n=2, seed=7)

        assert [each["seed"] for each in job["outputs"]] == [7, 8]

    def test_that_the_provider_tells_is_told(self, alice: Artist) -> None:
        [output] = alice.made(PICTURES)["outputs"]

        assert output["seed"] == 42

    @pytest.mark.parametrize("model", ["gen4.5", "tripo-h3"])
    def test_of_a_clip_or_an_asset_is_told(self, alice: Artist, model: str) -> None:
        [output] = alice.made(model, seed=7)["outputs"]

        assert output["seed"] == 7

    def test_that_no_order_takes_is_null(self, alice: Artist) -> None:
        """The second picture is made with the next number, which cannot be asked for."""
        most = 2**31 - 5
        job = alice.made("gemini-nano-banana-2.1", n=2, seed=most)

        assert [each["seed"] for each in job["outputs"]] == [most, None]

    def test_that_nobody_knows_is_null(self, alice: Artist) -> None:
        [output] = alice.made("gpt-image-2.5-flare")["outputs"]

        assert output["seed"] is None


MODELS = [each for each in seeds.hosted_models() if each.params]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_each_field_for_uploads_names_pictures(model: ModelSeed) -> None:
    for name, field in model.params["properties"].items():
        is_list = "items" in field
        if field.get("items", field).get("format") == "upload":
            place = (name, 0) if is_list else (name,)
            assert list(names_in({name: ["id"] if is_list else "id"})) == [(place, "id")]
