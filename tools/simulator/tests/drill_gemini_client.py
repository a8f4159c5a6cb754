"""The unmodified Google client understands what the simulator says on Gemini's wire."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google import genai
from google.genai import errors, types

from simulator.tests.conftest import Caller

MODEL = "gemini-3.8-flash"
SHOWN = types.GenerateContentConfig(
    thinking_config=types.ThinkingConfig(
        thinking_level=types.ThinkingLevel.LOW, include_thoughts=True
    )
)


@pytest.fixture
def client(caller: Caller) -> Iterator[genai.Client]:
    url = f"{caller.simulator.url}/google"
    options = types.HttpOptions(base_url=url, api_version="v1beta")
    with genai.Client(api_key="alice", http_options=options) as client:
        yield client


def post(caller: Caller, method: str = "generateContent", **fields: object) -> httpx.Response:
    url = f"{caller.simulator.url}/google/v1beta/models/{MODEL}:{method}"
    body = {"contents": [{"role": "user", "parts": [{"text": caller.prompt()}]}]} | fields
    return caller.http.post(url, json=body, headers={"x-goog-api-key": "alice"})


def text_of(parts: list[types.Part] | None, *, thought: bool = False) -> str:
    return "".join(part.text or "" for part in parts or [] if bool(part.thought) is thought)


def test_a_whole_answer_has_as_many_tokens_as_words(caller: Caller, client: genai.Client) -> None:
    answer = client.models.generate_content(
        model=MODEL,
        contents=caller.prompt(tokens=7),
        config={"system_instruction": "Be brief.", "max_output_tokens": 50},
    )
    usage = answer.usage_metadata
    assert answer.text is not None
    assert usage is not None
    assert len(answer.text.split()) == usage.candidates_token_count == 7
    assert usage.thoughts_token_count is None
    assert usage.prompt_token_count == caller.entry()["prompt_tokens"]
    assert caller.entry()["prompt_tokens"] == len(caller.prompt(tokens=7).split()) + 4 + 2 + 4
    assert caller.entry()["max_tokens"] == 50
    assert caller.entry()["kind"] == "chat"


def test_a_streamed_answer_says_the_same(client: genai.Client) -> None:
    request: dict[str, Any] = {"model": MODEL, "contents": "Which city?", "config": SHOWN}
    whole = client.models.generate_content(**request)
    chunks = list(client.models.generate_content_stream(**request))
    for thought in (True, False):
        streamed = "".join(text_of(chunk.parts, thought=thought) for chunk in chunks)
        assert streamed == text_of(whole.parts, thought=thought) != ""
    assert chunks[-1].usage_metadata == whole.usage_metadata
    assert chunks[-1].candidates is not None
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP


def test_usage_grows_and_excludes_the_thoughts(caller: Caller, client: genai.Client) -> None:
    contents = caller.prompt(tokens=3, reasoning_tokens=5, cached_tokens=4, delta_tokens=1)
    chunks = list(client.models.generate_content_stream(model=MODEL, contents=contents))
    usages = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    assert [usage.candidates_token_count for usage in usages] == [1, 2, 3, 3]
    assert {usage.thoughts_token_count for usage in usages} == {5}
    assert {usage.cached_content_token_count for usage in usages} == {4}
    prompt = caller.entry()["prompt_tokens"]
    assert {usage.prompt_token_count for usage in usages} == {prompt}
    assert usages[-1].total_token_count == prompt + 3 + 5


def test_thoughts_are_shown_only_if_asked_for(caller: Caller, client: genai.Client) -> None:
    contents = caller.prompt(tokens=1, reasoning_tokens=2)
    hidden = client.models.generate_content(model=MODEL, contents=contents)
    shown = client.models.generate_content(model=MODEL, contents=contents, config=SHOWN)
    assert text_of(hidden.parts, thought=True) == ""
    assert len(text_of(shown.parts, thought=True).split()) == 2
    assert [call["reasoning_emitted"] for call in caller.simulator.calls(caller.marker)] == [0, 2]


def test_thoughts_use_up_the_bound_first(caller: Caller, client: genai.Client) -> None:
    answer = client.models.generate_content(
        model=MODEL,
        contents=caller.prompt(reasoning_tokens=20),
        config={"max_output_tokens": 5},
    )
    assert answer.candidates is not None
    assert answer.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS
    assert answer.parts is None
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.candidates_token_count is None
    assert answer.usage_metadata.thoughts_token_count == 5


def test_events_end_with_crlf_and_without_a_word_of_it(caller: Caller) -> None:
    stream = post(caller, "streamGenerateContent?alt=sse")
    assert stream.text.endswith("\r\n\r\n")
    assert "\n" not in stream.text.replace("\r\n", "")
    assert "[DONE]" not in stream.text


def test_a_prompt_that_moderation_stops_is_an_answer_without_candidates(
    caller: Caller, client: genai.Client
) -> None:
    request: dict[str, Any] = {"model": MODEL, "contents": caller.prompt(blocked=True)}
    (chunk,) = client.models.generate_content_stream(**request)
    for answer in (client.models.generate_content(**request), chunk):
        assert answer.candidates is None
        assert answer.prompt_feedback is not None
        assert answer.prompt_feedback.block_reason == types.BlockedReason.PROHIBITED_CONTENT
        assert answer.usage_metadata is not None
        assert answer.usage_metadata.total_token_count == answer.usage_metadata.prompt_token_count


@pytest.mark.parametrize(
    ("option", "reason"), [({"refusal": True}, "SAFETY"), ({"finish": "OTHER"}, "OTHER")]
)
def test_the_finish_reason_can_be_wished_for(
    caller: Caller, client: genai.Client, option: dict[str, Any], reason: str
) -> None:
    answer = client.models.generate_content(model=MODEL, contents=caller.prompt(**option))
    assert answer.candidates is not None
    assert answer.candidates[0].finish_reason == reason


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
    ],
)
def test_a_refusal_is_the_error_the_client_knows(
    caller: Caller, client: genai.Client, status: int, name: str
) -> None:
    with pytest.raises(errors.APIError) as caught:
        client.models.generate_content(model=MODEL, contents=caller.prompt(status=status))
    assert (caught.value.code, caught.value.status) == (status, name)


def test_a_quota_says_its_name_and_when_to_come_back(caller: Caller) -> None:
    steered = caller.prompt(status=429, code="RequestsPerDay", retry_after=34)
    answer = post(caller, contents=[{"parts": [{"text": steered}]}])
    quota, retry = answer.json()["error"]["details"]
    assert quota["violations"] == [{"quotaId": "RequestsPerDay"}]
    assert retry["retryDelay"] == "34s"
    assert "retry-after" not in answer.headers


def test_a_stream_can_end_with_an_error(caller: Caller) -> None:
    steered = caller.prompt(fail="after", after_tokens=2, status=503)
    contents = [{"parts": [{"text": steered}]}]
    stream = post(caller, "streamGenerateContent?alt=sse", contents=contents)
    *words, error = [line for line in stream.text.splitlines() if line]
    assert stream.status_code == 200
    assert len(words) == caller.entry()["tokens_emitted"] == 2
    assert '"status":"UNAVAILABLE"' in error


@pytest.mark.parametrize(
    "fields",
    [
        {"contents": []},
        {"contents": [{"role": "assistant", "parts": [{"text": "Hello."}]}]},
        {"contents": [{"role": "system", "parts": [{"text": "Be brief."}]}]},
        {"contents": [{"role": "user", "parts": []}]},
        {"contents": [{"role": "user", "parts": [{}]}]},
        {"generationConfig": {"maxOutputTokens": 0}},
        {"generationConfig": {"maxOutputTokens": 65_537}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "MAXIMAL"}}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 1}}},
        {"messages": []},
    ],
)
def test_a_field_that_gemini_refuses_is_refused(caller: Caller, fields: dict[str, Any]) -> None:
    answer = post(caller, **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("key", "query", "status", "reason"),
    [
        ("alice", "", 200, None),
        ("", "?key=alice", 200, None),
        ("wrong", "", 400, "API_KEY_INVALID"),
        ("", "?key=wrong", 400, "API_KEY_INVALID"),
        ("", "", 403, None),
    ],
)
def test_a_wrong_key_is_an_invalid_argument(
    caller: Caller, key: str, query: str, status: int, reason: str | None
) -> None:
    url = f"{caller.simulator.url}/google/v1beta/models/{MODEL}:generateContent{query}"
    body = {"contents": [{"parts": [{"text": "Hello."}]}]}
    answer = httpx.post(url, json=body, headers={"x-goog-api-key": key})
    assert answer.status_code == status
    details = answer.json().get("error", {}).get("details", [{}])
    assert details[0].get("reason") == reason


@pytest.mark.parametrize("name", ["maxOutputTokens", "max_output_tokens"])
def test_a_field_may_be_spelled_as_in_json_or_as_in_the_protocol(caller: Caller, name: str) -> None:
    assert post(caller, generationConfig={name: 5}).status_code == 200
    assert caller.entry()["completion_tokens"] == 5
