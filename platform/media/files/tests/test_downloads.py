"""The links to uploads: downloads that run nowhere, for a day, and not beyond their owner."""

import re
import time
from uuid import UUID

import httpx
import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import transaction
from rest_framework.test import APIClient

from media.files.models import Upload
from media.files.selectors.links import LINK_SECONDS, url_until
from media.files.selectors.uploads import download_url
from media.files.services.uploads import attach, delete, store, take_down
from media.files.tests.forms import PNG
from media.files.types import storage_path
from tests.personas import new_user
from tests.service import Web


@pytest.fixture
def user(committed: None) -> AbstractBaseUser:
    return new_user("alice")


def kept(user: AbstractBaseUser, content: bytes = b"some words", name: str = "a.txt") -> Upload:
    return store(user=user, name=name, file=ContentFile(content))


def path_of(upload: Upload) -> str:
    """A link without its host: the service under test listens elsewhere."""
    return download_url(upload).removeprefix(settings.PUBLIC_BASE_URL)


def refused(path: str, status: int) -> str:
    response = APIClient().get(path)
    assert response.status_code == status
    assert response.json().keys() == {"detail", "code"}
    sentence: str = response.json()["detail"]
    return sentence


def test_whoever_has_the_link_gets_the_file(user: AbstractBaseUser, web: Web) -> None:
    content = "Grüße\n".encode() * 100_000
    upload = kept(user, content)
    response = httpx.get(web.url + path_of(upload))
    assert response.status_code == 200
    assert response.content == content
    headers = response.headers
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["content-length"] == str(len(content))
    assert headers["content-disposition"] == 'attachment; filename="a.txt"'
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["access-control-allow-origin"] == "*"
    assert "set-cookie" not in headers
    [age] = re.fullmatch(r"private, max-age=(\d+)", headers["cache-control"]).groups()  # type: ignore[union-attr]
    assert LINK_SECONDS - 60 < int(age) <= LINK_SECONDS + 3600


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PNG, "image/png"),
        (b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
        (b"<svg><script>alert(1)</script></svg>", "text/plain; charset=utf-8"),
        (b"<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8"),
        (b"MZ\x90\0" + bytes(64), "application/octet-stream"),
        (b"PK\x03\x04" + bytes(64), "application/octet-stream"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_nothing_is_served_as_what_a_browser_runs(
    user: AbstractBaseUser, web: Web, content: bytes, media_type: str
) -> None:
    response = httpx.get(web.url + path_of(kept(user, content, "x.html")))
    assert response.headers["content-type"] == media_type
    assert response.headers["content-disposition"].startswith("attachment")
    assert response.content == content


@pytest.mark.parametrize(
    ("name", "disposition"),
    [
        ("Grüße.txt", "attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt"),
        ("a\r\nSet-Cookie: x=1.txt", 'attachment; filename="a Set-Cookie x=1.txt"'),
        ('a"; filename="b.exe', 'attachment; filename="a ; filename= b.exe"'),
        ("100% %41.txt", 'attachment; filename="100% %41.txt"'),
    ],
)
def test_a_name_stays_within_its_header(
    user: AbstractBaseUser, web: Web, name: str, disposition: str
) -> None:
    response = httpx.get(web.url + path_of(kept(user, name=name)))
    assert response.headers["content-disposition"] == disposition
    assert "set-cookie" not in response.headers


def test_a_link_ends(user: AbstractBaseUser) -> None:
    upload, now = kept(user), int(time.time())
    path = url_until(now, f"uploads/{upload.pk}").removeprefix(settings.PUBLIC_BASE_URL)
    assert "24 hours" in refused(path, 403)


def test_a_link_that_was_changed_is_refused(user: AbstractBaseUser) -> None:
    mine, other = kept(user), kept(user)
    path = path_of(mine)
    for changed in (
        path.replace(str(mine.pk), str(other.pk)),
        path.replace(str(mine.pk), str(UUID(int=0))),
        path.replace("expires=", "expires=1"),
        path[:-1] + ("A" if path[-1] != "A" else "B"),
        path.partition("?")[0],
        path.replace(f"uploads/{mine.pk}", f"{mine.pk}.png"),
    ):
        assert "not valid" in refused(changed, 403)


def test_a_link_dies_with_its_file(user: AbstractBaseUser) -> None:
    deleted, over, lost, down = (kept(user) for _ in range(4))
    paths = [path_of(upload) for upload in (deleted, over, lost, down)]
    delete(user=user, upload_id=deleted.pk)
    Upload.objects.filter(pk=over.pk).update(expires_at="2020-01-01T00:00:00Z")
    storages["uploads"].delete(storage_path(str(lost.pk)))
    take_down(upload=down)
    for path in paths:
        assert "no longer kept" in refused(path, 404)


@pytest.mark.parametrize("status", ["suspended", "deactivated"])
def test_a_link_is_dead_while_the_account_is_closed(
    user: AbstractBaseUser, web: Web, status: str
) -> None:
    upload = kept(user)
    with transaction.atomic():
        attach(uploads=[upload])
    path = path_of(upload)
    get_user_model().objects.filter(pk=user.pk).update(status=status)
    refused(path, 404)
    get_user_model().objects.filter(pk=user.pk).update(status="active")
    assert httpx.get(web.url + path).status_code == 200


def test_the_link_is_the_same_for_an_hour(
    user: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload, hour = kept(user, b"Hello"), 500_000 * 3600
    links = []
    for now in (hour, hour + 3599, hour + 3600):
        monkeypatch.setattr(time, "time", lambda now=now: float(now))
        links.append(download_url(upload))

    assert links[0] == links[1] != links[2]
    assert f"expires={hour + 3600 + LINK_SECONDS}&" in links[0]
