"""POST /api/uploads: a file is kept under a harmless name, as what its bytes are."""

import io
import zipfile

import pytest
from django.test import override_settings
from rest_framework.test import APIClient

from common.multipart import MAX_FILE_BYTES
from conftest import Persona
from media.files.models import Upload
from media.files.tests.forms import (
    BOUNDARY,
    END,
    PNG,
    URL,
    File,
    bytes_of,
    part,
    send,
    send_raw,
    uploaded,
)
from media.files.types import UPLOAD_SECONDS

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
FILE_PART = 'name="file"; filename="a.txt"'


def refused(response, status: int) -> str:  # type: ignore[no-untyped-def]
    """The sentence of a refusal, which has left nothing behind."""
    assert response.status_code == status, response.content
    assert not Upload.objects.exists()
    sentence: str = response.json()["detail"]
    return sentence


def test_a_file_is_kept_and_described(alice: Persona) -> None:
    content = "Grüße, 世界\n".encode()
    response = send(alice, File(content, "Grüße.txt"))
    assert response.status_code == 201
    [upload] = Upload.objects.all()
    assert response.json() == {
        "id": str(upload.pk),
        "name": "Grüße.txt",
        "mime": "text/plain",
        "size": len(content),
        "readable": True,
        "created_at": response.json()["created_at"],
    }
    assert (upload.account, upload.is_text) == (alice.user, True)
    assert bytes_of(upload) == content


def test_it_is_kept_for_a_day(alice: Persona) -> None:
    upload = uploaded(alice)
    assert upload.expires_at is not None
    seconds = (upload.expires_at - upload.created_at).total_seconds()
    assert seconds == pytest.approx(UPLOAD_SECONDS, abs=60)


@pytest.mark.parametrize("size", [1, 3_000_000, MAX_FILE_BYTES])
def test_files_of_all_sizes_arrive_whole(alice: Persona, size: int) -> None:
    content = (b"0123456789abcdef\n" * (size // 17 + 1))[:size]
    upload = uploaded(alice, File(content))
    assert upload.size == size
    assert bytes_of(upload) == content


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("Report 2026.pdf", "Report 2026.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\x.bat", "x.bat"),
        ("..%2f..%2fx", "%2f..%2fx"),
        ("gpj.\u202eexe", "gpj.exe"),
        ("\u2067a\u2069.txt", "a.txt"),
        ("cafe\u0301.txt", "café.txt"),
        ("\u202e\u202d", "file"),
        (".env", ".env"),
        ("..", "file"),
        ("my %22best%22.txt", "my best .txt"),
        (" ", "file"),
        ("世界" * 80 + ".md", "世界" * 80 + ".md"),
    ],
)
def test_a_name_is_made_harmless(alice: Persona, sent: str, kept: str) -> None:
    response = send_raw(alice, part(f'name="file"; filename="{sent}"') + END)
    assert response.status_code == 201
    assert response.json()["name"] == kept
    [upload] = Upload.objects.all()
    assert bytes_of(upload) == b"some words"


def test_what_it_is_is_told_by_its_bytes(alice: Persona) -> None:
    upload = uploaded(alice, File(PNG, "letter.txt", "text/plain"))
    assert (upload.media_type, upload.is_text) == ("image/png", False)
    shown = alice.client.get(f"{URL}/{upload.pk}").json()
    assert (shown["mime"], shown["readable"]) == ("image/png", False)
    upload = uploaded(alice, File(b"no picture", "picture.png", "image/png"))
    assert (upload.media_type, upload.is_text) == ("text/plain", True)


def test_a_picture_with_script_is_text(alice: Persona) -> None:
    upload = uploaded(alice, File(SVG, "x.svg", "image/svg+xml"))
    assert (upload.media_type, upload.is_text) == ("text/plain", True)


