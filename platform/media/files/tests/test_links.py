"""A signed link: it serves its file to anybody for a day, and nothing else ever."""

import os
import re
import socket
import stat
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from django.conf import settings
from django.core.files.storage import storages
from pytest_django import Settings
from rest_framework.test import APIClient

from media.files.models import StoredFile
from media.files.selectors.links import LINK_SECONDS, signed_url, url_until
from media.files.storages import folder_storage
from media.files.tests.conftest import PICTURE, Keep
from media.files.types import storage_path
from tests.service import Web


def path_of(url: str) -> str:
    """A link without its host: the service under test listens elsewhere."""
    assert url.startswith(settings.PUBLIC_BASE_URL + "/files/")
    return url.removeprefix(settings.PUBLIC_BASE_URL)


def changed(url: str, **query: str) -> str:
    """A link with other values in its query; an empty one is left out."""
    parts = urlsplit(path_of(url))
    fields = {name: values[0] for name, values in parse_qs(parts.query).items()} | query
    return f"{parts.path}?{urlencode({name: value for name, value in fields.items() if value})}"


def refused(path: str, status: int) -> str:
    """The sentence of a refusal."""
    response = APIClient().get(path)
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response.json().keys() == {"detail", "code"}
    detail: str = response.json()["detail"]
    return detail


def test_whoever_has_the_link_gets_the_file(keep: Keep, web: Web) -> None:
    name = keep()
    response = httpx.get(web.url + path_of(signed_url(name)))
    assert response.status_code == 200
    assert response.content == PICTURE
    headers = response.headers
    assert headers["content-type"] == "image/png"
    assert headers["content-length"] == str(len(PICTURE))
    assert headers["content-disposition"] == f'inline; filename="{name}"'
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert "set-cookie" not in headers
    [age] = re.fullmatch(r"private, max-age=(\d+)", headers["cache-control"]).groups()  # type: ignore[union-attr]
    assert LINK_SECONDS - 60 < int(age) <= LINK_SECONDS


def test_a_large_file_arrives_whole(keep: Keep, web: Web) -> None:
    picture = PICTURE * 100_000
    response = httpx.get(web.url + path_of(signed_url(keep(data=picture))))
    assert response.content == picture


def test_head_answers_the_headers_alone(keep: Keep, web: Web) -> None:
    url = web.url + path_of(signed_url(keep()))
    got, asked = httpx.get(url), httpx.head(url)
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["content-length"] == got.headers["content-length"]
    assert asked.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize("accept", ["image/*", "text/html", "application/json;q=0", "nonsense"])
def test_it_does_not_matter_what_the_client_accepts(keep: Keep, web: Web, accept: str) -> None:
    path = path_of(signed_url(keep()))
    assert httpx.get(web.url + path, headers={"Accept": accept}).status_code == 200
    response = httpx.get(web.url + "/files/x.png", headers={"Accept": accept})
    assert (response.status_code, list(response.json())) == (403, ["detail", "code"])


def test_the_name_tells_what_the_file_is(keep: Keep) -> None:
    assert keep(media_type="image/png").endswith(".png")
    assert keep(media_type="image/jpeg").endswith(".jpg")
    assert keep(media_type="image/webp").endswith(".webp")


@pytest.mark.parametrize(
    "query",
    [
        {"signature": ""},
        {"signature": "A" * 43},
        {"signature": "é"},
        {"signature": "\0"},
        {"expires": ""},
        {"expires": "0"},
        {"expires": "99999999999"},
        {"expires": "9" * 5000},
        {"expires": "tomorrow"},
        {"expires": ":"},
    ],
    ids=lambda query: str(query)[:40],
)
def test_a_link_that_was_changed_is_refused(keep: Keep, query: dict[str, str]) -> None:
    url = signed_url(keep())
    assert "not valid" in refused(changed(url, **query), 403)


def test_the_end_of_a_link_cannot_be_put_off(keep: Keep) -> None:
    url = signed_url(keep())
    [expires] = parse_qs(urlsplit(url).query)["expires"]
    refused(changed(url, expires=str(int(expires) + 1)), 403)


def test_one_link_does_not_open_another_file(keep: Keep) -> None:
    mine, other = keep(), keep()
    refused(path_of(signed_url(mine)).replace(mine, other), 403)
    refused(path_of(signed_url(mine)).replace(".png", ".jpg"), 403)


