"""What was sent and has no effect is named in a header, and nothing else is."""

from typing import Any

import pytest

from publicapi.tests.v1.customer import CHAT, EMBEDDING, EMBEDDINGS, IMAGES, Customer

HEADER = "x-ignored-parameters"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def named(response: Any) -> str | None:
    assert response.status_code == 200, response.text
    header: str | None = response.headers.get(HEADER)
    return header


@pytest.mark.parametrize("stream", [False, True])
def test_they_are_named_in_order_on_streams_too(alice: Customer, stream: bool) -> None:
    response = alice.chat(
        stream=stream,
        tools=[TOOL],
        tool_choice="required",
        response_format={"type": "json_object"},
        n=3,
        temperature=0,
    )
    assert named(response) == "n, response_format, temperature, tool_choice, tools"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"max_tokens": 5, "stream_options": {"include_usage": True}},
        {"tools": None, "stop": None, "user": None, "seed": None},
        {"tools": [], "stop": [], "logit_bias": {}, "metadata": {}, "user": ""},
        {"n": 1, "temperature": 1, "top_p": 1.0, "presence_penalty": 0, "frequency_penalty": 0.0},
        {"logprobs": False, "store": False, "parallel_tool_calls": True},
        {"tool_choice": "none", "response_format": {"type": "text"}},
        {"tool_choice": "auto", "service_tier": "auto", "modalities": ["text"]},
        {"reasoning_effort": None},
        {"reasoning_effort": "low"},
    ],
    ids=str,
)
def test_what_asks_for_nothing_is_not_named(alice: Customer, fields: dict[str, Any]) -> None:
    assert named(alice.chat(**fields)) is None


@pytest.mark.parametrize("effort", ["a lot", "none"])
def test_an_effort_that_is_none_of_ours_is_named(alice: Customer, effort: str) -> None:
    assert named(alice.chat(reasoning_effort=effort)) == "reasoning_effort"


def test_an_effort_for_a_model_that_does_not_reason_is_named(alice: Customer) -> None:
    """It is not served here; the refusal says so all the same."""
    response = alice.chat(model="smollm2-135m", reasoning_effort="high")
    assert (response.status_code, response.headers[HEADER]) == (503, "reasoning_effort")


def test_parts_and_messages_that_are_left_out_are_named(alice: Customer) -> None:
    content = [{"type": "text", "text": alice.prompt(tokens=2)}, IMAGE, {"type": "input_audio"}]
    messages = [
        {"role": "user", "content": content},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        {"role": "function", "content": "43", "name": "f"},
    ]
    expected = "messages.function, messages.image_url, messages.input_audio, messages.tool"
    assert named(alice.chat(messages=messages)) == expected


@pytest.mark.parametrize(
    "name", ["a b", "a\r\nset-cookie: x", "é", "\u202e", "a,b", "x" * 65, "<script>", ""]
)
def test_a_name_that_could_not_stand_in_a_header_is_told_as_other(
    alice: Customer, name: str
) -> None:
    fields: dict[str, Any] = {name: 5, "seed": 4}
    response = alice.chat(**fields)
    assert named(response) == "other, seed"
    assert "set-cookie" not in response.headers


def test_a_kind_of_part_that_a_client_made_up_is_told_as_other(alice: Customer) -> None:
    content = [{"type": "text", "text": alice.prompt(tokens=2)}, {"type": "x\r\ny"}]
    assert named(alice.chat(messages=[{"role": "user", "content": content}])) == "other"


def test_not_more_than_32_are_told(alice: Customer) -> None:
    fields: dict[str, Any] = {f"field_{number:03}": 1 for number in range(1000)}
    header = named(alice.chat(**fields))
    assert header is not None
    names = header.split(", ")
    assert names == [f"field_{number:03}" for number in range(32)] + ["..."]


def test_not_more_than_a_thousand_fields_are_looked_at(alice: Customer) -> None:
    fields: dict[str, Any] = {f"field_{number:05}": 1 for number in reversed(range(40_000))}
    header = named(alice.chat(**fields))
    # Two of the thousand are the model and the messages.
    assert header is not None
    assert header.split(", ")[0] == "field_39002"


def test_not_more_than_a_thousand_parts_are_looked_at(alice: Customer) -> None:
    text = {"type": "text", "text": alice.prompt(tokens=2)}
    content = [text, *[{"type": f"{number:05}"} for number in reversed(range(20_000))]]
    header = named(alice.chat(messages=[{"role": "user", "content": content}]))
    assert header is not None
    assert header.split(", ")[0] == "messages.19001"


def test_fields_of_messages_are_named(alice: Customer) -> None:
    """As in what agents send of their past turns."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": alice.prompt(tokens=2), "name": "alice"},
        {"role": "assistant", "content": None, "tool_calls": [call], "audio": None},
        {"role": "assistant", "function_call": {}, "tool_calls": [], "refusal": "No."},
    ]
    expected = "messages.name, messages.refusal, messages.tool_calls"
    assert named(alice.chat(messages=turns)) == expected


@pytest.mark.parametrize("path", [CHAT, EMBEDDINGS, IMAGES])
def test_where_there_is_no_such_model_too(alice: Customer, path: str) -> None:
    content = {CHAT: "messages", EMBEDDINGS: "input", IMAGES: "prompt"}[path]
    sent = alice.body()["messages"] if path == CHAT else "A boat."
    response = alice.post(path, json={"model": "gpt-9", content: sent, "made_up": 1})
    assert (response.status_code, response.headers[HEADER]) == (404, "made_up")


def test_on_refusals_too(alice: Customer) -> None:
    response = alice.chat(tools=[TOOL], steer={"blocked": True})
    assert (response.status_code, response.headers[HEADER]) == (400, "tools")


def test_embeddings_and_images_name_theirs(alice: Customer) -> None:
    body = {"model": EMBEDDING, "input": alice.prompt(), "user": "u", "encoding_format": None}
    assert named(alice.post(EMBEDDINGS, json=body)) == "user"
    assert named(alice.draw(style="vivid", background="auto", n=1)) == "style"
