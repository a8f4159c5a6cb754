"""POST and GET /api/users/me/export: one export at a time, three a day, each for a week."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.utils import timezone
from rest_framework.test import APIClient

from common.ids import uuid7
from conftest import Persona
from events.models import Event
from events.tests.streams import user_events
from media.files.models import StoredFile, Upload
from media.files.services import outputs, uploads
from media.files.types import storage_path
from privacy.models import Export
from privacy.services import exports
from privacy.tests.exporting import PATH
from tests.ended_links import Act, answer_of, change_the_password, close_the_account, sign_out
from work.jobs.models import Job


def end(export: Export, status: Export.Status = Export.Status.COMPLETED) -> None:
    Export.objects.filter(pk=export.pk).update(status=status, ended_at=timezone.now())


def completed(persona: Persona, *, days: int = 7) -> Export:
    """An export whose file can be downloaded for so many days."""
    expires_at = timezone.now() + timedelta(days=days)
    file = StoredFile.objects.create(
        account=persona.user, media_type="application/zip", size=100, expires_at=expires_at
    )
    return Export.objects.create(
        account=persona.user,
        status=Export.Status.COMPLETED,
        file=file,
        size=100,
        ended_at=timezone.now(),
        expires_at=expires_at,
    )


def test_an_export_is_begun_by_a_job(alice: Persona) -> None:
    response = alice.client.post(PATH)
    assert response.status_code == 202
    body = response.json()
    assert body == {
        "id": body["id"],
        "status": "queued",
        "size": None,
        "url": None,
        "created_at": body["created_at"],
        "ended_at": None,
        "expires_at": None,
    }
    job = Job.objects.get(pk=body["id"])
    assert (job.kind, job.queue, job.account) == ("userdata.export", "default", alice.user)
    assert alice.client.get(PATH).json() == body
    [event] = Event.objects.filter(stream_id=alice.user.pk)
    assert event.type == "export.created"


def test_a_second_request_gets_the_export_that_is_being_made(alice: Persona) -> None:
    first = alice.client.post(PATH).json()
    assert alice.client.post(PATH).json() == first
    assert Job.objects.count() == 1


def test_without_an_export_there_is_none_to_get(alice: Persona, bob: Persona) -> None:
    bob.client.post(PATH)
    assert alice.client.get(PATH).status_code == 404


def test_a_fourth_export_in_a_day_is_refused(alice: Persona, bob: Persona) -> None:
    for _ in range(3):
        end(exports.begin(user=alice.user))
    refused = alice.client.post(PATH)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_exports")
    assert 86_000 < int(refused["Retry-After"]) <= 86_401
    assert bob.client.post(PATH).status_code == 202

    a_day_ago = timezone.now() - timedelta(days=1, seconds=1)
    oldest = Export.objects.order_by("pk").first()
    assert oldest is not None
    Export.objects.filter(pk=oldest.pk).update(created_at=a_day_ago)
    assert alice.client.post(PATH).status_code == 202


def test_exports_that_failed_do_not_count(alice: Persona) -> None:
    for _ in range(4):
        end(exports.begin(user=alice.user), Export.Status.FAILED)
    assert alice.client.post(PATH).status_code == 202


def test_a_failed_export_is_told(alice: Persona) -> None:
    export = exports.begin(user=alice.user)
    Job.objects.filter(pk=export.pk).update(status=Job.Status.RUNNING, attempt=1, owner_id=uuid7())
    exports.fail(job_id=export.pk, attempt=1)
    assert alice.client.get(PATH).json()["status"] == "failed"
    created, failed = user_events(alice.user)
    assert (created[0], failed[0]) == ("export.created", "export.failed")
    assert failed[1]["export"]["status"] == "failed"


def test_a_completed_export_has_a_link(alice: Persona) -> None:
    export = completed(alice)
    body = alice.client.get(PATH).json()
    assert (body["id"], body["status"], body["size"]) == (str(export.pk), "completed", 100)
    assert f"/files/{export.file_id}.zip?expires=" in body["url"]


def end_with_file(export: Export) -> StoredFile:
    """Let a running attempt of the export end."""
    Job.objects.filter(pk=export.pk).update(status=Job.Status.RUNNING, attempt=1)
    file = StoredFile.objects.create(
        account_id=export.account_id,
        media_type="application/zip",
        size=1,
        expires_at=timezone.now() + timedelta(days=7),
    )
    exports.complete(job_id=export.pk, attempt=1, file_id=file.pk, size=1)
    return file


def is_live(file: StoredFile) -> bool:
    file.refresh_from_db()
    assert file.expires_at is not None
    return file.expires_at > timezone.now()


def test_a_new_export_takes_the_place_of_the_one_before(alice: Persona, bob: Persona) -> None:
    """A user's disk space is not multiplied by the number of exports."""
    of_bob = completed(bob)
    earlier = end_with_file(exports.begin(user=alice.user))
    latest = end_with_file(exports.begin(user=alice.user))
    assert [is_live(file) for file in (earlier, latest)] == [False, True]
    assert str(latest.pk) in alice.client.get(PATH).json()["url"]
    assert of_bob.file is not None
    assert is_live(of_bob.file)


