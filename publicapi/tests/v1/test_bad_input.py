"""What should never be sent: an answer in the right envelope, never a 500, never a charge."""

import json
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest

from devserver.ports import LOOPBACK
from publicapi.tests.v1.customer import CHAT, EMBEDDING, EMBEDDINGS, IMAGES, Customer
from publicapi.tests.v1.customer import IMAGE as IMAGE_MODEL
from publicapi.tests.v1.errors import refusal

QUESTION = {"role": "user", "content": "How are you?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
DEEP_ARRAY = "[" * 20_000 + "]" * 20_000
DEEP_OBJECT = '{"a":' * 20_000 + "1" + "}" * 20_000


def raw(fields: str) -> bytes:
    """A valid body with more fields, as they stand."""
    return f'{{"model":"gpt-6-luna","messages":[{json.dumps(QUESTION)}],{fields}}}'.encode()


# --- Bodies that cannot be read -------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"model": "gpt-6-luna"',
        b"null",
        b"5",
        b'"text"',
        b"[]",
        b"<html></html>",
        b"model=gpt-6-luna",
        b"\xff\xfe\x00",
        raw('"x":1') + b"x",
        raw('"x":1,'),
        b"\xef\xbb\xbf" + raw('"x":1'),
        raw('"x":1').decode().encode("utf-16"),
        raw('"x":NaN'),
        raw('"x":Infinity'),
        raw('"x":01'),
        raw("'x':1"),
        raw('"x":"\t"'),
        raw('"x":"\\q"'),
        raw(f'"x":{DEEP_ARRAY}'),
        raw(f'"x":{DEEP_OBJECT}'),
        raw(f'"messages":{DEEP_ARRAY}'),
        raw(f'"stream_options":{DEEP_OBJECT}'),
        DEEP_ARRAY.encode(),
        DEEP_OBJECT.encode(),
        b"[" * 20_000,
        b"[" * 4_000_000,
        raw('"temperature":5') + b"}",
        raw(",".join(f'"{number:x}":1' for number in range(50_001))),
        raw(",".join(['"\\\\":1'] * 100_001)),
    ],
    ids=lambda body: f"{body[:12]!r}..{len(body)}",
)
def test_a_broken_body_is_refused(alice: Customer, body: bytes) -> None:
    refusal(alice.post(content=body), 400, "invalid_body")
    alice.assert_nothing_billed()
    assert alice.charges() == []


@pytest.mark.parametrize("field", ["content", "ignored"])
@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"], ids=repr)
def test_broken_utf8_is_refused_wherever_it_stands(
    alice: Customer, text: bytes, field: str
) -> None:
    body = json.dumps({**alice.body(messages=[{**QUESTION, field: "HERE"}])}).encode()
    error = refusal(alice.post(content=body.replace(b"HERE", text)), 400, "invalid_body")
    assert "UTF-8" in error["message"]


@pytest.mark.parametrize("field", ["content", "ignored"])
@pytest.mark.parametrize(
    "escape", [r"\ud800", r"\ud800 and more", r"\udc00", r"\ud83d\ud83d\ude00", r"\uDFFF!"]
)
def test_half_of_a_surrogate_pair_is_named(alice: Customer, escape: str, field: str) -> None:
    body = json.dumps(alice.body(messages=[{**QUESTION, field: "HERE"}]))
    response = alice.post(content=body.replace("HERE", escape).encode())
    assert "surrogate pair" in refusal(response, 400, "invalid_body")["message"]
    alice.assert_nothing_billed()


def test_a_byte_order_mark_is_named(alice: Customer) -> None:
    body = json.dumps(alice.body()).encode()
    error = refusal(alice.post(content=b"\xef\xbb\xbf" + body), 400, "invalid_body")
    assert "begins with a byte order mark" in error["message"]


def test_a_whole_surrogate_pair_is_a_character(alice: Customer) -> None:
    body = json.dumps(alice.body(messages=[{**QUESTION, "content": "\U0001f600 " * 20}]))
    assert r"\ud83d\ude00" in body
    assert alice.post(content=body.encode()).status_code == 200


