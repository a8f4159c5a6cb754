"""What `POST /v1/embeddings` takes, at its edges; what it refuses costs nothing."""

import json
from typing import Any

import pytest

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import EMBEDDING, EMBEDDINGS, IMAGE, IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal


def refused(alice: Customer, code: str, **fields: Any) -> str:
    """The sentence of a refusal, which the provider never saw and nobody pays for."""
    response = alice.post(EMBEDDINGS, json={"model": EMBEDDING, "input": "text", **fields})
    message: str = refusal(response, 400, code)["message"]
    assert alice.charges() == []
    return message


# --- The texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_256_texts_are_taken(alice: Customer, encoding: str) -> None:
    response = alice.embed(*["text"] * 255, encoding_format=encoding)
    assert [item["index"] for item in response.json()["data"]] == list(range(256))


def test_257_texts_are_refused_with_the_limit(alice: Customer) -> None:
    assert "256" in refused(alice, "invalid_input", input=["text"] * 257)


@pytest.mark.parametrize("letter", ["a", "é", "字"])
def test_12_000_characters_are_taken_whatever_their_bytes(alice: Customer, letter: str) -> None:
    assert alice.embed(letter * 12_000).status_code == 200


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_12_001_characters_are_refused_with_the_place(alice: Customer, letter: str) -> None:
    message = refused(alice, "input_too_long", input=["text", letter * 12_001])
    assert "Text 1" in message
    assert "12,001" in message
    refused(alice, "input_too_long", input=letter * 12_001)


@pytest.mark.parametrize("escaped", [True, False])
def test_the_largest_request_is_taken_however_it_is_written(
    customer: NewCustomer, escaped: bool
) -> None:
    """256 texts of 12,000 characters are 36.9 MB where each is sent as two \\uXXXX."""
    alice = customer(balance_usd=40)
    body = {"model": EMBEDDING, "input": ["\U0001f600" * 12_000] * 256, "dimensions": 1}
    content = json.dumps(body, ensure_ascii=escaped).encode()
    assert alice.post(EMBEDDINGS, content=content).status_code == 200


def test_bytes_that_are_no_text_are_found_anywhere_in_a_large_body(alice: Customer) -> None:
    content = b'{"x":"%s\xff","model":"%s","input":"text"}'
    body = content % ("\U0001f600".encode() * 2_000_000, EMBEDDING.encode())
    error = refusal(alice.post(EMBEDDINGS, content=body), 400, "invalid_body")
    assert "UTF-8" in error["message"]


@pytest.mark.parametrize("texts", ["", [], [""], ["text", ""]], ids=json.dumps)
def test_what_is_empty_is_refused(alice: Customer, texts: Any) -> None:
    assert "empty" in refused(alice, "invalid_input", input=texts)


@pytest.mark.parametrize("texts", [" ", ["\n"], "\u200b", ["\ufeff", "text"]], ids=json.dumps)
def test_what_is_not_seen_is_text(alice: Customer, texts: Any) -> None:
    response = alice.post(EMBEDDINGS, json={"model": EMBEDDING, "input": texts})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "texts",
    [
        None,
        5,
        True,
        {},
        {"text": "text"},
        [5],
        [None],
        ["text", 5],
        ["text", None],
        ["text", ["text"]],
        [["text"]],
        [{"text": "text"}],
    ],
    ids=json.dumps,
)
def test_what_is_no_text_is_refused(alice: Customer, texts: Any) -> None:
    assert "array of texts" in refused(alice, "invalid_input", input=texts)


@pytest.mark.parametrize("tokens", [[1, 2, 3], [[1, 2], [3]], [[]]], ids=json.dumps)
def test_token_ids_are_refused_with_the_setting_of_the_client(alice: Customer, tokens: Any) -> None:
    assert "check_embedding_ctx_length=False" in refused(alice, "invalid_input", input=tokens)


def test_a_nul_character_is_named(alice: Customer) -> None:
    assert "NUL" in refused(alice, "invalid_input", input=["text", "be\0fore"])


