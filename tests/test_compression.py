"""Which answers are compressed, and which never."""

import gzip
import json
from typing import Any

import httpx
import pytest

from common.compression import MAX_PADDING, MIN_BYTES
from conftest import Persona
from conversations.models import Conversation
from conversations.tests.rows import talk
from tests.service import Web

LONG = "How deep is the sea? " * 200


@pytest.fixture
def sea(alice: Persona) -> Conversation:
    return talk(alice.user, LONG)


def get(persona: Persona, path: str, accepts: str | None = "gzip, br") -> Any:
    return persona.client.get(path, headers={"Accept-Encoding": accepts} if accepts else {})


def test_a_long_answer_is_compressed(alice: Persona, sea: Conversation) -> None:
    path = f"/api/conversations/{sea.pk}"

    answer = get(alice, path)

    assert answer["Content-Encoding"] == "gzip"
    assert int(answer["Content-Length"]) == len(answer.content) < len(LONG) / 5
    assert json.loads(gzip.decompress(answer.content)) == get(alice, path, None).json()


@pytest.mark.parametrize(
    "accepts", [None, "br", "identity", "gzip;q=0", "br, gzip; q=0.0", "gzipped"]
)
def test_who_does_not_accept_it_gets_it_as_it_is(
    alice: Persona, sea: Conversation, accepts: str | None
) -> None:
    answer = get(alice, f"/api/conversations/{sea.pk}", accepts)

    assert "Content-Encoding" not in answer
    assert "Accept-Encoding" in answer["Vary"]
    assert answer.json()["messages"][0]["content"] == LONG


def test_the_tag_is_the_same_in_either_form(alice: Persona, sea: Conversation) -> None:
    path = f"/api/conversations/{sea.pk}"
    compressed, plain = get(alice, path), get(alice, path, None)
    assert compressed["ETag"] == plain["ETag"]

    again = alice.client.get(
        path, headers={"Accept-Encoding": "gzip", "If-None-Match": compressed["ETag"]}
    )

    assert (again.status_code, again.content) == (304, b"")
    assert "Content-Encoding" not in again
    assert again["Vary"] == compressed["Vary"]


def test_the_length_of_an_answer_varies(alice: Persona, sea: Conversation) -> None:
    lengths = {len(get(alice, f"/api/conversations/{sea.pk}").content) for _ in range(30)}

    assert len(lengths) > 5
    # A name of n letters takes n + 1 bytes, and none takes none.
    assert max(lengths) - min(lengths) <= MAX_PADDING


def test_a_short_answer_is_left_as_it_is(alice: Persona) -> None:
    answer = get(alice, "/api/users/me")

    assert len(answer.content) < MIN_BYTES
    assert "Content-Encoding" not in answer


def test_answers_with_secrets_are_never_compressed(alice: Persona) -> None:
    picture = "https://example.com/" + "x" * 470
    alice.client.patch("/api/users/me", {"avatar_url": picture}, format="json")
    signed_in = alice.client.post(
        "/api/auth/login",
        {"email": alice.user.email, "password": alice.password},
        format="json",
        headers={"Accept-Encoding": "gzip"},
    )
    assert len(signed_in.content) > MIN_BYTES

    for answer in (signed_in, get(alice, "/api/auth/me"), get(alice, "/api/keys")):
        assert "Content-Encoding" not in answer
        assert "Accept-Encoding" not in answer.get("Vary", "")


def test_exports_are_compressed_and_the_admin_is_not(alice: Persona, sea: Conversation) -> None:
    assert get(alice, f"/api/conversations/{sea.pk}/export")["Content-Encoding"] == "gzip"

    page = alice.client.get("/admin/login/", headers={"Accept-Encoding": "gzip"})

    assert len(page.content) > MIN_BYTES
    assert "Content-Encoding" not in page


def test_a_head_says_what_a_get_would(alice: Persona, sea: Conversation) -> None:
    head = alice.client.head(f"/api/conversations/{sea.pk}", headers={"Accept-Encoding": "gzip"})

    assert head["Content-Encoding"] == "gzip"
    assert head.content == b""


def test_over_the_wire(web: Web) -> None:
    with httpx.Client() as client:
        answer = client.get(f"{web.url}/openapi.json", headers={"Accept-Encoding": "gzip"})
        head = client.head(f"{web.url}/openapi.json", headers={"Accept-Encoding": "gzip"})

    assert answer.headers["content-encoding"] == head.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < len(answer.content) / 4
    assert answer.json()["openapi"] == "3.1.0"
