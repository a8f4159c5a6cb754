"""Links answer parts of files, headers alone, and that nothing has changed; from a folder as from a
bucket."""

from itertools import pairwise
from random import Random

import av
import httpx
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from rest_framework.test import APIClient

from media.files.models import StoredFile
from media.files.selectors.links import signed_url
from media.files.selectors.uploads import download_url
from media.files.services.uploads import store
from media.files.tests.conftest import PICTURE, Keep
from media.files.tests.test_links import path_of
from media.files.types import storage_path
from media.probe.tests.samples import film
from tests.personas import new_user
from tests.service import Web

SIZE = 3_000_000
LARGE = Random(7).randbytes(SIZE)  # noqa: S311 - no secret


def get(server: Web, name: str, **headers: str) -> httpx.Response:
    """The answer to a link; `if_range` is the header `If-Range`."""
    fields = {field.replace("_", "-"): value for field, value in headers.items()}
    return httpx.get(server.url + path_of(signed_url(name)), headers=fields)


@pytest.fixture
def large(place: str, keep: Keep) -> str:
    return keep(data=LARGE, media_type="video/mp4")


@pytest.mark.parametrize(
    ("header", "first", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, SIZE),
        ("bytes=1000000-1999999", 1_000_000, 2_000_000),
        ("bytes=-300000", SIZE - 300_000, SIZE),
        ("bytes=2999999-9999999", SIZE - 1, SIZE),
    ],
)
def test_a_range_is_answered_with_those_bytes(
    server: Web, large: str, header: str, first: int, end: int
) -> None:
    response = get(server, large, range=header)
    assert response.status_code == 206
    assert response.content == LARGE[first:end]
    headers = response.headers
    assert headers["content-range"] == f"bytes {first}-{end - 1}/{SIZE}"
    assert headers["content-length"] == str(end - first)
    assert headers["accept-ranges"] == "bytes"
    assert headers["content-type"] == "video/mp4"
    assert headers["content-disposition"] == f'inline; filename="{large}"'
    assert headers["access-control-allow-origin"] == "*"
    assert "content-range" in headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    "header", ["bytes=0-1,5-9", "seconds=0-1", "bytes=9-5", "nonsense", "bytes=-"]
)
def test_several_ranges_and_what_is_none_are_answered_with_the_file(
    server: Web, large: str, header: str
) -> None:
    response = get(server, large, range=header)
    assert response.status_code == 200
    assert response.content == LARGE
    assert response.headers["accept-ranges"] == "bytes"
    assert "content-range" not in response.headers


@pytest.mark.parametrize("header", ["bytes=3000000-", "bytes=-0", "bytes=9999999-9999999"])
def test_a_range_outside_of_the_file_is_a_416(server: Web, large: str, header: str) -> None:
    response = get(server, large, range=header)
    assert (response.status_code, response.json()["code"]) == (416, "range_not_satisfiable")
    assert response.headers["content-range"] == f"bytes */{SIZE}"
    assert response.headers["access-control-allow-origin"] == "*"


def test_ranges_put_together_are_the_file(server: Web, large: str) -> None:
    random, found = Random(8), bytearray(SIZE)  # noqa: S311 - no secret
    cuts = [0, *sorted(random.sample(range(1, SIZE), 6)), SIZE]
    spans = list(pairwise(cuts))
    random.shuffle(spans)
    for first, end in spans:
        found[first:end] = get(server, large, range=f"bytes={first}-{end - 1}").content
    assert found == LARGE


def test_head_answers_the_headers_of_the_whole_file(server: Web, large: str) -> None:
    url = server.url + path_of(signed_url(large))
    for headers in ({}, {"Range": "bytes=0-9"}, {"Range": "bytes=9999999-"}):
        response = httpx.head(url, headers=headers)
        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["content-length"] == str(SIZE)
        assert response.headers["accept-ranges"] == "bytes"
        assert "content-range" not in response.headers


def test_a_part_of_the_same_file_is_asked_for_with_its_tag(server: Web, large: str) -> None:
    tag = get(server, large, range="bytes=0-9").headers["etag"]
    assert get(server, large, range="bytes=0-9", if_range=tag).status_code == 206
    for other in ('"other"', f"W/{tag}", "Wed, 25 Nov 2026 10:00:00 GMT"):
        response = get(server, large, range="bytes=0-9", if_range=other)
        assert (response.status_code, len(response.content)) == (200, SIZE)


def test_what_a_client_has_is_not_sent_again(server: Web, large: str) -> None:
    tag = get(server, large).headers["etag"]
    for known in (tag, f"W/{tag}", "*", f'"other", {tag}'):
        response = get(server, large, if_none_match=known)
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == tag
        assert response.headers["cache-control"].startswith("private, max-age=")
        assert response.headers["access-control-allow-origin"] == "*"
    assert get(server, large, if_none_match='"other"').status_code == 200


def test_a_file_whose_bytes_are_missing_is_gone(server: Web, large: str) -> None:
    storages["outputs"].delete(storage_path(large))
    url = server.url + path_of(signed_url(large))
    for response in (httpx.get(url), httpx.get(url, headers={"Range": "bytes=0-9"})):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert httpx.head(url).status_code == 404


def test_a_file_that_never_expires_is_served(server: Web, large: str) -> None:
    StoredFile.objects.filter(pk=large.partition(".")[0]).update(expires_at=None)
    assert get(server, large).status_code == 200


def test_a_player_seeks_in_a_film(place: str, server: Web, keep: Keep) -> None:
    url = server.url + path_of(signed_url(keep(data=film(20), media_type="video/mp4")))
    with av.open(url, "r", format="mp4") as container:
        container.seek(15_000_000)
        frame = next(container.decode(video=0))
    assert frame.time is not None
    assert 14 <= frame.time <= 15


def test_a_download_is_answered_in_parts_too(committed: None, web: Web) -> None:
    upload = store(user=new_user("alice"), name="a.txt", file=ContentFile(LARGE[:1_000]))
    path = "/files/" + download_url(upload).partition("/files/")[2]
    response = httpx.get(web.url + path, headers={"Range": "bytes=10-19"})
    assert (response.status_code, response.content) == (206, LARGE[10:20])
    assert response.headers["content-disposition"].startswith("attachment")


def test_a_storage_that_is_away_is_not_a_missing_file(committed: None, unreachable: None) -> None:
    row = StoredFile.objects.create(
        account=new_user("alice"), media_type="image/png", size=len(PICTURE)
    )
    response = APIClient().get(path_of(signed_url(row.name)))
    assert (response.status_code, response.json()["code"]) == (503, "service_unavailable")
