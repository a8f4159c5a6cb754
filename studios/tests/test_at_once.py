"""Requests about one job at the same moment: neither fails for it, and none waits for ever."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from studios.models import GenerationOutput
from studios.tests.artist import Artist, Job
from studios.tests.conftest import NewArtist
from tests.locks import wait_until_blocked
from tests.service import database_url

Send = Callable[[], httpx.Response]

_JOB = "SELECT FROM studios_generation WHERE id = %s FOR NO KEY UPDATE"
_FILE = "SELECT FROM files_storedfile WHERE id = %s FOR NO KEY UPDATE"
_STREAM = "SELECT FROM events_stream WHERE id = %s FOR UPDATE"
_WALLET = "SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE"


@pytest.fixture
def alice(artist: NewArtist) -> Artist:
    return artist()


def in_turn(lock: str, row: Any, *requests: Send) -> list[httpx.Response]:
    """The answers to requests that come while that row is locked, each behind the one before."""
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor() as threads:
        holder.execute(lock, (row,))
        answers = []
        for number, request in enumerate(requests, 1):
            answers.append(threads.submit(request))
            wait_until_blocked(holder, number)
        holder.commit()
        return [answer.result(timeout=20) for answer in answers]


def extend(alice: Artist, clip: Job) -> httpx.Response:
    body = {"prompt": alice.prompt("Go on.")}
    return alice.send("POST", f"/api/videos/{clip['id']}/extend", json=body)


def star(alice: Artist, clip: Job) -> httpx.Response:
    return alice.send("POST", f"/api/videos/{clip['id']}/star", json={}, timeout=10)


class TestAJobThatIsDeletedWhileItIsContinued:
    """The order has read the job before it is deleted, and is placed after."""

    def test_an_extension_of_it_is_not_placed(self, alice: Artist) -> None:
        clip = alice.made("ray-2")

        deleted, extended = in_turn(
            _WALLET,
            alice.user.pk,
            lambda: alice.send("DELETE", f"/api/videos/{clip['id']}"),
            lambda: extend(alice, clip),
        )

        assert (deleted.status_code, extended.status_code) == (204, 404)

    def test_a_refinement_of_it_is_not_placed(self, alice: Artist) -> None:
        preview = alice.made("meshy-6")

        deleted, refined = in_turn(
            _WALLET,
            alice.user.pk,
            lambda: alice.send("DELETE", f"/api/assets-3d/assets/{preview['id']}"),
            lambda: alice.post("meshy-6", stage="refine", refines=preview["id"]),
        )

        assert (deleted.status_code, refined.status_code) == (204, 422)
        assert refined.json()["errors"] == [{"loc": ["refines"], "msg": "There is no such job."}]

    def test_it_is_not_refined_by_a_retry(self, alice: Artist) -> None:
        preview = alice.made("meshy-6")
        failed = alice.made(
            "meshy-6", steering={"status": 400}, stage="refine", refines=preview["id"]
        )

        _, again = in_turn(
            _WALLET,
            alice.user.pk,
            lambda: alice.send("DELETE", f"/api/assets-3d/assets/{preview['id']}"),
            lambda: alice.send("POST", f"/api/jobs/{failed['id']}/retry"),
        )

        assert (again.status_code, again.json()["code"]) == (409, "cannot_be_continued")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("flux-2-pro", lambda kept, gone: {"references": [kept, gone]}),
        ("veo-3.1", lambda kept, gone: {"start_image": kept, "end_image": gone}),
    ],
    ids=["references", "end_image"],
)
def test_a_picture_that_is_deleted_meanwhile_is_named(
    alice: Artist, model: str, names: Callable[[str, str], Job]
) -> None:
    kept, gone = alice.upload(), alice.upload()
    body = names(kept, gone)
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor() as threads:
        holder.execute(_WALLET, (alice.user.pk,))
        ordered = threads.submit(lambda: alice.post(model, **body))
        wait_until_blocked(holder)
        alice.send("DELETE", f"/api/uploads/{gone}")
        holder.commit()
        answer = ordered.result(timeout=20)

    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["loc"] == (["references", 1] if "references" in body else ["end_image"])


class TestAClipThatIsStarredWhileItIsExtended:
    def test_both_are_done(self, alice: Artist) -> None:
        """Each has its locks but that of the stream: the commit of the extension looks for the
        clip that the star has locked, and the star waits for the stream of the extension."""
        clip = alice.made("ray-2")

        extended, starred = in_turn(
            _STREAM, alice.user.pk, lambda: extend(alice, clip), lambda: star(alice, clip)
        )

        assert (extended.status_code, starred.status_code) == (202, 200)
        alice.ended(extended.json())

    def test_the_star_does_not_wait_for_a_row_that_refers_to_the_clip(self, alice: Artist) -> None:
        clip = alice.made("ray-2")

        with psycopg.connect(database_url()) as referring:
            # What a foreign key takes.
            referring.execute(
                "SELECT FROM studios_generation WHERE id = %s FOR KEY SHARE", (clip["id"],)
            )
            assert star(alice, clip).status_code == 200


def test_a_deleted_clip_is_locked_with_its_extensions_before_its_files(alice: Artist) -> None:
    """So does every other transaction: here one that has the extension, and goes on to the file."""
    clip = alice.made("ray-2")
    extension = alice.ended(extend(alice, clip).json())
    file_id = GenerationOutput.objects.get(generation=clip["id"]).file_id

    with psycopg.connect(database_url()) as other, ThreadPoolExecutor() as threads:
        other.execute(_JOB, (extension["id"],))
        deleted = threads.submit(alice.send, "DELETE", f"/api/videos/{clip['id']}")
        wait_until_blocked(other)
        other.execute(_FILE, (file_id,))
        other.commit()

        assert deleted.result(timeout=20).status_code == 204
    assert alice.job(extension)["parent_job_id"] is None
