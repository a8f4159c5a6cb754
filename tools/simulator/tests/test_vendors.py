"""Each vendor's dialect of the shared wire: where usage stands, how reasoning and errors look."""

from typing import Any

import httpx
import pytest

from simulator.tests.conftest import Caller, events


def stream(caller: Caller, provider: str, **options: object) -> list[dict[str, Any]]:
    return events(caller.post(caller.body(stream=True, **options), provider).text)


@pytest.mark.parametrize("provider", ["deepseek", "mistral", "zai", "groq", "together"])
def test_usage_stands_on_the_finish_chunk(caller: Caller, provider: str) -> None:
    last = stream(caller, provider, tokens=4)[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"]["completion_tokens"] == 4


def test_groq_repeats_usage_under_its_own_name(caller: Caller) -> None:
    chunks = stream(caller, "groq", tokens=4)
    assert chunks[-1]["x_groq"]["usage"] == chunks[-1]["usage"]
    assert "id" in chunks[0]["x_groq"]


def test_xai_counts_reasoning_beside_the_completion(caller: Caller) -> None:
    usage = caller.post(caller.body(tokens=6, reasoning_tokens=64), "xai").json()["usage"]
    assert usage["completion_tokens"] == 6
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 64
    assert usage["total_tokens"] == usage["prompt_tokens"] + 70


@pytest.mark.parametrize("provider", ["openai", "xai", "qwen", "openrouter", "ollama", "vllm"])
def test_usage_is_a_chunk_of_its_own_if_asked_for(caller: Caller, provider: str) -> None:
    body = caller.body(stream=True, tokens=4) | {"stream_options": {"include_usage": True}}
    *chunks, last = events(caller.post(body, provider).text.removeprefix(": OPENROUTER PROCESSING"))
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 4
    assert {chunk["usage"] for chunk in chunks} == {None}


def test_moonshot_puts_usage_into_the_choice(caller: Caller) -> None:
    choice = stream(caller, "moonshot", tokens=4)[-1]["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["usage"]["completion_tokens"] == 4


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        ("openai", ("prompt_tokens_details", "cached_tokens")),
        ("xai", ("prompt_tokens_details", "cached_tokens")),
        ("deepseek", ("prompt_cache_hit_tokens",)),
        ("qwen", ("prompt_tokens_details", "cached_tokens")),
        ("moonshot", ("cached_tokens",)),
        ("mistral", ("num_cached_tokens",)),
        ("zai", ("prompt_tokens_details", "cached_tokens")),
        ("groq", ("prompt_tokens_details", "cached_tokens")),
        ("together", ("cached_tokens",)),
        ("openrouter", ("prompt_tokens_details", "cached_tokens")),
        ("vllm", ("prompt_tokens_details", "cached_tokens")),
    ],
)
def test_cached_tokens_are_part_of_the_prompt(
    caller: Caller, provider: str, place: tuple[str, ...]
) -> None:
    usage = caller.post(caller.body(cached_tokens=3), provider).json()["usage"]
    count = usage
    for name in place:
        count = count[name]
    assert count == caller.entry()["cached_tokens"] == 3
    assert usage["prompt_tokens"] == caller.entry()["prompt_tokens"] > 3


def test_no_more_is_cached_than_was_asked(caller: Caller) -> None:
    caller.post(caller.body(cached_tokens=100_000))
    assert caller.entry()["cached_tokens"] == caller.entry()["prompt_tokens"]


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ("xai", "reasoning_content"),
        ("deepseek", "reasoning_content"),
        ("qwen", "reasoning_content"),
        ("moonshot", "reasoning_content"),
        ("zai", "reasoning_content"),
        ("vllm", "reasoning_content"),
        ("groq", "reasoning"),
        ("together", "reasoning"),
        ("openrouter", "reasoning"),
        ("ollama", "reasoning"),
    ],
)
def test_reasoning_is_streamed_before_the_words(caller: Caller, provider: str, field: str) -> None:
    body = caller.body(stream=True, tokens=2, reasoning_tokens=3, delta_tokens=1)
    answer = caller.post(body, provider).text.removeprefix(": OPENROUTER PROCESSING")
    deltas = [chunk["choices"][0]["delta"] for chunk in events(answer)]
    spoken = [next(iter(delta)) for delta in deltas if field in delta or delta.get("content")]
    assert spoken == [field] * 3 + ["content"] * 2
    assert caller.entry()["reasoning_emitted"] == 3
    assert caller.entry()["tokens_emitted"] == 2


def test_mistral_thinks_in_the_content(caller: Caller) -> None:
    body = caller.body(tokens=1, reasoning_tokens=2)
    thinking, text = caller.post(body, "mistral").json()["choices"][0]["message"]["content"]
    assert (thinking["type"], text["type"]) == ("thinking", "text")
    assert len(thinking["thinking"][0]["text"].split()) == 2
    deltas = [
        chunk["choices"][0]["delta"].get("content")
        for chunk in stream(caller, "mistral", tokens=1, reasoning_tokens=2)
    ]
    assert [type(content) for content in deltas] == [str, list, list, str, type(None)]