def test_an_archive_is_not_opened(alice: Persona) -> None:
    """100 MB of nothing, in 100 kB."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(100_000_000))
    upload = uploaded(alice, File(packed.getvalue(), "bomb.zip", "application/zip"))
    assert (upload.media_type, upload.is_text) == ("application/zip", False)
    assert upload.size < 1_000_000


def test_an_empty_file_is_refused(alice: Persona) -> None:
    response = send(alice, File(b""))
    assert "empty" in refused(response, 422)
    assert response.json()["errors"][0]["loc"] == ["file"]


def test_a_file_over_25_mb_is_refused(alice: Persona) -> None:
    response = send(alice, File(bytes(MAX_FILE_BYTES + 1)))
    assert refused(response, 413) == "A file has at most 25 MB, which are 25,000,000 bytes."


def test_a_file_of_25_mb_is_taken(alice: Persona) -> None:
    assert uploaded(alice, File(bytes(25_000_000))).size == MAX_FILE_BYTES


def test_a_name_that_is_not_utf8_is_refused_by_name(alice: Persona) -> None:
    named = part('name="file"; filename="M?ller.txt"').replace(b"?", b"\xfc")
    for body in (named, part('name="text"', b"words") + named):
        response = send_raw(alice, body + END)
        assert "not UTF-8" in refused(response, 422)
        assert response.json()["errors"][0]["loc"] == ["file"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form at all",
        END,
        part('name="file"') + END,
        part('name="file"; filename=""') + END,
        part('name="picture"; filename="a.txt"') + END,
        part('name="text"') + END,
        part(FILE_PART) * 2 + END,
        part("name=file; filename*=no-such-charset''x") + END,
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_form_without_exactly_one_file_is_refused(alice: Persona, body: bytes) -> None:
    response = send_raw(alice, body)
    refused(response, 422)
    assert len(response.json()["errors"]) == 1


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (part(FILE_PART), "breaks off"),
        (part(FILE_PART, b"%%%", "Content-Transfer-Encoding: base64") + END, "base64"),
        (part('name="x"') * 1_100 + END, "too many parts"),
        (part('name="file"; filename=""') * 1_100 + END, "too many parts"),
        (f"--{BOUNDARY}\r\n\r\n".encode() * 3_000 + END, "too many parts"),
        (part(f'name="file"; filename="{"a" * 2_000}"') + END, "header size"),
        (part(FILE_PART, b"", *(f"X-{n}: y" for n in range(5_000))) + END, "header size"),
        (part('name="text"', b"x" * 3_000_000) + part(FILE_PART) + END, "too large"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_broken_form_is_refused(alice: Persona, body: bytes, problem: str) -> None:
    response = send_raw(alice, body)
    assert response.status_code in (400, 413, 422)
    assert problem in refused(response, response.status_code)


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=another", 400),
        ("multipart/form-data; boundary=\xe9", 400),
        ("multipart/form-data; boundary=", 400),
        ("multipart/mixed; boundary=xYzZy", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/json", 415),
        ("text/plain", 415),
        ("nonsense", 415),
    ],
)
def test_what_is_no_form_is_refused(alice: Persona, content_type: str, status: int) -> None:
    response = send_raw(alice, part(FILE_PART) + END, content_type)
    sentence = refused(response, status)
    assert status == 400 or sentence == "Send the body as `multipart/form-data`."


def test_who_is_not_signed_in_is_refused(db: None) -> None:
    assert APIClient().post(URL, {"file": io.BytesIO(b"x")}).status_code == 401


def test_texts_beside_the_file_do_no_harm(alice: Persona) -> None:
    body = part('name="purpose"', b"\xff\0") + part(FILE_PART) + END
    assert send_raw(alice, body).status_code == 201


@override_settings(UPLOAD_QUOTA_MB=1)
def test_the_quota_counts_bytes(alice: Persona, bob: Persona) -> None:
    uploaded(alice, File(bytes(600_000)))
    response = send(alice, File(bytes(400_001)))
    assert response.status_code == 409
    answer = response.json()
    assert answer["code"] == "upload_quota_exceeded"
    assert answer["used"] == {"files": 1, "bytes": 600_000}
    assert answer["limit"] == {"files": 10_000, "bytes": 1_000_000}
    uploaded(alice, File(bytes(400_000)))
    uploaded(bob, File(bytes(400_001)))


def test_the_quota_counts_files(alice: Persona) -> None:
    rows = [Upload(account=alice.user, name="x", is_text=True, size=0) for _ in range(9_999)]
    Upload.objects.bulk_create(rows)
    uploaded(alice)
    assert send(alice, File()).json()["code"] == "upload_quota_exceeded"