def test_half_of_a_surrogate_pair_is_named(alice: Customer) -> None:
    body = b'{"model":"text-embedding-3-small","input":["\\ud83d"]}'
    error = refusal(alice.post(EMBEDDINGS, content=body), 400, "invalid_body")
    assert "surrogate pair" in error["message"]


# --- The other fields ---------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["", "hex", "Base64", "int8", 5, [], {}], ids=repr)
def test_another_encoding_is_refused(alice: Customer, encoding: Any) -> None:
    message = refused(alice, "unsupported_encoding", encoding_format=encoding)
    assert "`float` or `base64`" in message


@pytest.mark.parametrize("dimensions", [0, -1, 1537, 10**30, 1.5, "256", True, []], ids=repr)
def test_other_dimensions_are_refused(alice: Customer, dimensions: Any) -> None:
    assert "1 to 1536" in refused(alice, "invalid_input", dimensions=dimensions)


@pytest.mark.parametrize("fields", [{"model": None}, {"model": 5}, {"model": []}], ids=json.dumps)
def test_a_model_that_is_no_name_is_refused(alice: Customer, fields: dict[str, Any]) -> None:
    assert "model" in refused(alice, "invalid_body", **fields)


def test_a_model_that_is_missing_is_named(alice: Customer) -> None:
    error = refusal(alice.post(EMBEDDINGS, json={"input": "text"}), 400, "invalid_body")
    assert "model" in error["message"]
    assert error["param"] == "model"


@pytest.mark.parametrize("body", [{}, {"input": None}], ids=["missing", "null"])
def test_an_input_that_is_missing_is_told_in_one_way(
    alice: Customer, body: dict[str, None]
) -> None:
    response = alice.post(EMBEDDINGS, json={"model": EMBEDDING, **body})
    error = refusal(response, 400, "invalid_input")
    assert error["message"] == "`input` is missing: send a text or an array of texts."
    assert error["param"] == "input"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 1_000_000], ids=len)
def test_a_broken_body_is_refused(alice: Customer, body: bytes) -> None:
    refusal(alice.post(EMBEDDINGS, content=body), 400, "invalid_body")
    assert alice.charges() == []


@pytest.mark.parametrize("model", [IN_PLAN, IMAGE, "no-such-model", "dall-e-3", ""])
def test_only_an_embeddings_model_is_found(alice: Customer, model: str) -> None:
    refusal(alice.embed(model=model), 404, "model_not_found")
    assert alice.charges() == []


def test_chat_and_images_do_not_find_it(alice: Customer) -> None:
    refusal(alice.chat(model=EMBEDDING), 404, "model_not_found")
    refusal(alice.draw(model=EMBEDDING), 404, "model_not_found")


def test_a_key_for_other_models_may_not_call_it(customer: NewCustomer) -> None:
    refusal(customer(models=(IN_PLAN,)).embed(), 403, "model_not_allowed")


# --- Bodies that are too large ------------------------------------------------------------------


@pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])
def test_50_megabytes_are_answered_and_not_kept(alice: Customer, announced: bool) -> None:
    upload = alice.upload(50, announced=announced, path=EMBEDDINGS)
    refusal(upload.response, 400, "input_too_long")
    assert upload.growth < 64_000_000


@pytest.mark.parametrize("text", ['""', '"a"', '"\\\\"', '"\\""'])
def test_millions_of_texts_are_refused_before_they_are_decoded(alice: Customer, text: str) -> None:
    """Each is a few bytes in the body and fifty in memory. Nobody sees that the end is missing."""
    texts = ",".join([text] * (40_000_000 // (len(text) + 1)))
    body = f'{{"model":"{EMBEDDING}","input":[{texts}'.encode()
    error = refusal(alice.post(EMBEDDINGS, content=body), 400, "invalid_input")
    assert "256" in error["message"]


def test_quotes_inside_of_texts_are_not_counted(alice: Customer) -> None:
    assert alice.embed(*['"' * 6_000 + "\\" * 6_000] * 100).status_code == 200