@pytest.mark.parametrize("path", ["x", "..%2F..%2Fetc%2Fpasswd", "%00", "é.png", "a" * 5000])
def test_what_is_no_file_is_refused(keep: Keep, path: str) -> None:
    refused(f"/files/{path}", 403)


def test_a_link_ends(keep: Keep, web: Web) -> None:
    name, now = keep(), int(time.time())
    assert httpx.get(web.url + path_of(url_until(now + 60, name))).status_code == 200
    assert "24 hours" in refused(path_of(url_until(now, name)), 403)


def test_a_file_that_was_purged_is_gone(keep: Keep) -> None:
    name = keep()
    StoredFile.objects.all().delete()
    assert "no longer kept" in refused(path_of(signed_url(name)), 404)


def test_a_file_whose_time_is_over_is_gone(keep: Keep) -> None:
    assert "no longer kept" in refused(path_of(signed_url(keep(keep_seconds=-1))), 404)


def test_a_file_whose_bytes_are_missing_is_gone(keep: Keep) -> None:
    name = keep()
    storages["outputs"].delete(storage_path(name))
    assert "no longer kept" in refused(path_of(signed_url(name)), 404)


def test_a_page_may_fetch_it_with_headers_of_its_own(keep: Keep, web: Web) -> None:
    url = web.url + path_of(signed_url(keep()))
    origin = {"Origin": "https://app.example.com"}
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-a,x-b"}
    preflight = httpx.options(url, headers=origin | asked)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert preflight.headers["access-control-allow-headers"] == "x-a,x-b"
    assert preflight.headers["access-control-max-age"] == "600"
    assert preflight.headers["vary"] == "Access-Control-Request-Headers"
    assert "access-control-allow-credentials" not in preflight.headers
    assert "access-control-allow-headers" not in httpx.options(url, headers=origin).headers


def test_a_page_may_read_the_id_of_the_request(keep: Keep, web: Web) -> None:
    path = path_of(signed_url(keep()))
    for response in (httpx.get(web.url + path), httpx.get(web.url + "/files/x.png")):
        assert response.headers["access-control-allow-origin"] == "*"
        assert "x-request-id" in response.headers["access-control-expose-headers"].split(", ")
        assert "x-request-id" in response.headers


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_links_are_only_read(keep: Keep, method: str) -> None:
    response = getattr(APIClient(), method)(path_of(signed_url(keep())))
    assert (response.status_code, list(response.json())) == (405, ["detail", "code"])


def test_readers_that_do_not_read_keep_nobody_from_the_database(keep: Keep, web: Web) -> None:
    """More of them than the pool has connections, each with a file that no buffer holds."""
    name = keep(data=PICTURE + bytes(8_000_000))
    request = f"GET {path_of(signed_url(name))} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    with ExitStack() as readers:
        for _ in range(settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"] + 4):
            reader = readers.enter_context(socket.create_connection(("127.0.0.1", web.port)))
            reader.sendall(request)
            assert reader.recv(12) == b"HTTP/1.1 200"
        credentials = {"email": "nobody@example.com", "password": "wrong"}
        response = httpx.post(f"{web.url}/api/auth/login", json=credentials, timeout=10)
    assert response.status_code == 401


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_who_may_read_the_stored_bytes_does_not_depend_on_who_started_the_process(
    keep: Keep, umask: int
) -> None:
    usual = os.umask(umask)
    try:
        path = Path(storages["outputs"].path(storage_path(keep())))
    finally:
        os.umask(usual)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_whose_storage_is_away_is_not_told_to_be_deleted(
    keep: Keep, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """As where the file system of the folder is not mounted."""
    link = path_of(signed_url(keep()))
    changed_settings: Settings = request.getfixturevalue("settings")

    def store_in(folder: Path) -> None:
        changed_settings.STORAGES = settings.STORAGES | {"outputs": folder_storage(str(folder))}

    for away in (tmp_path, tmp_path / "nowhere"):
        store_in(away)
        assert "try again" in refused(link, 503)
    store_in(tmp_path)
    (tmp_path / "another").touch()
    assert refused(link, 404) == "This file is no longer kept."
