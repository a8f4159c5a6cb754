"""Stored files in the admin: looked at by operators, and taken down with a reason."""

import asyncio

import pytest
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.storage import storages
from rest_framework.test import APIClient

from common.database import get_database
from common.ids import uuid7
from media.files.models import StoredFile
from media.files.selectors.links import signed_url
from media.files.services.media import StoredMedia, store_result
from media.files.tests.conftest import Keep
from media.files.tests.test_links import path_of
from media.files.tests.test_store_result import pieces_of
from media.files.types import storage_path
from media.probe.tests.samples import picture
from tests.operators import Operator, audit_of, new_operator
from tests.personas import new_user

REASON = {"reason": "A court said so"}
PAGE = "files/storedfile/"


@pytest.fixture
def operator(committed: None) -> Operator:
    return new_operator()


def row(name: str) -> StoredFile:
    return StoredFile.objects.select_related("account").get(pk=name.partition(".")[0])


def has_bytes(file: StoredFile) -> bool:
    return storages["outputs"].exists(storage_path(file.name))


def test_a_file_is_found_by_its_id_and_by_whose_it_is(operator: Operator, keep: Keep) -> None:
    mine, other = row(keep()), row(keep())
    for asked in (mine.pk, mine.account.pk, mine.account.email):
        page = operator.get(f"{PAGE}?q={asked}")
        assert str(mine.pk) in page
        assert str(other.pk) not in page


def test_it_is_taken_down_with_its_bytes_and_a_reason(operator: Operator, keep: Keep) -> None:
    name = keep()
    file, other = row(name), row(keep())
    assert "Take down" in operator.get(f"{PAGE}{file.pk}/change/")
    url = f"{PAGE}{file.pk}/take_down/"
    assert operator.post(url).status_code == 200  # without a reason
    assert has_bytes(file)
    assert operator.post(url, **REASON).status_code == 302

    assert not has_bytes(file)
    assert has_bytes(other)
    assert row(name).taken_down_at is not None
    assert APIClient().get(path_of(signed_url(name))).status_code == 404
    assert audit_of(file) == ["Taken down. Reason: A court said so"]
    assert "taken down" in operator.get(f"{PAGE}{file.pk}/change/")


def stored_picture(account: AbstractBaseUser) -> StoredMedia:
    async def stored() -> StoredMedia:
        try:
            pieces = pieces_of(picture("PNG"))
            return await store_result(
                account_id=account.pk, pieces=pieces, kind="image", limit=1_000_000
            )
        finally:
            await get_database().close()

    return asyncio.run(stored())


def test_its_thumbnail_goes_with_it(operator: Operator) -> None:
    account = new_user("alice")
    media, other = stored_picture(account), stored_picture(account)
    operator.post(f"{PAGE}{media.file_id}/take_down/", **REASON)
    files = StoredFile.objects.in_bulk()
    gone = [media.file_id, media.thumbnail_id]
    assert [has_bytes(files[each]) for each in gone if each] == [False, False]
    assert has_bytes(files[other.file_id])
    operator.post(f"{PAGE}{other.thumbnail_id}/take_down/", **REASON)
    assert has_bytes(files[other.file_id])


def test_taking_down_twice_is_one_act(operator: Operator, keep: Keep) -> None:
    file = row(keep())
    for _ in range(2):
        operator.post(f"{PAGE}{file.pk}/take_down/", **REASON)
    assert len(audit_of(file)) == 1


def test_a_storage_that_is_away_is_told(operator: Operator, keep: Keep, unreachable: None) -> None:
    file = StoredFile.objects.create(account=new_user("alice"), media_type="image/png", size=1)
    response = operator.post(f"{PAGE}{file.pk}/take_down/", **REASON)
    assert response.status_code == 200
    assert "try again" in response.content.decode()
    file.refresh_from_db()
    assert (file.taken_down_at, audit_of(file)) == (None, [])


def test_files_are_never_made_changed_or_deleted_here(operator: Operator, keep: Keep) -> None:
    file = row(keep())
    assert not operator.is_allowed(f"{PAGE}add/")
    assert operator.post(f"{PAGE}{file.pk}/change/", size=1).status_code == 403
    assert operator.post(f"{PAGE}{file.pk}/delete/", post="yes").status_code == 403
    assert has_bytes(file)


def test_who_may_only_look_cannot_take_down(committed: None, keep: Keep) -> None:
    file = row(keep())
    viewer = new_operator("files.view_storedfile")
    assert "Take down" not in viewer.get(f"{PAGE}{file.pk}/change/")
    assert viewer.post(f"{PAGE}{file.pk}/take_down/", **REASON).status_code == 403
    assert has_bytes(file)


def test_what_is_no_file_is_not_there(operator: Operator) -> None:
    assert operator.post(f"{PAGE}{uuid7()}/take_down/", **REASON).status_code == 404
