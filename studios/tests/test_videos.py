"""`/api/videos`: clips that are made, extended, listed, starred and deleted."""

from typing import Any

import pytest

from studios.models import Generation
from studios.tests.artist import Artist, generation_of
from studios.tests.conftest import NewArtist

# The id of no upload.
NOBODYS = "01980000-0000-7000-8000-000000000000"
LONG = "x" * 4_001


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def extend(person: Artist, job: Any, **body: Any) -> Any:
    return person.send("POST", f"/api/videos/{job['id']}/extend", json=body)


def estimate_extension(person: Artist, job: Any, **body: Any) -> Any:
    return person.send("POST", f"/api/videos/{job['id']}/extend/estimate", json=body)


@pytest.mark.parametrize("model", ["veo-3.1", "gen4.5", "ray-2"])
def test_a_clip_is_shown_by_a_signed_link_with_its_poster(alice: Artist, model: str) -> None:
    job = alice.made(model)

    assert (job["kind"], job["status"]) == ("video", "completed"), job["error"]
    [output] = job["outputs"]
    assert output["media_type"] == "video/mp4"
    assert output["seconds"] == pytest.approx(job["params"]["seconds"], abs=0.2)
    assert job["total_seconds"] == output["seconds"]
    assert alice.file(output["url"])[4:8] == b"ftyp"
    assert alice.file(job["thumbnail_url"])[8:12] == b"WEBP"
    alice.check_money()


def test_a_part_of_a_clip_is_served(alice: Artist) -> None:
    job = alice.made("gen4.5")
    url = job["outputs"][0]["url"].partition("/files/")[2]

    part = alice.http.get(f"/files/{url}", headers={"Range": "bytes=4-7"})

    assert (part.status_code, part.content) == (206, b"ftyp")


def test_clips_are_listed_starred_and_deleted(alice: Artist) -> None:
    clip = alice.made("gen4.5")
    alice.made("flux-2-pro")

    def listed(**query: Any) -> list[str]:
        return [row["id"] for row in alice.send("GET", "/api/videos", params=query).json()]

    assert (listed(), listed(starred=True)) == ([clip["id"]], [])
    starred = alice.send("POST", f"/api/videos/{clip['id']}/star", json={})
    assert (starred.status_code, starred.json()["starred"]) == (200, True)
    assert listed(starred=True) == [clip["id"]]
    assert alice.send("DELETE", f"/api/videos/{clip['id']}").status_code == 204
    assert listed() == []
    assert alice.send("GET", f"/api/jobs/{clip['id']}").status_code == 404


@pytest.mark.parametrize("model", ["veo-3.1", "gen4.5"])
def test_a_clip_begins_with_an_uploaded_picture(alice: Artist, model: str) -> None:
    job = alice.made(model, start_image=alice.upload())

    assert job["status"] == "completed", job["error"]


@pytest.mark.parametrize(
    ("model", "own", "added", "total"), [("veo-3.1", 11, 7, 11), ("ray-2", 5, 5, 10)]
)
def test_a_finished_clip_is_extended_by_a_job_of_its_own(
    alice: Artist, model: str, own: int, added: int, total: int
) -> None:
    clip = alice.made(model)

    answer = extend(alice, clip, prompt=alice.prompt("The sun goes down."))

    assert answer.status_code == 202, answer.text
    job = alice.ended(answer.json())
    assert (job["status"], job["parent_job_id"]) == ("completed", clip["id"]), job["error"]
    assert job["params"]["seconds"] == added
    assert job["outputs"][0]["seconds"] == pytest.approx(own, abs=0.3)
    assert job["total_seconds"] == pytest.approx(total, abs=0.3)
    assert alice.charge(job).units == {"seconds": added}
    alice.check_money()


def test_what_an_extension_costs_is_told_before(alice: Artist) -> None:
    clip = alice.made("veo-3.1")

    told = estimate_extension(alice, clip).json()

    assert told["params"]["seconds"] == 7
    job = alice.ended(extend(alice, clip).json())
    assert (job["cost_usd"], job["params"]) == (told["at_most_usd"], told["params"])
    alice.check_money()


@pytest.mark.parametrize(("model", "can"), [("veo-3.1", True), ("gen4.5", False)])
def test_a_clip_says_whether_it_can_be_extended(alice: Artist, model: str, can: bool) -> None:
    job = alice.order(model)
    assert not job["can_extend"]
    assert alice.ended(job)["can_extend"] is can