def upload_of(persona: Persona) -> Upload:
    return uploads.store(user=persona.user, name="a.txt", file=ContentFile(b"some words"))


def picture_of(persona: Persona) -> StoredFile:
    return StoredFile.objects.create(account=persona.user, media_type="image/png", size=1)


def take_down(file: StoredFile | Upload) -> None:
    if isinstance(file, Upload):
        uploads.take_down(upload=file)
    else:
        outputs.take_down(file=file)


@pytest.mark.parametrize("store", [upload_of, picture_of])
def test_what_is_taken_down_cannot_be_downloaded_in_an_export(
    alice: Persona, bob: Persona, store: Callable[[Persona], StoredFile | Upload]
) -> None:
    before = completed(alice)
    file = store(alice)
    after, of_bob = completed(alice), completed(bob)
    take_down(file)
    body = alice.client.get(PATH).json()
    assert (body["id"], body["status"], body["url"]) == (str(after.pk), "expired", None)
    files = [each.file for each in (before, after, of_bob) if each.file is not None]
    # That of before cannot have it.
    assert [is_live(each) for each in files] == [True, False, True]


@pytest.mark.parametrize("store", [upload_of, picture_of])
def test_an_export_fails_during_which_something_is_taken_down(
    alice: Persona, bob: Persona, store: Callable[[Persona], StoredFile | Upload]
) -> None:
    file, of_alice, of_bob = store(alice), *(exports.begin(user=each.user) for each in (alice, bob))
    take_down(file)
    assert not is_live(end_with_file(of_alice))
    assert is_live(end_with_file(of_bob))
    assert alice.client.get(PATH).json()["status"] == "failed"
    again = exports.begin(user=alice.user)
    assert is_live(end_with_file(again))


def test_an_expired_export_has_none(alice: Persona) -> None:
    completed(alice, days=-1)
    body = alice.client.get(PATH).json()
    assert (body["status"], body["url"]) == ("expired", None)


def test_an_export_whose_file_is_gone_has_expired(alice: Persona) -> None:
    export = completed(alice)
    assert export.file is not None
    export.file.delete()
    assert alice.client.get(PATH).json()["status"] == "expired"


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_has_no_export(visitor: APIClient, method: str) -> None:
    assert getattr(visitor, method)(PATH).status_code == 401


def test_an_attempt_that_does_not_run_any_more_changes_nothing(alice: Persona) -> None:
    export = exports.begin(user=alice.user)
    assert exports.start(job_id=export.pk, attempt=1) is None
    exports.fail(job_id=export.pk, attempt=1)
    file = StoredFile.objects.create(
        account=alice.user, media_type="application/zip", size=1, expires_at=None
    )
    exports.complete(job_id=export.pk, attempt=1, file_id=file.pk, size=1)
    file.refresh_from_db()
    assert file.expires_at is not None
    assert file.expires_at <= timezone.now()
    assert alice.client.get(PATH).json()["status"] == "queued"
    assert exports.start(job_id=uuid7(), attempt=1) is None


@pytest.mark.parametrize("act", [sign_out, change_the_password, close_the_account])
def test_the_link_ends_when_its_owner_signs_out_everywhere(alice: Persona, act: Act) -> None:
    export = completed(alice)
    assert export.file
    storages["outputs"].save(storage_path(export.file.name), ContentFile(b"PK"))
    link = alice.client.get(PATH).json()["url"]
    assert answer_of(link)[0] == 200
    act(alice)
    assert answer_of(link)[0] in {403, 404}
