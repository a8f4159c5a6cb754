"""What a completion asks of the provider, byte for byte, and what becomes of strange answers."""

import json
from typing import Any

import pytest

from ai.providers.config import SIMULATED_KEY
from ai.providers.tests import chunks
from common.tests.upstream import JSON, Answer, Upstream
from publicapi.tests.v1.customer import IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.scripted import HELLO, Scripted

WHOLE = {
    "choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}],
    "usage": chunks.usage(),
}


@pytest.fixture
def alice(committed: None, scripted: Scripted, upstream: Upstream) -> Customer:
    return scripted.new_customer()


def asked(upstream: Upstream) -> Any:
    """The body of the one call that the provider got."""
    [call] = upstream.calls
    return call.json


def answer_whole(upstream: Upstream, **changes: Any) -> None:
    upstream.answer = Answer([json.dumps({**WHOLE, **changes}).encode()], content_type=JSON)


# --- What is asked --------------------------------------------------------------------------------


def test_roles_and_text_go_upstream_and_nothing_else_does(
    alice: Customer, upstream: Upstream
) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "Be brief.", "name": "s"},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hi", "name": "Alice"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        {"role": "function", "content": "43", "name": "f"},
        {"role": "assistant", "content": "Well?", "tool_calls": [call]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "user", "content": " "},
    ]
    response = alice.chat(
        messages=messages,
        stream=True,
        max_tokens=9,
        reasoning_effort="medium",
        temperature=0.1,
        tools=[{"type": "function", "function": {"name": "f"}}],
        user="alice@example.com",
        metadata={"a": "b"},
    )
    assert response.status_code == 200
    assert asked(upstream) == {
        "model": "gpt-6-luna",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Well?"},
            {"role": "user", "content": " "},
        ],
        "max_completion_tokens": 9,
        "stream": True,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "medium",
    }


@pytest.mark.parametrize(
    ("sent", "passed_on"),
    [
        ("low", "low"),
        ("minimal", "low"),
        ("high", "high"),
        ("xhigh", "high"),
        ("none", None),
        ("a lot", None),
    ],
)
def test_the_reasoning_effort_is_one_of_three(
    alice: Customer, upstream: Upstream, sent: str, passed_on: str | None
) -> None:
    assert alice.chat(stream=True, reasoning_effort=sent).status_code == 200
    assert asked(upstream).get("reasoning_effort") == passed_on


def test_the_platforms_key_goes_upstream_and_the_customers_does_not(
    alice: Customer, upstream: Upstream
) -> None:
    alice.chat(stream=True)
    [call] = upstream.calls
    assert call.headers["authorization"] == f"Bearer {SIMULATED_KEY}"
    assert alice.raw_key not in f"{call.headers} {call.body!r}"


# --- What is answered -----------------------------------------------------------------------------


def test_a_whole_answer_is_passed_on_and_billed(alice: Customer, upstream: Upstream) -> None:
    answer_whole(upstream)
    response = alice.chat()
    assert response.json()["choices"][0]["message"]["content"] == "Hello"
    assert alice.spent_of_plan() == alice.listed_cost(IN_PLAN, 9, 3)


def test_bytes_that_drip_are_put_together(alice: Customer, upstream: Upstream) -> None:
    dripped = [bytes([byte]) for piece in HELLO for byte in piece]
    upstream.answer = Answer(pieces=[*dripped])
    response = alice.chat(stream=True)
    assert response.text.count('"content":"') == 3  # the first is empty
    assert alice.spent_of_plan() == alice.listed_cost(IN_PLAN, 9, 3)


@pytest.mark.parametrize("stream", [True, False])
def test_a_line_of_ten_megabytes_is_no_answer(
    alice: Customer, upstream: Upstream, stream: bool
) -> None:
    upstream.answer = Answer([b"data: " + b"a" * 10_000_000, *HELLO])
    refusal(alice.chat(stream=stream), 502, "upstream_error")
    alice.assert_nothing_billed()


def test_a_line_of_ten_megabytes_ends_a_stream_that_had_begun(
    alice: Customer, upstream: Upstream
) -> None:
    upstream.answer = Answer([HELLO[0], 0.05, b"data: " + b"a" * 10_000_000, *HELLO])
    response = alice.chat(stream=True)
    assert response.text.endswith("data: [DONE]\n\n")
    assert '"code":"upstream_error"' in response.text
    charge = alice.charge()
    assert (charge.status, charge.tokens_out) == ("settled", 1)


