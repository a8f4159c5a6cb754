"""Stored files in the admin are looked at, and left as they are."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from files.models import StoredFile


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("admin@example.com", "secret"))
    return client


def test_files_are_listed_and_never_changed(admin: Client) -> None:
    owner = get_user_model().objects.get(email="admin@example.com")
    file = StoredFile.objects.create(
        account=owner, media_type="image/png", size=67, expires_at=timezone.now()
    )
    page = admin.get("/admin/files/storedfile/")
    assert page.status_code == 200
    assert str(file.pk) in page.content.decode()
    url = f"/admin/files/storedfile/{file.pk}/change/"
    assert admin.get(url).status_code == 200
    assert admin.post(url, {"size": 1}).status_code == 403
    assert admin.get(url.replace("change", "delete")).status_code == 403
    assert admin.get("/admin/files/storedfile/add/").status_code == 403
