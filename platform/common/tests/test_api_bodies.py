"""What `/api` takes as a body."""

import gzip
import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from common.api import MAX_BODY_BYTES, MAX_DEPTH

# No body here reaches the database: a good one lacks the password.
URL = "/api/auth/login"


def post(body: bytes | str, content_type: str = "application/json", **headers: str) -> Any:
    return APIClient().post(URL, body, content_type=content_type, headers=headers)


def nested(depth: int) -> str:
    """An object that is `depth` levels deep."""
    return '{"email": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


MALFORMED = {
    "cut off": b'{"email": ',
    "not JSON": b"email=alice",
    "single quotes": b"{'email': 1}",
    "trailing comma": b'{"email": 1,}',
    "two documents": b"{}{}",
    "spaces only": b"   ",
    "not a number": b'{"email": NaN}',
    "infinity": b'{"email": Infinity}',
    "minus infinity": b'{"email": -Infinity}',
    "invalid UTF-8": b'{"email": "\xff\xfe"}',
    "UTF-16": '{"email": "alice"}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "NUL in a string": rb'{"email": "a\u0000b"}',
    "NUL in a name": rb'{"a\u0000b": 1}',
    "raw NUL": b'{"email": "a\0b"}',
    "lone surrogate": rb'{"email": "\ud800"}',
    "lone surrogate in a name": rb'{"\udfff": 1}',
    "surrogates in the wrong order": rb'{"email": "\ude00\ud83d"}',
    "surrogate bytes": b'{"email": "\xed\xa0\x80"}',
    "one level too deep": nested(MAX_DEPTH + 1).encode(),
    "deep": nested(500).encode(),
    "20,000 deep": nested(20_000).encode(),
    "20,000 deep and cut off": b"[" * 20_000,
    "20,000 objects deep": b'{"a":' * 20_000,
    "compressed": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_body_is_400(name: str) -> None:
    response = post(MALFORMED[name])
    assert response.status_code == 400
    assert response.json().keys() == {"detail", "code"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("byte order mark", "begins with a byte order mark: send it without"),
        ("trailing comma", "see line 1, column 13."),
        ("not a number", "NaN is not a JSON number."),
        ("spaces only", "see line 1, column 4."),
    ],
)
def test_the_reason_is_in_our_words(name: str, told: str) -> None:
    assert told in post(MALFORMED[name]).json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        nested(MAX_DEPTH),
        r'{"email": "\ud83d\ude00"}',
        '{"email": "😀"}',
        '{"email": 1, "email": 2}',
        "[]",
        '"text"',
        "null",
        "5",
    ],
)
def test_well_formed_json_is_read(body: str) -> None:
    assert post(body).status_code == 422


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 101, "9" * 5_000])
def test_a_number_that_is_too_large_is_422(number: str) -> None:
    response = post(f'{{"email": {number}}}')
    assert response.status_code == 422
    problem = "A number in the body is too large."
    assert response.json() == {
        "detail": problem,
        "code": "validation_failed",
        "errors": [{"loc": [], "msg": problem}],
    }


def test_a_body_of_1_mb_is_read_and_one_byte_more_is_413() -> None:
    frame = len(json.dumps({"x": ""}))
    fits = json.dumps({"x": "a" * (MAX_BODY_BYTES - frame)})
    assert post(fits).status_code == 422
    assert post(fits + " ").status_code == 413


def test_a_large_body_is_413() -> None:
    response = post(b"[" + b"1," * 5_000_000 + b"1]")
    assert response.status_code == 413
    assert response.json().keys() == {"detail", "code"}


def test_an_absent_body_lacks_its_fields() -> None:
    response = post(b"")
    assert response.status_code == 422
    assert [error["loc"] for error in response.json()["errors"]] == [["email"], ["password"]]


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense",
    ],
)
def test_another_content_type_is_415(content_type: str) -> None:
    response = post(b"email=alice", content_type)
    assert response.status_code == 415
    assert response.json().keys() == {"detail", "code"}


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "no-such-charset", "bz2_codec"])
def test_json_is_utf_8_whatever_the_header_says(charset: str) -> None:
    response = post('{"email": "é"}'.encode(), f"application/json; charset={charset}")
    assert response.status_code == 422


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data; boundary=x"])
def test_a_compressed_body_is_refused_as_such(content_type: str) -> None:
    body = gzip.compress(b"{}")
    response = post(body, content_type, **{"Content-Encoding": "gzip"})
    assert response.status_code == 400
    assert response.json()["detail"] == "Send the body uncompressed."


def test_an_encoding_that_changes_nothing_is_none() -> None:
    assert post(b"{}", **{"Content-Encoding": "Identity"}).status_code == 422


def test_a_body_of_unknown_length_is_411() -> None:
    response = APIClient().generic("POST", URL, "", headers={"Transfer-Encoding": "chunked"})
    assert response.status_code == 411
    assert response.json().keys() == {"detail", "code"}
