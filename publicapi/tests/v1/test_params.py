"""Which parameter is to blame: in `param` of the error, as exactly as it can be said."""

from typing import Any

import httpx
import pytest

from publicapi.tests.v1.customer import EMBEDDING, EMBEDDINGS, IMAGE, IMAGES, Customer
from publicapi.tests.v1.errors import refusal

USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"max_completion_tokens": 5, "max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "5"}, "max_tokens"),
        ({"model": 5}, "model"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": 5}}, "stream_options.include_usage"),
        ({"messages": "Hi"}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": [USER, {"role": "user", "content": 5}]}, "messages[1].content"),
        ({"messages": [USER, {"content": "Hi"}]}, "messages[1].role"),
        ({"messages": [USER, {"role": "robot"}]}, "messages[1].role"),
        ({"messages": [USER, {**USER, "content": "a\0b"}]}, "messages[1].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            "messages[0].content[0].text",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_of_a_chat(alice: Customer, fields: dict[str, Any], param: str) -> None:
    error = refusal(alice.chat(**fields), 400, "invalid_body")
    assert error["param"] == param


@pytest.mark.parametrize("missing", ["model", "messages"])
def test_of_what_is_missing(alice: Customer, missing: str) -> None:
    body = alice.body()
    del body[missing]
    assert refusal(alice.post(json=body), 400, "invalid_body")["param"] == missing


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        (EMBEDDINGS, {"model": EMBEDDING, "input": ["a", ""]}, "input[1]"),
        (EMBEDDINGS, {"model": EMBEDDING, "input": ""}, "input"),
        (EMBEDDINGS, {"model": EMBEDDING, "input": ["a", 5]}, "input[1]"),
        (EMBEDDINGS, {"model": EMBEDDING, "input": "a", "dimensions": 0}, "dimensions"),
        (IMAGES, {"model": IMAGE, "prompt": "A boat.", "n": 9}, "n"),
        (IMAGES, {"model": IMAGE, "prompt": "A boat.", "size": "1x1"}, "size"),
        (IMAGES, {"model": IMAGE, "prompt": ""}, "prompt"),
        (IMAGES, {"model": IMAGE, "prompt": "a" * 4001}, "prompt"),
        (IMAGES, {"model": IMAGE, "prompt": "A boat.", "stream": True}, "stream"),
        (IMAGES, {"model": IMAGE}, "prompt"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_of_embeddings_and_images(
    alice: Customer, path: str, body: dict[str, Any], param: str
) -> None:
    response = alice.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("from=x", "from"),
        ("to=2026-02-30", "to"),
        ("from=2026-05-02&to=2026-05-01", "from"),
        ("key=x", "key"),
        ("format=xml", "format"),
    ],
)
def test_of_a_usage_report(alice: Customer, query: str, param: str) -> None:
    assert alice.get(f"/v1/usage?{query}").json()["error"]["param"] == param


@pytest.mark.parametrize("body", [b"", b" \n"])
def test_an_empty_body_is_called_empty(alice: Customer, body: bytes) -> None:
    error = refusal(alice.post(content=body), 400, "invalid_body")
    assert error["message"] == "The body is empty: send a JSON object."
    assert error["param"] is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("gpt-9", "`gpt-9`"),
        ("", "``"),
        ("m" * 5000, f"`{'m' * 64}…`"),
        ("a\r\n`b`\0\u202e", "`a\ufffd\ufffd\ufffdb\ufffd\ufffd\ufffd`"),
    ],
    ids=["short", "empty", "long", "hostile"],
)
def test_a_model_that_there_is_not_is_named(alice: Customer, name: str, shown: str) -> None:
    error = refusal(alice.chat(model=name), 404, "model_not_found")
    assert error["message"] == f"There is no model {shown}. `GET /v1/models` lists them."


def test_a_401_says_how_to_authenticate(http: httpx.Client) -> None:
    missing = http.post("/v1/chat/completions")
    refusal(missing, 401, "missing_api_key", keyed=False)
    assert missing.headers["www-authenticate"] == 'Bearer realm="v1"'
    wrong = http.get("/v1/usage", headers={"Authorization": "Bearer mk_x"})
    refusal(wrong, 401, "invalid_api_key", keyed=False)
    assert wrong.headers["www-authenticate"] == 'Bearer realm="v1", error="invalid_token"'


@pytest.mark.parametrize(
    "text",
    ["\u200b", "\u200b\u200c\u200d\ufeff", " \u2060\u00ad ", "\u3164", "\u2800\ufe0f", "\u202e"],
    ids=ascii,
)
def test_text_of_which_nothing_is_seen_is_no_text(alice: Customer, text: str) -> None:
    refusal(alice.chat(messages=[{"role": "user", "content": text}]), 400, "invalid_messages")
    refusal(alice.draw(prompt=text), 400, "invalid_body")
    assert alice.charges() == []
