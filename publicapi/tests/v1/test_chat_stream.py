"""POST /v1/chat/completions, streamed."""

import json
import re
import time
from typing import Any

import httpx
import pytest

from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.errors import RATE_HEADERS

Chunk = dict[str, Any]


def frames(response: httpx.Response) -> list[str]:
    """The data of every event; a stream has nothing else in it, and ends with [DONE]."""
    assert response.status_code == 200, response.text
    blocks = response.text.split("\n\n")
    assert blocks.pop() == ""
    assert all(re.fullmatch(r"data: [^\n]*", block) for block in blocks)
    assert blocks[-1] == "data: [DONE]"
    return [block.removeprefix("data: ") for block in blocks[:-1]]


def chunks(response: httpx.Response) -> list[Chunk]:
    return [json.loads(frame) for frame in frames(response)]


def text_of(stream: list[Chunk], name: str = "content") -> str:
    return "".join(chunk["choices"][0]["delta"].get(name, "") for chunk in stream)


def test_the_chunks_have_the_shape_that_clients_know(alice: Customer) -> None:
    steer = {"text": "Fine, thank you.", "delta_tokens": 1}
    stream = chunks(alice.chat(stream=True, steer=steer))

    first, *deltas, last = stream
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [chunk["choices"][0]["delta"] for chunk in deltas] == [
        {"content": "Fine,"},
        {"content": " thank"},
        {"content": " you."},
    ]
    for chunk in (first, *deltas):
        assert set(chunk) == {"id", "object", "created", "model", "choices"}
        assert set(chunk["choices"][0]) == {"index", "delta", "logprobs", "finish_reason"}
        assert chunk["choices"][0]["finish_reason"] is None
    assert last["choices"] == [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}]
    prompt_tokens = alice.provider_call()["prompt_tokens"]
    assert last["usage"] == {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": 3,
        "total_tokens": prompt_tokens + 3,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_every_chunk_belongs_to_the_same_completion(alice: Customer) -> None:
    stream = chunks(alice.chat(stream=True))
    heads = {(c["id"], c["object"], c["created"], c["model"]) for c in stream}
    [(name, kind, created, model)] = heads
    assert name == f"chatcmpl-{alice.charge().id.hex}"
    assert (kind, model) == ("chat.completion.chunk", IN_PLAN)
    assert time.time() - 10 < created <= time.time()


def test_the_headers_forbid_buffering_and_carry_the_rate(alice: Customer) -> None:
    response = alice.chat(stream=True)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    assert re.fullmatch(r"req_[0-9a-f]{32}", response.headers["x-request-id"])
    assert [response.headers[name] for name in RATE_HEADERS] == ["120", "119", "60"]
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}])
def test_usage_stands_on_the_last_chunk_alone(
    alice: Customer, options: dict[str, bool] | None
) -> None:
    *others, last = chunks(alice.chat(stream=True, stream_options=options))
    assert not any("usage" in chunk for chunk in others)
    assert last["usage"]["completion_tokens"] == 3


def test_where_usage_is_asked_for_the_other_chunks_say_null(alice: Customer) -> None:
    options = {"include_usage": True}
    steer = {"tokens": 3, "delta_tokens": 1}
    *others, last = chunks(alice.chat(stream=True, stream_options=options, steer=steer))
    assert len(others) == 4
    assert all(chunk["usage"] is None for chunk in others)
    assert last["usage"]["completion_tokens"] == 3
    assert last["choices"][0]["finish_reason"] == "stop"


def test_the_stream_says_what_the_whole_answer_says(alice: Customer) -> None:
    whole = alice.chat(steer={}).json()
    stream = chunks(alice.chat(stream=True, steer={}))
    assert text_of(stream) == whole["choices"][0]["message"]["content"]
    assert stream[-1]["usage"] == whole["usage"]


def test_reasoning_is_streamed_apart(alice: Customer) -> None:
    steer = {"text": "Yes.", "reasoning_tokens": 4}
    stream = chunks(alice.chat(model="deepseek-v4-pro", stream=True, steer=steer))
    assert text_of(stream, "reasoning_content") == "The question is read,"
    assert text_of(stream) == "Yes."
    assert stream[-1]["usage"]["completion_tokens_details"] == {"reasoning_tokens": 4}


def test_an_answer_without_a_word_is_a_first_and_a_last_chunk(alice: Customer) -> None:
    stream = chunks(alice.chat(stream=True, steer={"text": ""}))
    assert [chunk["choices"][0]["finish_reason"] for chunk in stream] == [None, "stop"]
    assert alice.charge().tokens_out == 0


@pytest.mark.parametrize("manner", ["comments", "crlf", "split"])
def test_the_providers_manner_of_framing_is_not_passed_on(alice: Customer, manner: str) -> None:
    said = "Grüße aus 北京."
    stream = chunks(alice.chat(stream=True, steer={"text": said, manner: True}))
    assert text_of(stream) == said


def test_text_leaves_as_it_comes(alice: Customer) -> None:
    """The provider waits a quarter of a second after each word."""
    body = alice.body(stream=True, steer={"tokens": 3, "delay_ms": 250})
    arrivals: list[float] = []
    with alice.http.stream(
        "POST", "/v1/chat/completions", json=body, headers=alice.headers
    ) as response:
        for line in response.iter_lines():
            if '"content":" ' in line or '"content":"Y' in line:
                arrivals.append(time.monotonic())
    assert len(arrivals) == 3
    assert arrivals[-1] - arrivals[0] > 0.2


def test_one_connection_carries_one_stream_after_another(alice: Customer) -> None:
    for _ in range(3):
        steer = {"tokens": 3, "delta_tokens": 1}
        assert len(chunks(alice.chat(stream=True, steer=steer))) == 5
    assert alice.chat().status_code == 200