def test_openai_bills_reasoning_and_never_shows_it(caller: Caller) -> None:
    answer = caller.post(caller.body(tokens=6, reasoning_tokens=64))
    assert answer.json()["usage"]["completion_tokens"] == 70
    assert "reasoning_content" not in answer.text


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ("openai", "max_tokens"),
        ("mistral", "max_completion_tokens"),
        ("mistral", "stream_options"),
    ],
)
def test_a_field_that_a_vendor_does_not_know_is_refused(
    caller: Caller, provider: str, field: str
) -> None:
    body = caller.body() | {field: {} if field == "stream_options" else 5}
    answer = caller.post(body, provider)
    assert answer.status_code == 400
    assert field in answer.text


@pytest.mark.parametrize(
    ("provider", "shape"),
    [
        ("openai", {"error"}),
        ("moonshot", {"error"}),
        ("xai", {"code", "error"}),
        ("mistral", {"object", "message", "type", "param", "code"}),
    ],
)
def test_errors_have_the_vendors_own_shape(caller: Caller, provider: str, shape: set[str]) -> None:
    assert caller.post(caller.body(status=500), provider).json().keys() == shape


@pytest.mark.parametrize(
    ("provider", "status", "code"),
    [
        ("zai", 429, "1302"),
        ("zai", 401, "1000"),
        ("openrouter", 502, 502),
        ("vllm", 404, 404),
        ("groq", 498, "invalid_value"),
    ],
)
def test_codes_are_the_vendors_own(
    caller: Caller, provider: str, status: int, code: str | int
) -> None:
    answer = caller.post(caller.body(status=status), provider)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


def test_openrouter_comments_and_fails_in_a_chunk(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, fail="after", status=502), "openrouter")
    assert answer.status_code == 200
    comment, *_, error = [line for line in answer.text.splitlines() if line]
    assert comment == ": OPENROUTER PROCESSING"
    assert '"finish_reason":"error"' in error
    assert '"error":{"code":502' in error


def test_openrouter_can_answer_200_and_mean_an_error(caller: Caller) -> None:
    answer = caller.post(caller.body(error_in_200=True, status=503), "openrouter")
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == 503


@pytest.mark.parametrize(("provider", "word"), [("openai", "content_filter"), ("zai", "sensitive")])
def test_a_model_declines_in_the_vendors_words(caller: Caller, provider: str, word: str) -> None:
    (choice,) = caller.post(caller.body(refusal=True), provider).json()["choices"]
    assert choice["finish_reason"] == word
    assert choice["message"]["content"] == ""


def test_openai_has_a_field_for_a_refusal_where_a_form_was_asked_for(caller: Caller) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    form = {"name": "a", "schema": schema, "strict": True}
    fields = {"response_format": {"type": "json_schema", "json_schema": form}}
    (choice,) = caller.post(caller.body(refusal=True, text="I do not.") | fields).json()["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"] | {"annotations": []} == {
        "role": "assistant",
        "content": None,
        "refusal": "I do not.",
        "annotations": [],
    }
    body = caller.body(stream=True, refusal=True, text="I do not.") | fields
    choices = [chunk["choices"][0] for chunk in events(caller.post(body).text)]
    assert "".join(choice["delta"].get("refusal") or "" for choice in choices) == "I do not."
    assert choices[-1]["finish_reason"] == "stop"


@pytest.mark.parametrize(("provider", "code"), [("openai", "content_filter"), ("zai", "1301")])
def test_a_prompt_that_moderation_stops_is_refused(
    caller: Caller, provider: str, code: str
) -> None:
    answer = caller.post(caller.body(blocked=True), provider)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


def test_xai_can_answer_a_stream_with_plain_json(caller: Caller) -> None:
    answer = caller.post(caller.body(stream=True, error_in_200=True), "xai")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == {"code", "error"}


def test_one_key_is_wrong_everywhere(caller: Caller) -> None:
    for provider in ("openai", "xai", "zai"):
        url = caller.simulator.base_url(provider) + "/chat/completions"
        headers = {"authorization": "Bearer wrong"}
        assert httpx.post(url, json=caller.body(), headers=headers).status_code == 401


def test_a_key_is_required_but_for_local_models(caller: Caller) -> None:
    without = {"authorization": ""}
    for provider, status in (("openai", 401), ("local", 200)):
        url = caller.simulator.base_url(provider)
        chat = httpx.post(url + "/chat/completions", json=caller.body(), headers=without)
        assert chat.status_code == status
        assert httpx.get(url + "/models", headers=without).status_code == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"model": 1}',
        b'{"model": "m", "messages": []}',
        b'{"model": "m", "messages": [{"role": "user", "content": 5}]}',
        b'{"model": "m", "messages": [{"role": "user", "content": "\xff"}]}',
        b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 0}',
        b"[" * 20_000,
    ],
)
def test_an_invalid_body_is_a_400(caller: Caller, body: bytes) -> None:
    url = caller.simulator.base_url("groq") + "/chat/completions"
    answer = caller.http.post(url, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/openai/v1/chat/completions", 405),
        ("POST", "/openai/v1/models", 405),
        ("POST", "/_journal", 405),
        ("GET", "/", 404),
        ("POST", "/openai/v1/embeddings/no", 404),
        ("POST", "/anthropic/v1/chat/completions", 404),
        ("POST", "/google/v1/embeddings", 404),
    ],
)
def test_other_paths_and_methods_are_refused_as_json(
    caller: Caller, method: str, path: str, status: int
) -> None:
    answer = caller.http.request(method, caller.simulator.url + path)
    assert answer.status_code == status
    assert "message" in answer.json()["error"]
