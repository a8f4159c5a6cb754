"""What clients send that means nothing here: it is taken, and changes nothing."""

import json
from typing import Any

import pytest

from publicapi.tests.v1.customer import Customer

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
TOOL_CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": None},
        {"max_completion_tokens": None},
        {"max_tokens": 10**9},
        {"max_tokens": 10**400},
        {"stream": None},
        {"stream": False, "stream_options": {"include_usage": True}},
        {"stream_options": None},
        {"stream_options": {}},
        {"reasoning_effort": None},
        {"reasoning_effort": ""},
        {"reasoning_effort": "none"},
        {"reasoning_effort": "minimal"},
        {"reasoning_effort": "xhigh"},
        {"reasoning_effort": "a lot"},
        {"temperature": 2, "top_p": 0, "n": 3, "seed": None, "stop": ["."], "logprobs": True},
        {"temperature": "hot", "tools": "many", "response_format": 5},
        {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"},
        {"something": {"nobody": ["knows"]}},
    ],
    ids=lambda fields: json.dumps(fields)[:60],
)
def test_fields_without_a_meaning_here_are_taken(alice: Customer, fields: dict[str, Any]) -> None:
    response = alice.post(content=json.dumps(alice.body(**fields)).encode())
    assert response.status_code == 200, response.text
    assert len(response.json()["choices"]) == 1
    assert response.json()["usage"]["completion_tokens"] == 3


def test_without_a_bound_of_the_clients_8192_tokens_go_upstream(alice: Customer) -> None:
    alice.chat()
    assert alice.provider_call()["max_tokens"] == 8192


def test_a_huge_bound_is_the_models_own(alice: Customer) -> None:
    assert alice.chat(max_tokens=10**9).status_code == 200
    listed = alice.get("/v1/models/gpt-6-luna").json()["max_output_tokens"]
    assert alice.provider_call()["max_tokens"] == listed


def test_images_beside_text_are_ignored(alice: Customer) -> None:
    parts = [IMAGE, {"type": "text", "text": alice.prompt("Look:", tokens=2)}, IMAGE]
    response = alice.chat(messages=[{"role": "user", "content": parts}])
    assert response.status_code == 200
    assert alice.provider_call()["user_text"].startswith("Look:")


def test_text_parts_are_joined(alice: Customer) -> None:
    parts = [{"type": "text", "text": text} for text in ("Hel", "lo", alice.prompt("", tokens=2))]
    alice.chat(messages=[{"role": "user", "content": parts}])
    assert alice.provider_call()["user_text"].startswith("Hello\n@sim")


def test_what_agents_send_back_is_taken_and_stays_here(alice: Customer) -> None:
    question = {"role": "user", "content": alice.prompt("one two", tokens=2)}
    agents_turns = [
        {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]},
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "assistant", "tool_calls": [TOOL_CALL]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "tool", "content": "many words that nobody asked for", "tool_call_id": "1"},
        {"role": "tool", "content": [{"type": "text", "text": "more words"}], "tool_call_id": "1"},
        {"role": "function", "content": "even more words", "name": "f"},
    ]
    assert alice.chat(messages=[question]).status_code == 200
    assert alice.chat(messages=[question, *agents_turns]).status_code == 200
    without, with_turns = alice.provider_calls()
    assert with_turns["prompt_tokens"] == without["prompt_tokens"]