NONSENSE = {
    "nothing": Answer([]),
    "only the end": Answer([chunks.DONE]),
    "noise": Answer([b"\x00\xff" * 500]),
    "a page": Answer([b"<html>Welcome</html>"], content_type="text/html"),
    "an empty object": Answer([b"{}"], content_type=JSON),
    "an array": Answer([b"[]"], content_type=JSON),
    "no choices": Answer([b'{"choices":[]}'], content_type=JSON),
    "a number": Answer([b'{"choices":[{"message":{"content":5}}]}'], content_type=JSON),
    "depth": Answer([b"[" * 50_000], content_type=JSON),
    "a broken connection": Answer(ending="broken"),
    "a broken gateway": Answer([b"Bad gateway"], status=502, content_type="text/html"),
    "a redirect": Answer([b"Moved"], status=302, headers={"Location": "http://127.0.0.1:1/"}),
    "no content": Answer(status=204),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_the_providers_failure_and_costs_nothing(
    alice: Customer, upstream: Upstream, answer: Answer, stream: bool
) -> None:
    upstream.answer = answer
    refusal(alice.chat(stream=stream), 502, "upstream_error")
    alice.assert_nothing_billed()


def test_a_finish_without_output_or_usage_is_no_answer(alice: Customer, upstream: Upstream) -> None:
    upstream.answer = Answer([chunks.text(""), chunks.finish(), chunks.DONE])
    refusal(alice.chat(stream=True), 502, "upstream_error")
    alice.assert_nothing_billed()


@pytest.mark.parametrize(
    ("message", "code", "expected"),
    [
        ("Your prompt violates the policy.", "content_policy_violation", "content_blocked"),
        ("Too many tokens.", "context_length_exceeded", "input_too_long"),
    ],
)
def test_a_refusal_that_the_customer_can_mend_is_passed_on(
    alice: Customer, upstream: Upstream, message: str, code: str, expected: str
) -> None:
    error = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    upstream.answer = Answer([json.dumps(error).encode()], status=400, content_type=JSON)
    error = refusal(alice.chat(stream=True), 400, expected)
    assert message in error["message"] or expected == "input_too_long"
    alice.assert_nothing_billed()


def test_our_key_is_never_told(alice: Customer, upstream: Upstream) -> None:
    error = {"error": {"message": "Incorrect API key: sk-the-platforms-own", "code": "x"}}
    upstream.answer = Answer([json.dumps(error).encode()], status=400, content_type=JSON)
    response = alice.chat(stream=True)
    refusal(response, 502, "upstream_error")
    assert "sk-the" not in response.text


@pytest.mark.parametrize("stream", [True, False])
def test_characters_that_are_none_are_replaced(
    alice: Customer, upstream: Upstream, stream: bool
) -> None:
    said = rb"A\u0000B\ud800C"
    if stream:
        piece = chunks.text("HERE").replace(b"HERE", said)
        upstream.answer = Answer([piece, *HELLO[2:]])
    else:
        body = json.dumps(WHOLE).encode().replace(b"Hello", said)
        upstream.answer = Answer([body], content_type=JSON)
    response = alice.chat(stream=stream)
    assert response.status_code == 200
    assert '"content":"AB\ufffdC"' in response.text


def test_a_character_in_two_deltas_is_one_character_of_the_stream(
    alice: Customer, upstream: Upstream
) -> None:
    halves = [chunks.text("\ud83c"), chunks.text("\udf89")]
    upstream.answer = Answer([HELLO[0], *halves, *HELLO[2:]])
    response = alice.chat(stream=True)
    assert '"content":"🎉"' in response.text
    assert "\ufffd" not in response.text


@pytest.mark.parametrize("stream", [True, False])
def test_a_provider_that_ignores_the_bound_does_not_raise_the_bill(
    alice: Customer, upstream: Upstream, stream: bool
) -> None:
    claimed = chunks.usage(prompt=9, completion=10**9)
    if stream:
        upstream.answer = Answer([*HELLO[:2], chunks.finish(usage=claimed), chunks.DONE])
    else:
        answer_whole(upstream, usage=claimed)
    response = alice.chat(stream=stream, max_tokens=10)
    assert response.status_code == 200
    assert '"completion_tokens":10,' in response.text
    assert alice.spent_of_plan() == alice.listed_cost(IN_PLAN, 9, 10)


def test_words_beyond_the_bound_do_not_raise_the_bill(alice: Customer, upstream: Upstream) -> None:
    upstream.answer = Answer([*[chunks.text("word ")] * 20, chunks.finish(), chunks.DONE])
    assert '"completion_tokens":10,' in alice.chat(stream=True, max_tokens=10).text
    assert alice.charge().tokens_out == 10


def test_more_input_than_the_prompt_has_bytes_is_not_billed(
    alice: Customer, upstream: Upstream
) -> None:
    usage = {"prompt_tokens": 2 * 10**9, "completion_tokens": 2}
    upstream.answer = Answer([*HELLO[:2], chunks.finish(usage=usage), chunks.DONE])
    assert alice.chat(stream=True).status_code == 200
    charge = alice.charge()
    assert charge.status == "settled"
    assert charge.tokens_in < 200
    assert charge.cost <= charge.worst_cost


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": 3 * 10**9, "completion_tokens": 3},
        {"prompt_tokens": "9"},
        [],
        5,
        "none",
    ],
    ids=json.dumps,
)
def test_usage_that_makes_no_sense_is_counted_here(
    alice: Customer, upstream: Upstream, usage: object
) -> None:
    upstream.answer = Answer([*HELLO[:2], chunks.finish(usage=usage), chunks.DONE])
    assert alice.chat(stream=True).status_code == 200
    assert alice.charge().tokens_out == 2


def test_an_answer_that_is_whole_but_long_in_ending_is_not_waited_for(
    alice: Customer, upstream: Upstream
) -> None:
    upstream.answer = Answer([*HELLO], ending="hanging")
    response = alice.chat(stream=True)
    assert response.elapsed.total_seconds() < 5
    assert alice.spent_of_plan() == alice.listed_cost(IN_PLAN, 9, 3)
