"""`/api/images`: pictures that are made, listed, starred and deleted."""

import struct
from typing import Any

import pytest

from ai.operations.models import Operation
from billing.models import Charge
from common.ids import uuid7
from media.files.models import Upload
from studios.models import Generation
from studios.tests.artist import Artist, a_picture
from studios.tests.conftest import NewArtist

MODEL = "gpt-image-2.5-flare"

# The id of no upload.
NOBODYS = "01980000-0000-7000-8000-000000000000"
LONG = "x" * 4_001


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def test_an_order_is_answered_with_a_queued_job_and_its_hold(alice: Artist) -> None:
    answer = alice.post(MODEL, n=2, quality="high")

    assert answer.status_code == 202
    job = answer.json()
    assert (job["kind"], job["status"], job["model"]) == ("image", "queued", MODEL)
    assert job["params"] == {"n": 2, "quality": "high", "size": "1024x1024"}
    assert (job["outputs"], job["cost_usd"], job["error"]) == ([], None, None)
    # Two pictures at 0.053 and the fee of 0.01; no allowance of Pro covers the whole.
    assert job["hold_usd"] > 0
    assert (job["started_at"], job["completed_at"]) == (None, None)
    alice.ended(job)


def test_the_pictures_are_shown_by_signed_links_with_their_thumbnails(alice: Artist) -> None:
    job = alice.made(MODEL, n=2)

    assert (job["status"], job["progress"], len(job["outputs"])) == ("completed", 100, 2)
    for index, output in enumerate(job["outputs"]):
        assert (output["output"], output["media_type"]) == (index, "image/png")
        picture = alice.file(output["url"])
        assert len(picture) == output["size"]
        assert struct.unpack(">II", picture[16:24]) == (output["width"], output["height"])
        assert alice.file(output["thumbnail_url"])[8:12] == b"WEBP"
    assert job["thumbnail_url"] == job["outputs"][0]["thumbnail_url"]
    alice.check_money()


@pytest.mark.parametrize(
    "model",
    [MODEL, "gemini-nano-banana-2.1", "flux-2-pro", "grok-imagine-image-2.0"],
)
def test_pictures_are_made_of_uploaded_ones(alice: Artist, model: str) -> None:
    reference = alice.upload()

    job = alice.made(model, references=[reference])

    assert job["status"] == "completed", job["error"]
    assert Upload.objects.get(pk=reference).expires_at is None


def test_an_upload_of_a_deleted_job_is_purged_unless_it_goes_with_something_else(
    alice: Artist,
) -> None:
    shared, lonely = alice.upload(), alice.upload()
    first = alice.made(MODEL, references=[shared, lonely])
    alice.made(MODEL, references=[shared])

    assert alice.send("DELETE", f"/api/images/{first['id']}").status_code == 204

    assert Upload.objects.get(pk=shared).expires_at is None
    assert Upload.objects.get(pk=lonely).expires_at is not None


def test_pictures_that_are_not_delivered_are_not_billed(alice: Artist) -> None:
    job = alice.made(MODEL, n=4, steering={"pictures": 1})

    assert (job["status"], len(job["outputs"])) == ("completed", 1)
    assert alice.charge(job).units == {"images": 1}
    alice.check_money()


@pytest.mark.parametrize(
    ("verdict", "is_unreconciled"), [("Error", False), ("Failed", False), ("Task not found", True)]
)
def test_only_a_failure_without_a_verdict_is_left_to_operators(
    alice: Artist, verdict: str, is_unreconciled: bool
) -> None:
    job = alice.made("flux-2-pro", steering={"finish": verdict})

    assert (job["status"], job["refunded"]) == ("failed", True)
    operation = Operation.objects.get(pk=job["id"])
    assert operation.is_unreconciled is is_unreconciled
    alice.check_money()


