"""Gemini's wire: parts of calls and results, thought signatures, and what is refused of them."""

import json
from typing import Any

import httpx
import pytest

from simulator.tests.conftest import Caller

MODEL = "gemini-3.8-flash"
SCHEMA = {"type": "object", "properties": {"city_name": {"type": "string"}}}
WEATHER = {"name": "get_weather", "parametersJsonSchema": SCHEMA | {"required": ["city_name"]}}
ASKED = {"role": "user", "parts": [{"text": "The weather in Paris?"}]}
PART = {"functionCall": {"name": "get_weather", "args": {"city_name": "Paris"}}}
UNSIGNED = {"role": "model", "parts": [PART]}
CALLED = {
    "role": "model",
    "parts": [PART | {"thoughtSignature": "skip_thought_signature_validator"}],
}
GIVEN = {"functionResponse": {"name": "get_weather", "response": {"output": "18 degrees"}}}
ANSWERED = {"role": "user", "parts": [GIVEN]}
SAID = {"role": "model", "parts": [{"text": "18 degrees."}]}


def post(
    caller: Caller,
    *contents: dict[str, Any],
    method: str = "generateContent",
    model: str = MODEL,
    **fields: object,
) -> httpx.Response:
    url = f"{caller.simulator.url}/google/v1beta/models/{model}:{method}"
    body = {"contents": contents, "tools": [{"functionDeclarations": [WEATHER]}]} | fields
    return caller.http.post(url, json=body, headers={"x-goog-api-key": "alice"})


def candidate(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["candidates"][0]
    return found


def calls(answer: httpx.Response) -> list[dict[str, Any]]:
    parts = candidate(answer)["content"].get("parts", [])
    return [part["functionCall"] for part in parts if "functionCall" in part]


def test_a_call_is_signed_and_its_result_is_quoted(caller: Caller) -> None:
    first = post(caller, ASKED)
    (part,) = candidate(first)["content"]["parts"]
    assert part["functionCall"]["args"] == {"city_name": "Paris"}
    assert part["functionCall"]["id"]
    assert part["thoughtSignature"]
    assert candidate(first)["finishReason"] == "STOP"
    told = candidate(post(caller, ASKED, {"role": "model", "parts": [part]}, ANSWERED))
    assert told["content"]["parts"] == [{"text": "get_weather says: 18 degrees"}]


def test_the_first_of_parallel_calls_alone_is_signed(caller: Caller) -> None:
    question = {"role": "user", "parts": [{"text": "The weather in Paris and Rome?"}]}
    whole = candidate(post(caller, question))["content"]["parts"]
    stream = post(caller, question, method="streamGenerateContent?alt=sse")
    lines = [line for line in stream.text.splitlines() if line.startswith("data: ")]
    chunks = [json.loads(line.removeprefix("data: "))["candidates"][0] for line in lines]
    streamed = [part for chunk in chunks for part in chunk["content"].get("parts", [])]
    assert streamed.pop() == {"text": ""}
    for parts in (whole, streamed):
        called = [part["functionCall"] for part in parts]
        assert [call["args"]["city_name"] for call in called] == ["Paris", "Rome"]
        assert len({call["id"] for call in called}) == 2
        assert ["thoughtSignature" in part for part in parts] == [True, False]
    assert chunks[-1]["finishReason"] == "STOP"


def test_a_call_that_a_bound_cuts_does_not_come(caller: Caller) -> None:
    generation = {"maxOutputTokens": 1}
    for method in ("generateContent", "streamGenerateContent?alt=sse"):
        answer = post(caller, ASKED, method=method, generationConfig=generation)
        assert "functionCall" not in answer.text
        assert "MAX_TOKENS" in answer.text


def test_malformed_arguments_are_a_finish_reason(caller: Caller) -> None:
    steered = caller.prompt(tool_calls=[{"name": "get_weather", "arguments": "{"}])
    answer = post(caller, {"role": "user", "parts": [{"text": steered}]})
    assert candidate(answer)["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert calls(answer) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"mode": "NONE"}, []),
        ({"mode": "AUTO"}, []),
        ({"mode": "VALIDATED"}, []),
        ({"mode": "ANY"}, ["get_weather"]),
        ({"mode": "ANY", "allowedFunctionNames": ["add"]}, ["add"]),
    ],
)
def test_a_mode_is_obeyed(caller: Caller, config: dict[str, Any], expected: list[str]) -> None:
    greeting = {"role": "user", "parts": [{"text": "Good morning!"}]}
    tools = [{"functionDeclarations": [WEATHER, {"name": "add"}]}]
    choice = {"functionCallingConfig": config}
    answer = post(caller, greeting, tools=tools, toolConfig=choice)
    assert [call["name"] for call in calls(answer)] == expected


@pytest.mark.parametrize(
    ("contents", "fields", "words"),
    [
        ([ASKED, UNSIGNED, ANSWERED], {}, "`default_api:get_weather` , position 2"),
        (
            [ASKED, {"role": "model", "parts": [PART | {"thoughtSignature": "AAAA"}]}, ANSWERED],
            {},
            "thought signature",
        ),
        ([ASKED, CALLED, ASKED], {}, "number of function response parts"),
        ([ASKED, ANSWERED], {}, "number of function response parts"),
        ([CALLED, ANSWERED], {}, "comes immediately after a user turn"),
        (
            [ASKED],
            {"tools": [{"functionDeclarations": [{"name": "1st"}]}]},
            "Invalid function name",
        ),
        ([ASKED], {"tools": [{"functionDeclarations": [{"name": "a" * 65}]}]}, "maximum length"),
        ([ASKED], {"tools": [{"functionDeclarations": [WEATHER] * 2}]}, "Duplicate function"),
        ([ASKED], {"tools": [{"functionDeclarations": [WEATHER] * 129}]}, "at most 128"),
        (
            [ASKED],
            {"toolConfig": {"functionCallingConfig": {"mode": "SOME"}}},
            "Invalid JSON payload",
        ),
        (
            [ASKED],
            {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["get_weather"]}}},
            "Allowed function names",
        ),
        ([ASKED], {"generationConfig": {"responseJsonSchema": SCHEMA}}, "response_mime_type"),
    ],
)
def test_what_gemini_refuses_is_refused(
    caller: Caller, contents: list[dict[str, Any]], fields: dict[str, Any], words: str
) -> None:
    answer = post(caller, *contents, **fields)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("contents", "model"),
    [
        ([ASKED, CALLED, ANSWERED], MODEL),
        ([ASKED, UNSIGNED, ANSWERED], "gemini-2.5-flash"),
        # An earlier turn needs no signatures.
        ([ASKED, UNSIGNED, ANSWERED, SAID, ASKED], MODEL),
    ],
)
def test_signatures_are_wanted_by_newer_models_in_the_current_turn(
    caller: Caller, contents: list[dict[str, Any]], model: str
) -> None:
    assert post(caller, *contents, model=model).status_code == 200


def test_an_answer_has_the_form_that_was_asked_for(caller: Caller) -> None:
    for name in ("responseJsonSchema", "response_schema"):
        form = {"responseMimeType": "application/json", name: WEATHER["parametersJsonSchema"]}
        answer = post(caller, ASKED, tools=None, generationConfig=form)
        (part,) = candidate(answer)["content"]["parts"]
        assert json.loads(part["text"]) == {"city_name": "Paris"}
