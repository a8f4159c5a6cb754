"""Stored files in the admin are looked at, found and taken down, and never changed."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.core.files.storage import storages
from django.test import Client

from files.models import StoredFile
from files.tests.conftest import Keep
from files.types import storage_path

PAGE = "/admin/files/storedfile/"


@pytest.fixture
def admin(committed: None) -> Client:
    client = Client()
    email = f"{uuid4()}@example.com"
    client.force_login(get_user_model().objects.create_superuser(email, "secret"))
    return client


def row(name: str) -> StoredFile:
    return StoredFile.objects.select_related("account").get(pk=name.partition(".")[0])


def listed(admin: Client, **query: Any) -> set[StoredFile]:
    response = admin.get(PAGE, query)
    assert response.status_code == 200
    return set(response.context["cl"].result_list)


def is_gone(name: str) -> bool:
    """Was the file taken down, bytes and row?"""
    kept = StoredFile.objects.filter(pk=name.partition(".")[0]).exists()
    assert storages["outputs"].exists(storage_path(name)) == kept
    return not kept


def test_files_are_listed_and_never_changed(admin: Client, keep: Keep) -> None:
    file = row(keep())
    assert file in listed(admin)
    url = f"{PAGE}{file.pk}/change/"
    assert admin.get(url).status_code == 200
    assert admin.post(url, {"size": 1}).status_code == 403
    assert admin.get(f"{PAGE}add/").status_code == 403


def test_a_file_is_found_by_its_id_and_by_whose_it_is(admin: Client, keep: Keep) -> None:
    mine, other = row(keep()), row(keep())
    for asked in (mine.pk, mine.account.pk, mine.account.email):
        found = listed(admin, q=str(asked))
        assert mine in found
        assert other not in found
    assert listed(admin, q="nobody's file") == set()


def test_a_file_is_taken_down_with_its_bytes(admin: Client, keep: Keep) -> None:
    name, other = keep(), keep()
    response = admin.post(f"{PAGE}{row(name).pk}/delete/", {"post": "yes"})
    assert response.status_code == 302
    assert is_gone(name)
    assert not is_gone(other)


def test_several_files_are_taken_down_at_once(admin: Client, keep: Keep) -> None:
    names, other = [keep(), keep()], keep()
    form = {
        "action": "delete_selected",
        "_selected_action": [str(row(name).pk) for name in names],
        "post": "yes",
    }
    assert admin.post(PAGE, form).status_code == 302
    assert all(is_gone(name) for name in names)
    assert not is_gone(other)
