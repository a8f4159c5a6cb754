"""`/api/assets-3d`: 3D assets that are made, refined, listed, shown and deleted."""

import json
import struct
from typing import Any

import pytest

from media.files.services.outputs import take_down
from studios.models import GenerationOutput
from studios.tests.artist import Artist
from studios.tests.conftest import NewArtist

ASSETS = "/api/assets-3d/assets"


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


@pytest.mark.parametrize("model", ["meshy-6", "tripo-h3"])
def test_an_asset_is_a_glb_with_a_preview(alice: Artist, model: str) -> None:
    job = alice.made(model)

    assert (job["kind"], job["status"]) == ("3d", "completed"), job["error"]
    [output] = job["outputs"]
    assert output["media_type"] == "model/gltf-binary"
    glb = alice.file(output["url"])
    magic, version, length = struct.unpack("<4sII", glb[:12])
    assert (magic, version, length) == (b"glTF", 2, len(glb))
    assert alice.file(job["thumbnail_url"])[8:12] == b"WEBP"
    assert alice.charge(job).units == {"assets": 1}
    alice.check_money()


@pytest.mark.parametrize("model", ["meshy-6", "tripo-h3"])
def test_a_preview_is_refined(alice: Artist, model: str) -> None:
    preview = alice.made(model)

    job = alice.made(model, stage="refine", refines=preview["id"])

    assert (job["status"], job["parent_job_id"]) == ("completed", preview["id"]), job["error"]


@pytest.mark.parametrize("model", ["meshy-6", "tripo-h3"])
def test_an_asset_is_made_of_a_picture(alice: Artist, model: str) -> None:
    # Tripo takes no prompt beside a picture.
    body: dict[str, Any] = {} if model == "meshy-6" else {"prompt": ""}
    job = alice.made(model, stage="image", image=alice.upload(), **body)

    assert job["status"] == "completed", job["error"]


def test_an_asset_is_listed_and_shown_with_its_status(alice: Artist) -> None:
    job = alice.made("tripo-h3")

    assert [row["id"] for row in alice.send("GET", ASSETS).json()] == [job["id"]]
    assert alice.send("GET", f"{ASSETS}/{job['id']}").json() == job
    status = alice.send("GET", f"{ASSETS}/{job['id']}/status").json()
    assert status == {
        "id": job["id"],
        "status": "completed",
        "progress": 100,
        "queue_position": None,
        "error": None,
    }


def test_an_asset_is_starred_and_deleted(alice: Artist) -> None:
    job = alice.made("meshy-6")

    starred = alice.send("POST", f"{ASSETS}/{job['id']}/star", json={})
    assert starred.json()["starred"] is True
    assert alice.send("DELETE", f"{ASSETS}/{job['id']}").status_code == 204
    assert alice.send("GET", ASSETS).json() == []


@pytest.mark.parametrize("model", ["meshy-6", "flux-2-pro"])
def test_what_is_taken_down_is_gone_with_its_preview(alice: Artist, model: str) -> None:
    """The preview of an asset is made of a picture of the provider's."""
    job, other = alice.made(model), alice.made(model)

    file = GenerationOutput.objects.get(generation=job["id"]).file
    assert file
    take_down(file=file)

    [shown] = alice.job(job)["outputs"]
    assert (shown["url"], shown["thumbnail_url"]) == (None, None)
    for link in (job["outputs"][0]["url"], job["thumbnail_url"]):
        assert alice.http.get(f"/files/{link.partition('/files/')[2]}").status_code == 404
    assert alice.file(other["thumbnail_url"])


@pytest.mark.parametrize("part", ["file", "thumbnail"])
def test_a_takedown_is_told_in_the_stream(alice: Artist, part: str) -> None:
    job = alice.made("tripo-h3")
    alice.made("tripo-h3")
    before = alice.events()
    output = GenerationOutput.objects.select_related("file", "thumbnail").get(generation=job["id"])

    for _ in range(2):
        take_down(file=getattr(output, part))

    [(name, data)] = alice.events()[len(before) :]
    assert (name, data["job"]["id"]) == ("job.updated", job["id"])
    [shown] = data["job"]["outputs"]
    assert shown["thumbnail_url"] is None
    assert (shown["url"] is None) == (part == "file")


def test_a_clip_is_no_asset(alice: Artist) -> None:
    clip = alice.made("gen4.5")

    for path in ("", "/status"):
        assert alice.send("GET", f"{ASSETS}/{clip['id']}{path}").status_code == 404


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"stage": "image"}, "image"),
        ({"stage": "refine"}, "refines"),
        ({"stage": "sculpt"}, "stage"),
        ({"negative_prompt": "ugly"}, "negative_prompt"),
        ({"prompt": ""}, "prompt"),
    ],
    ids=json.dumps,
)
def test_what_the_model_does_not_take_is_refused(
    alice: Artist, body: dict[str, Any], loc: str
) -> None:
    answer = alice.post("meshy-6", **body)

    assert answer.status_code == 422, answer.text
    assert loc in [part for each in answer.json()["errors"] for part in each["loc"]]


def test_only_a_finished_preview_of_the_same_model_is_refined(alice: Artist) -> None:
    other = alice.made("tripo-h3")
    failed = alice.made("meshy-6", steering={"finish": "failed"})

    for parent, code in ((other, "cannot_be_continued"), (failed, "job_not_finished")):
        answer = alice.post("meshy-6", stage="refine", refines=parent["id"])
        assert (answer.status_code, answer.json()["code"]) == (409, code)


def test_an_estimate_knows_the_stages(alice: Artist) -> None:
    body = {"model": "meshy-6", "prompt": "A teapot."}

    found = alice.send("POST", "/api/assets-3d/generate/estimate", json=body).json()

    # 0.40 and the fee of 0.02, at twice the cost.
    assert (found["at_most_usd"], found["params"]["stage"]) == (0.84, "preview")
