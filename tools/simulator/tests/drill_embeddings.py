"""OpenAI's embeddings: vectors true to their texts, the limits of the real ones, steered faults."""

import json
import math
from typing import Any

import httpx
import pytest
from openai import BadRequestError, OpenAI

from simulator import bench, process
from simulator.tests.conftest import Caller
from simulator.tests.openai_client import client_of

MODEL = "text-embedding-3-small"


def post(caller: Caller, **fields: object) -> httpx.Response:
    url = caller.simulator.base_url("openai") + "/embeddings"
    return caller.http.post(url, json={"model": MODEL} | fields)


def test_equal_texts_have_equal_vectors_and_others_others(caller: Caller) -> None:
    answer = client_of(caller).embeddings.create(model=MODEL, input=["One.", "Two.", "One."])
    first, second, third = [item.embedding for item in answer.data]
    assert [item.index for item in answer.data] == [0, 1, 2]
    assert len(first) == 1536
    assert first == third != second
    assert math.hypot(*first) == pytest.approx(1)


def test_base64_says_the_same_as_numbers(caller: Caller) -> None:
    embeddings = client_of(caller).embeddings
    packed = embeddings.create(model=MODEL, input="A text.")  # the client asks for base64
    plain = embeddings.create(model=MODEL, input="A text.", encoding_format="float")
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding)


def test_fewer_dimensions_are_the_same_vector_cut_and_scaled(caller: Caller) -> None:
    embeddings = client_of(caller).embeddings
    whole = embeddings.create(model=MODEL, input="A text.").data[0].embedding
    short = embeddings.create(model=MODEL, input="A text.", dimensions=8).data[0].embedding
    length = math.hypot(*whole[:8])
    assert short == pytest.approx([number / length for number in whole[:8]])


@pytest.mark.parametrize(
    ("given", "tokens"),
    [("Three short words", 3), (["One", "two three"], 3), ([1, 2], 2), ([[1], [2, 3]], 3)],
)
def test_usage_counts_words_and_tokens(caller: Caller, given: str | list[str], tokens: int) -> None:
    usage = client_of(caller).embeddings.create(model=MODEL, input=given).usage
    assert usage.prompt_tokens == usage.total_tokens == tokens


@pytest.mark.parametrize("given", ["", [], [""], ["a", ""], ["a", 1], [[]], ["a"] * 2049, 5, None])
def test_an_input_that_cannot_be_embedded_is_refused(caller: Caller, given: object) -> None:
    assert post(caller, input=given).status_code == 400


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("a " * 8193, "context_length_exceeded"),
        (["a " * 8000] * 38, "max_tokens_per_request"),
    ],
)
def test_too_many_tokens_are_refused(caller: Caller, given: str | list[str], code: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        client_of(caller).embeddings.create(model=MODEL, input=given)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "fields", [{"dimensions": 0}, {"dimensions": 1537}, {"encoding_format": "int8"}]
)
def test_an_option_that_the_model_does_not_have_is_refused(
    caller: Caller, fields: dict[str, Any]
) -> None:
    assert post(caller, input="A text.", **fields).status_code == 400


def test_any_text_can_steer(caller: Caller) -> None:
    texts = ["One.", caller.prompt(status=429, retry_after=3), "Three."]
    answer = post(caller, input=texts)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "3"
    assert caller.entry()["outcome"] == "refused"


def test_too_few_vectors_and_too_short_ones_can_be_wished_for(caller: Caller) -> None:
    answer = post(caller, input=["One.", "Two.", caller.prompt(vectors=2, dimensions=7)]).json()
    assert [len(item["embedding"]) for item in answer["data"]] == [7, 7]
    assert (caller.entry()["vectors"], caller.entry()["vectors_emitted"]) == (2, 2)


@pytest.mark.parametrize("option", ["bad_json", "truncate"])
def test_an_answer_can_break_off(caller: Caller, option: str) -> None:
    answer = post(caller, input=caller.prompt(**{option: True}))
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        answer.json()
    assert caller.entry()["vectors_emitted"] == 0


@pytest.mark.parametrize(
    ("option", "usage"),
    [("no_usage", None), ("zero_usage", {"prompt_tokens": 0, "total_tokens": 0})],
)
def test_usage_can_be_missing_or_zero(
    caller: Caller, option: str, usage: dict[str, int] | None
) -> None:
    assert post(caller, input=caller.prompt(**{option: True})).json().get("usage") == usage


def test_the_journal_tells_what_was_embedded(caller: Caller) -> None:
    post(caller, input=[caller.prompt(), "Two words"])
    entry = caller.entry()
    assert entry["kind"] == "embeddings"
    assert entry["model"] == MODEL
    assert entry["prompt_tokens"] == len(caller.prompt().split()) + 2
    assert entry["vectors_emitted"] == 2
    assert entry["outcome"] == "completed"


def test_bench_mode_embeds_as_many_texts_as_are_asked() -> None:
    with process.running("--bench") as simulator:
        client = OpenAI(base_url=simulator.base_url("openai"), api_key="alice", max_retries=0)
        with client:
            one = client.embeddings.create(model="m", input="a text")
            many = client.embeddings.create(model="m", input=["a text"] * 256)
    assert len(one.data) == 1
    assert [item.index for item in many.data] == list(range(256))
    assert len(many.data[-1].embedding) == bench.DIMENSIONS
    assert many.usage.prompt_tokens == 256 * bench.TOKENS_PER_INPUT
