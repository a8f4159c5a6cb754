"""What `POST /v1/images/generations` takes, at its edges; what it refuses costs nothing."""

import json
from typing import Any

import pytest

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import EMBEDDING, IMAGE, IMAGES, IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal

PNG_DATA_URL = "data:image/png;base64,AAAA"


def refused(alice: Customer, code: str, **fields: Any) -> str:
    """The sentence of a refusal, which the provider never saw and nobody pays for."""
    body = {"model": IMAGE, "prompt": "A red boat.", **fields}
    message: str = refusal(alice.post(IMAGES, json=body), 400, code)["message"]
    assert alice.charges() == []
    return message


# --- The prompt ---------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_4_000_characters_are_taken_whatever_their_bytes(alice: Customer, letter: str) -> None:
    body = {"model": IMAGE, "prompt": letter * 4_000}
    response = alice.post(IMAGES, content=json.dumps(body).encode())
    assert response.status_code == 200


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_4_001_characters_are_refused_with_the_limit(alice: Customer, letter: str) -> None:
    message = refused(alice, "input_too_long", prompt=letter * 4_001)
    assert "4,001" in message
    assert "4,000" in message


@pytest.mark.parametrize("prompt", ["", " ", "\n\t"], ids=repr)
def test_an_empty_prompt_is_refused(alice: Customer, prompt: str) -> None:
    assert "empty" in refused(alice, "invalid_body", prompt=prompt)


@pytest.mark.parametrize("prompt", [None, 5, True, ["A red boat."], {}], ids=json.dumps)
def test_a_prompt_that_is_no_text_is_refused(alice: Customer, prompt: Any) -> None:
    assert "`prompt`" in refused(alice, "invalid_body", prompt=prompt)


def test_a_nul_character_is_named(alice: Customer) -> None:
    assert "NUL" in refused(alice, "invalid_body", prompt="be\0fore")


# --- The other fields ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_one_to_four_pictures_are_made(alice: Customer, n: int) -> None:
    assert len(alice.draw(n=n).json()["data"]) == n


def test_one_picture_is_made_where_nothing_is_said(alice: Customer) -> None:
    assert len(alice.draw(n=None).json()["data"]) == 1
    assert len(alice.draw().json()["data"]) == 1


@pytest.mark.parametrize("n", [0, -1, 5, 10**30, 1.5, "2", True, [1]], ids=repr)
def test_another_number_is_refused(alice: Customer, n: Any) -> None:
    assert "1 to 4" in refused(alice, "invalid_body", n=n)


@pytest.mark.parametrize("size", ["1024x1024", "1536x1024", "1024x1536"])
def test_three_sizes_are_taken(alice: Customer, size: str) -> None:
    assert alice.draw(size=size).json()["size"] == size


@pytest.mark.parametrize("size", [None, "auto"])
def test_a_square_is_made_where_no_size_is_named(alice: Customer, size: str | None) -> None:
    assert alice.draw(size=size).json()["size"] == "1024x1024"


@pytest.mark.parametrize("size", ["", "512x512", "1024X1024", "1:1", 1024, [1024, 1024]], ids=repr)
def test_another_size_is_refused(alice: Customer, size: Any) -> None:
    assert "1536x1024" in refused(alice, "invalid_body", size=size)


@pytest.mark.parametrize("quality", ["", "best", "LOW", "xhigh", 5, ["low"]], ids=repr)
def test_another_quality_is_refused(alice: Customer, quality: Any) -> None:
    assert "`standard`" in refused(alice, "invalid_body", quality=quality)


@pytest.mark.parametrize("response_format", [None, "url"])
def test_links_may_be_asked_for(alice: Customer, response_format: str | None) -> None:
    assert alice.draw(response_format=response_format).status_code == 200


@pytest.mark.parametrize("response_format", ["b64_json", "png", "", 5], ids=repr)
def test_pictures_in_the_answer_are_refused(alice: Customer, response_format: Any) -> None:
    message = refused(alice, "invalid_body", response_format=response_format)
    assert "served by URL" in message


@pytest.mark.parametrize("stream", [True, "true", 1], ids=repr)
def test_a_stream_of_pictures_is_refused(alice: Customer, stream: Any) -> None:
    """A client that waits for events would show nothing of what was billed."""
    assert "not streamed" in refused(alice, "invalid_body", stream=stream, partial_images=2)


@pytest.mark.parametrize("stream", [None, False])
def test_a_stream_may_be_declined(alice: Customer, stream: bool | None) -> None:
    assert alice.draw(stream=stream).status_code == 200


def test_fields_without_a_meaning_here_are_taken(alice: Customer) -> None:
    response = alice.draw(
        style="vivid",
        background="transparent",
        user="alice",
        moderation="low",
        output_format="webp",
        partial_images=2,
        image=PNG_DATA_URL,
        seed=5,
    )
    assert response.status_code == 200


@pytest.mark.parametrize("fields", [{"model": None}, {"model": 5}], ids=json.dumps)
def test_a_model_that_is_no_name_is_refused(alice: Customer, fields: dict[str, Any]) -> None:
    assert "model" in refused(alice, "invalid_body", **fields)


@pytest.mark.parametrize("missing", ["model", "prompt"])
def test_a_field_that_is_missing_is_named(alice: Customer, missing: str) -> None:
    body = {"model": IMAGE, "prompt": "A red boat."}
    del body[missing]
    error = refusal(alice.post(IMAGES, json=body), 400, "invalid_body")
    assert missing in error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 200_000], ids=len)
def test_a_broken_body_is_refused(alice: Customer, body: bytes) -> None:
    refusal(alice.post(IMAGES, content=body), 400, "invalid_body")
    assert alice.charges() == []


def test_a_body_of_more_than_256_kilobytes_is_refused(alice: Customer) -> None:
    refused(alice, "input_too_long", image="A" * 300_000)
    upload = alice.upload(50, announced=True, path=IMAGES)
    refusal(upload.response, 400, "input_too_long")
    assert upload.growth < 32_000_000


@pytest.mark.parametrize("model", [IN_PLAN, EMBEDDING, "no-such-model", "dall-e-3", ""])
def test_only_an_image_model_is_found(alice: Customer, model: str) -> None:
    refusal(alice.draw(model=model), 404, "model_not_found")
    assert alice.charges() == []


def test_chat_and_embeddings_do_not_find_it(alice: Customer) -> None:
    refusal(alice.chat(model=IMAGE), 404, "model_not_found")
    refusal(alice.embed(model=IMAGE), 404, "model_not_found")


def test_a_key_for_other_models_may_not_call_it(customer: NewCustomer) -> None:
    refusal(customer(models=(IN_PLAN,)).draw(), 403, "model_not_allowed")