def test_a_nul_character_in_a_message_is_named(alice: Customer) -> None:
    response = alice.chat(messages=[{**QUESTION, "content": "before\0after"}])
    assert "NUL" in refusal(response, 400, "invalid_body")["message"]
    alice.assert_nothing_billed()


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "nonsense"])
def test_a_compressed_body_is_refused(alice: Customer, encoding: str) -> None:
    response = alice.post(content=b"\x1f\x8b", headers={"Content-Encoding": encoding})
    assert "uncompressed" in refusal(response, 400, "invalid_body")["message"]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/xml", "é"]
)
def test_the_content_type_does_not_matter(alice: Customer, content_type: str) -> None:
    response = alice.post(
        content=json.dumps(alice.body()).encode(),
        headers={"Content-Type": content_type.encode("latin-1")},  # type: ignore[dict-item]
    )
    assert response.status_code == 200


# --- Fields of the wrong type ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"model": None},
        {"model": 5},
        {"model": ["gpt-6-luna"]},
        {"messages": None},
        {"messages": "Hello"},
        {"messages": {}},
        {"messages": [None]},
        {"messages": ["Hello"]},
        {"messages": [{}]},
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]},
        {"messages": [{"role": "user", "content": ["Hello"]}]},
        {"messages": [{"role": "user", "content": [{"text": "Hello"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
        {"messages": [{"role": 5, "content": "Hello"}]},
        {"messages": [{"role": None, "content": "Hello"}]},
        {"messages": [{"role": "narrator", "content": "Hello"}, QUESTION]},
        {"messages": [{"content": "Hello"}]},
        {"stream": "yes"},
        {"stream": 1},
        {"stream_options": []},
        {"stream_options": {"include_usage": "yes"}},
        {"max_tokens": 0},
        {"max_tokens": -1},
        {"max_tokens": -(10**9)},
        {"max_tokens": 1.5},
        {"max_tokens": "5"},
        {"max_tokens": True},
        {"max_tokens": []},
        {"max_completion_tokens": 0},
        {"max_completion_tokens": -1},
        {"max_tokens": 5, "max_completion_tokens": 0},
        {"max_tokens": 0, "max_completion_tokens": 5},
        {"reasoning_effort": 5},
        {"reasoning_effort": ["low"]},
        {"reasoning_effort": {"effort": "low"}},
    ],
    ids=lambda fields: json.dumps(fields)[:60],
)
def test_a_value_of_the_wrong_kind_is_refused(alice: Customer, fields: dict[str, Any]) -> None:
    refusal(alice.chat(**fields), 400, "invalid_body")
    alice.assert_nothing_billed()


@pytest.mark.parametrize("missing", ["model", "messages"])
def test_a_field_that_is_missing_is_named(alice: Customer, missing: str) -> None:
    body = alice.body()
    del body[missing]
    error = refusal(alice.post(json=body), 400, "invalid_body")
    assert missing in error["message"]


def test_a_number_too_long_to_be_read_is_refused(alice: Customer) -> None:
    refusal(alice.post(content=raw(f'"max_tokens":{"9" * 5000}')), 400, "invalid_body")


@pytest.mark.parametrize("number", ["1e400", "-1e999", "[1e999]", "9" * 5000])
@pytest.mark.parametrize("field", ["temperature", "made_up", "output_compression"])
@pytest.mark.parametrize("path", [CHAT, EMBEDDINGS, IMAGES])
def test_a_number_that_nobody_reads_may_be_of_any_size(
    alice: Customer, path: str, field: str, number: str
) -> None:
    body = {
        CHAT: alice.body(),
        EMBEDDINGS: {"model": EMBEDDING, "input": alice.prompt()},
        IMAGES: {"model": IMAGE_MODEL, "prompt": alice.prompt("A red boat.")},
    }[path]
    content = json.dumps({**body, field: "HERE"}).replace('"HERE"', number).encode()
    for _ in range(2):
        response = alice.post(path, content=content, headers={"Idempotency-Key": "once"})
        assert response.status_code == 200, response.text
        assert response.headers["x-ignored-parameters"] == field
    assert len(alice.charges()) == 1


def test_the_last_of_two_equal_names_counts(alice: Customer) -> None:
    response = alice.post(content=raw('"model":"no-such-model"'))
    refusal(response, 404, "model_not_found")


# --- Messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": None}],
        [{"role": "user"}],
        [{"role": "user", "content": " \n\t\u00a0"}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "text", "text": ""}]}],
        [{"role": "user", "content": [{"type": "text", "text": None}]}],
        [{"role": "user", "content": [IMAGE]}],
        [{"role": "user", "content": [{"type": "image_url", "text": "Hello"}]}],
        [{"role": "system", "content": "Hello"}],
        [{"role": "assistant", "content": "Hello"}],
        [{"role": "tool", "content": "Hello", "tool_call_id": "1"}],
        [{"role": "function", "content": "Hello", "name": "f"}],
    ],
    ids=lambda messages: json.dumps(messages)[:60],
)
def test_a_request_without_user_text_is_refused(alice: Customer, messages: list[Any]) -> None:
    refusal(alice.chat(messages=messages), 400, "invalid_messages")
    alice.assert_nothing_billed()