class TestWhatCannotBeExtended:
    def test_a_clip_that_is_not_finished(self, alice: Artist) -> None:
        job = alice.order("ray-2", steering={"polls": 1000})

        assert (extend(alice, job).status_code, extend(alice, job).json()["code"]) == (
            409,
            "job_not_finished",
        )
        alice.send("POST", f"/api/jobs/{job['id']}/cancel")
        alice.ended(job)

    def test_a_clip_of_a_model_that_cannot(self, alice: Artist) -> None:
        assert extend(alice, alice.made("gen4.5")).json()["code"] == "cannot_be_continued"

    def test_a_picture(self, alice: Artist) -> None:
        assert extend(alice, alice.made("flux-2-pro")).status_code == 404

    def test_a_deleted_clip(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        alice.send("DELETE", f"/api/videos/{clip['id']}")

        assert extend(alice, clip).status_code == 404

    def test_a_clip_by_seconds_that_its_model_does_not_add(self, alice: Artist) -> None:
        answer = extend(alice, alice.made("ray-2"), seconds=6)

        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["seconds"])

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("audio", True),
            ("resolution", "1080p"),
            ("seed", 7),
            ("end_image", NOBODYS),
            ("aspect_ratio", "9:16"),
            ("model", "ray-2"),
            ("n", 2),
        ],
    )
    def test_a_clip_with_what_an_order_decides(
        self, alice: Artist, field: str, value: object
    ) -> None:
        clip = alice.made("ray-2")

        answer = extend(alice, clip, **{field: value})

        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, [field])
        assert "leave it out" in answer.json()["detail"]
        assert estimate_extension(alice, clip, **{field: value}).status_code == 422
        assert extend(alice, clip, something_else=1).status_code == 202

    def test_a_clip_that_is_as_long_as_it_can_be(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        Generation.objects.filter(pk=clip["id"]).update(seconds=29)

        assert extend(alice, clip).json()["code"] == "clip_too_long"
        assert estimate_extension(alice, clip).json()["code"] == "clip_too_long"
        assert not alice.job(clip)["can_extend"]


class TestAModelThatHasChangedSince:
    """The parameters of the clip are those that its model had then."""

    def test_what_it_does_not_have_any_more_is_left_out(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        changed = {**clip["params"], "loop": True, "audio": True}
        Generation.objects.filter(pk=clip["id"]).update(params=changed)

        job = extend(alice, clip).json()

        assert job["params"] == clip["params"]
        alice.ended(job)

    def test_what_it_has_since_is_the_default(self, alice: Artist) -> None:
        clip = alice.made("ray-2")
        changed = {"seconds": 5, "aspect_ratio": "1:1"}
        Generation.objects.filter(pk=clip["id"]).update(params=changed)

        job = extend(alice, clip).json()

        assert job["params"] == {**changed, "resolution": "720p"}
        alice.ended(job)

    @pytest.mark.parametrize(
        "changed", [{"resolution": "4k"}, {"aspect_ratio": "2:1"}, {"resolution": None}], ids=str
    )
    def test_a_clip_of_what_it_does_not_take_any_more_is_not_extended(
        self, alice: Artist, changed: dict[str, Any]
    ) -> None:
        clip = alice.made("ray-2")
        Generation.objects.filter(pk=clip["id"]).update(params={**clip["params"], **changed})

        answer = extend(alice, clip)

        assert (answer.status_code, answer.json()["code"]) == (409, "cannot_be_continued")
        assert next(iter(changed)) in answer.json()["detail"]

    def test_a_resolution_that_extensions_do_not_have_is_no_matter(self, alice: Artist) -> None:
        clip = alice.made("veo-3.1")
        changed = {**clip["params"], "resolution": "4k", "seconds": 3}
        Generation.objects.filter(pk=clip["id"]).update(params=changed)

        job = extend(alice, clip).json()

        assert (job["params"]["resolution"], job["params"]["seconds"]) == ("720p", 7)
        alice.ended(job)


def test_a_plan_without_the_studio_is_told_so(artist: NewArtist) -> None:
    charlie = artist(name="charlie", plan="starter")

    answer = charlie.post("gen4.5")

    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "feature_required"


@pytest.mark.parametrize(
    ("model", "body", "loc"),
    [
        ("gen4.5", {"seconds": 61}, "seconds"),
        ("gen4.5", {"seconds": 1}, "seconds"),
        ("gen4.5", {"aspect_ratio": "5:4"}, "aspect_ratio"),
        ("ray-2", {"aspect_ratio": "2:1"}, "aspect_ratio"),
        ("ray-2", {"start_image": NOBODYS}, "start_image"),
        ("ray-2", {"resolution": "4k"}, "resolution"),
        ("veo-3.1", {"end_image": NOBODYS}, "start_image"),
        ("veo-3.1", {"audio": "yes"}, "audio"),
        ("veo-3.1", {"seconds": 5}, "seconds"),
        ("veo-3.1", {"prompt": LONG}, "prompt"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_the_model_does_not_take_is_refused(
    alice: Artist, model: str, body: dict[str, Any], loc: str
) -> None:
    answer = alice.post(model, **body)

    assert answer.status_code == 422, answer.text
    assert loc in [part for each in answer.json()["errors"] for part in each["loc"]]
    assert not Generation.objects.filter(account=alice.user).exists()


def test_an_estimate_is_what_is_held_and_billed(alice: Artist) -> None:
    body = {"model": "veo-3.1", "prompt": alice.prompt(), "seconds": 8, "audio": True}

    estimate = alice.send("POST", "/api/videos/estimate", json=body).json()

    # 8 s at 0.40 and the fee of 0.01, at twice the cost: no plan has an allowance.
    assert (estimate["at_most_usd"], estimate["refusal"]) == (6.56, None)
    job = alice.order("veo-3.1", seconds=8, audio=True)
    assert job["hold_usd"] == 6.56
    assert alice.ended(job)["cost_usd"] == 6.56


def test_an_estimate_says_what_is_missing(artist: NewArtist) -> None:
    bob = artist(name="bob", balance_usd=1)
    body = {"model": "veo-3.1", "prompt": "A lighthouse.", "seconds": 8, "audio": True}

    estimate = bob.send("POST", "/api/videos/estimate", json=body).json()

    assert estimate["refusal"]["code"] == "insufficient_for_request"
    assert not Generation.objects.filter(account=bob.user).exists()


def test_the_reference_of_the_provider_is_kept_for_extensions(alice: Artist) -> None:
    assert generation_of(alice.made("ray-2")).reference != ""