def test_the_same_key_orders_once(alice: Artist) -> None:
    key = {"Idempotency-Key": uuid7().hex}
    body = {"model": MODEL, "prompt": alice.prompt()}

    first, again = (alice.send("POST", "/api/images", json=body, headers=key) for _ in range(2))

    assert first.json()["id"] == again.json()["id"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Generation.objects.filter(account=alice.user).count() == 1
    other = alice.send("POST", "/api/images", json={**body, "n": 2}, headers=key)
    assert other.status_code == 422
    alice.ended(first.json())


def test_the_key_of_a_failed_job_orders_again(alice: Artist) -> None:
    key = {"Idempotency-Key": uuid7().hex}
    body = {"model": MODEL, "prompt": alice.prompt(status=400, times=1)}
    failed = alice.ended(alice.send("POST", "/api/images", json=body, headers=key).json())
    assert failed["status"] == "failed"

    again = alice.send("POST", "/api/images", json=body, headers=key).json()

    assert again["id"] != failed["id"]
    assert alice.ended(again)["status"] == "completed"
    alice.check_money()


def test_a_list_is_filtered(alice: Artist) -> None:
    cat = alice.made(MODEL, prompt=alice.prompt("A cat."))
    dog = alice.made("flux-2-pro", prompt=alice.prompt("A dog.", status=400))
    alice.send("POST", f"/api/images/{cat['id']}/star", json={})

    def ids(**query: Any) -> list[str]:
        rows = alice.send("GET", "/api/images", params=query).json()
        return [row["id"] for row in rows]

    assert ids() == [dog["id"], cat["id"]]
    assert ids(status="failed") == [dog["id"]]
    assert ids(model=MODEL) == [cat["id"]]
    assert ids(starred=True) == ids(q="a CAT") == [cat["id"]]
    assert ids(starred=False) == [dog["id"]]
    assert ids(limit=1) == [dog["id"]]
    assert ids(before=dog["id"]) == [cat["id"]]


def test_one_picture_of_a_job_is_starred(alice: Artist) -> None:
    job = alice.made(MODEL, n=2)
    star = f"/api/images/{job['id']}/star"

    starred = alice.send("POST", star, json={"output": 1}).json()

    assert [output["starred"] for output in starred["outputs"]] == [False, True]
    assert starred["starred"] is False
    cleared = alice.send("POST", star, json={"output": 1, "starred": False}).json()
    assert [output["starred"] for output in cleared["outputs"]] == [False, False]
    assert alice.send("POST", star, json={"output": 2}).status_code == 404


def test_a_job_with_a_starred_picture_is_listed_among_the_starred(alice: Artist) -> None:
    plain, of_a_picture, of_both = (alice.made(MODEL, n=2) for _ in range(3))

    def listed(**query: Any) -> list[str]:
        return [row["id"] for row in alice.send("GET", "/api/images", params=query).json()]

    def star(job: Any, **body: Any) -> None:
        alice.send("POST", f"/api/images/{job['id']}/star", json=body)

    star(of_a_picture, output=1)
    star(of_both)
    for index in (0, 1):
        star(of_both, output=index)

    assert listed(starred=True) == [of_both["id"], of_a_picture["id"]]
    assert listed(starred=False) == [plain["id"]]
    star(of_a_picture, output=1, starred=False)
    assert listed(starred=False) == [of_a_picture["id"], plain["id"]]


def test_bob_sees_nothing_of_alices_jobs(alice: Artist, artist: NewArtist) -> None:
    bob = artist(name="bob")
    job = alice.made(MODEL)

    for method, path in (
        ("GET", f"/api/jobs/{job['id']}"),
        ("POST", f"/api/jobs/{job['id']}/cancel"),
        ("POST", f"/api/jobs/{job['id']}/retry"),
        ("POST", f"/api/images/{job['id']}/star"),
        ("DELETE", f"/api/images/{job['id']}"),
    ):
        assert bob.send(method, path, json={}).status_code == 404
    assert bob.send("GET", "/api/images").json() == []


class TestBadOrders:
    @pytest.mark.parametrize(
        ("body", "loc"),
        [
            ({"prompt": ""}, "prompt"),
            ({"prompt": LONG}, "prompt"),
            ({"n": 0}, "n"),
            ({"n": 5}, "n"),
            ({"n": "2"}, "n"),
            ({"size": "12x12"}, "size"),
            ({"quality": "best"}, "quality"),
            ({"seconds": 5}, "seconds"),
            ({"model": "no-such-model"}, "model"),
            ({"model": "veo-3.1"}, "model"),
            ({"references": ["none"]}, "references"),
            ({"references": [NOBODYS]}, "references"),
        ],
        ids=lambda value: str(value)[:60],
    )
    def test_a_bad_value_is_refused_with_its_place(
        self, alice: Artist, body: dict[str, Any], loc: str
    ) -> None:
        order = {"model": MODEL, "prompt": "A lighthouse.", **body}
        answer = alice.send("POST", "/api/images", json=order)

        assert answer.status_code == 422, answer.text
        refused = answer.json()
        assert isinstance(refused["detail"], str)
        assert loc in [str(part) for part in refused["errors"][0]["loc"]]
        assert not Generation.objects.filter(account=alice.user).exists()

    def test_somebody_elses_upload_is_no_reference(self, alice: Artist, artist: NewArtist) -> None:
        of_bob = artist(name="bob").upload()

        assert alice.post(MODEL, references=[of_bob]).status_code == 422

    @pytest.mark.parametrize(
        "picture",
        [b"no picture at all", a_picture(30_000, 10), a_picture(64, 64, "GIF")],
        ids=["text", "too wide", "another type"],
    )
    def test_a_reference_has_to_be_a_picture(self, alice: Artist, picture: bytes) -> None:
        reference = alice.upload(picture)

        answer = alice.post(MODEL, references=[reference])

        assert answer.status_code == 422
        assert "references" in answer.json()["errors"][0]["loc"]

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
    def test_a_picture_that_is_cut_off_is_refused_before_anything_is_held(
        self, alice: Artist, kind: str
    ) -> None:
        whole = a_picture(kind=kind)
        sound, cut = alice.upload(whole), alice.upload(whole[: len(whole) - 40])

        answer = alice.post(MODEL, references=[sound, cut])

        assert answer.status_code == 422
        [problem] = answer.json()["errors"]
        assert problem["loc"] == ["references", 1]
        assert "damaged or cut off" in problem["msg"]
        assert not Charge.objects.filter(account=alice.user).exists()
        assert not alice.submissions()

    def test_nothing_is_decoded_for_who_cannot_pay(self, artist: NewArtist) -> None:
        charlie = artist(name="charlie", plan="free", balance_usd=0)
        cut = charlie.upload(a_picture()[:-40])

        assert charlie.post(MODEL, references=[cut]).status_code == 402

    def test_a_model_of_another_kind_is_named(self, alice: Artist) -> None:
        order = {"model": "veo-3.1", "prompt": "A lighthouse."}

        answer = alice.send("POST", "/api/images", json=order)

        assert answer.json()["errors"][0]["msg"] == "veo-3.1 is not an image model."

    def test_a_job_that_cannot_be_paid_is_not_begun(self, artist: NewArtist) -> None:
        charlie = artist(name="charlie", plan="free", balance_usd=0)

        answer = charlie.post(MODEL)

        assert answer.status_code == 402
        assert answer.json()["detail"]["code"] == "insufficient_balance"
        assert not Generation.objects.filter(account=charlie.user).exists()