def test_200_messages_are_taken(alice: Customer) -> None:
    assert alice.chat(messages=[QUESTION] * 200).status_code == 200


def test_201_messages_are_refused_with_their_number(alice: Customer) -> None:
    error = refusal(alice.chat(messages=[QUESTION] * 201), 400, "invalid_messages")
    assert "200" in error["message"]
    assert "201" in error["message"]
    alice.assert_nothing_billed()


def test_tool_messages_count_to_the_200(alice: Customer) -> None:
    tool = {"role": "tool", "content": "42", "tool_call_id": "1"}
    refusal(alice.chat(messages=[QUESTION, *[tool] * 200]), 400, "invalid_messages")


@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_400_000_characters_are_taken_whatever_their_bytes(alice: Customer, letter: str) -> None:
    messages = [{"role": "user", "content": letter * 200_000}] * 2
    assert alice.chat(messages=messages, model="deepseek-v4-pro").status_code == 200


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_400_001_characters_are_refused_whoever_says_them(alice: Customer, role: str) -> None:
    messages = [{"role": role, "content": "a" * 399_989}, QUESTION]
    refusal(alice.chat(messages=messages), 400, "input_too_long")
    alice.assert_nothing_billed()


# --- Bodies that are too large --------------------------------------------------------------------


@pytest.mark.parametrize("announced", [True, False], ids=["content-length", "chunked"])
@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [(None, 400, "input_too_long"), ({"Authorization": ""}, 401, "missing_api_key")],
    ids=["with-key", "without-key"],
)
def test_50_megabytes_are_answered_and_not_kept(
    alice: Customer,
    headers: dict[str, str] | None,
    status: int,
    code: str,
    announced: bool,
) -> None:
    upload = alice.upload(50, announced=announced, headers=headers)
    refusal(upload.response, status, code, keyed=status == 400)
    assert upload.growth < 32_000_000
    alice.assert_nothing_billed()


def test_a_client_that_first_sends_everything_gets_the_answer(alice: Customer) -> None:
    """One that asks for the connection to be closed: closing it early would break its sending."""
    headers = {**alice.headers, "Connection": "close"}
    connection = HTTPConnection(LOOPBACK, alice.web.port, timeout=20)
    with closing(connection):
        connection.request("POST", "/v1/chat/completions", b"a" * 50_000_000, headers)
        answer = connection.getresponse()
        assert answer.status == 400
        assert b'"input_too_long"' in answer.read()


def test_after_a_body_that_was_too_large_the_service_answers(
    alice: Customer, http: httpx.Client
) -> None:
    alice.upload(50, announced=True)
    assert alice.chat().status_code == 200
